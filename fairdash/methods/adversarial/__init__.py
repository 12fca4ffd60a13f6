"""Networks without a fairness term, and with an adversary that guesses the group."""
