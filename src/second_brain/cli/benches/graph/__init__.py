"""How right the links are that remember makes by itself, and whether following them helps."""
