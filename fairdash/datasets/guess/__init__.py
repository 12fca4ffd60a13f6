"""A first guess of what the columns of a table mean."""
