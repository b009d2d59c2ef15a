"""One operator per file: its node, its batch meaning, its delta rule."""
