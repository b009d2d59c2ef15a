"""Records of the catalog tables, and the store that reads and writes them."""
