"""Reading SQL: parsing, places in the text, and the ordered passes over the syntax tree."""
