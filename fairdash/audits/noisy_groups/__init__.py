"""Certificates about true groups that are known only through noisy ones."""
