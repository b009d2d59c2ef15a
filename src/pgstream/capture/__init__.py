"""Change buffers: their names, what is new in one, how it is filled and emptied."""
