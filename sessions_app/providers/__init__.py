"""Adapters: one folder an API family, each a few pure maps around one call."""
