"""The only callers of the ORM besides models and admin; plain functions."""
