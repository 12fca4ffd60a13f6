"""Networks that treat people who are alike under a fair metric alike."""
