"""Everything Spark: sessions, carriers, rendering, execution, what executors read and write."""
