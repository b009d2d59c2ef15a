"""Reading SQL: parsing, positions in the text, and the ordered passes over the syntax tree."""
