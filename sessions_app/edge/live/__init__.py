"""Live edges: they read the bus and never touch the engine."""
