"""A file of any kind as a table, or what is wrong with it."""
