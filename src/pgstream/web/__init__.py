"""What a worker tells over HTTP."""
