"""Bytes to objects and back, with no I/O."""
