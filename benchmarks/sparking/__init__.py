"""Programs and parts of the benchmarks on Spark."""
