"""What needs Spark: sessions, Spark SQL, execution, what executors read and write."""
