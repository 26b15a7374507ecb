"""What it takes to measure a service: processes that serve, and a load on them."""
