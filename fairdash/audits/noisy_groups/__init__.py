"""What is certain of true groups that are known only through noisy ones."""
