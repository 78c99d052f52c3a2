"""Pure facts and rules: no I/O, no framework, nothing to import but the library."""
