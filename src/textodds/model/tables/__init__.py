"""Models of the columns of a table: what is counted of each kind, and what it says of a class."""
