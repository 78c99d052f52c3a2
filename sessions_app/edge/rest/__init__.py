"""The REST endpoints."""
