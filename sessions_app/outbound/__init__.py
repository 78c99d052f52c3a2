"""Requests to addresses that a host, a model or a redirect chose."""
