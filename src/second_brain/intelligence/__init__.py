"""What a language model can do for a memory, and what rules do where there is none."""
