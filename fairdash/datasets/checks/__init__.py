"""What is wrong, doubtful or worth knowing about a table and its roles."""
