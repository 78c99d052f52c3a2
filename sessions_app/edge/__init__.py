"""Where requests come in: REST, and the live streams."""
