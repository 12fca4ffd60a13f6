"""What a table of decisions or scores says, every row counted."""
