"""How good the rules of capture are, on pairs of texts of which it is known how they relate."""
