"""Who is alike, and how far they are treated apart; public is `fairdash.metrics`."""
