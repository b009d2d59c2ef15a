"""From a tree to a cheaper tree of the same rows: one rewrite per file."""
