"""Additions of a server to a home folder: Postgres, an object store, users."""
