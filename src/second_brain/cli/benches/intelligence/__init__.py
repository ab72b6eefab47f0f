"""How good classification, comparison and merging are: by rules, and by a model where one is."""
