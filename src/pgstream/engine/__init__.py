"""Everything Spark: sessions, carriers of values, rendering, execution, data sources."""
