"""What a server adds to a home folder: Postgres, an object store, users."""
