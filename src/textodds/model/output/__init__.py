"""What is asked of a model for every row of some data, and its answers as columns beside the rows."""
