"""One operator per file, with all that is known about it; `table` lists them all."""
