"""TPC-H: its tables, its 22 queries with the validation parameters, and changes of its rows."""
