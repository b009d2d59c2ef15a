"""The calculus: the change of a tree, reading by key, recursion. It is pure: no Spark, no SQL."""
