"""What is asked and answered, as types, and OpenAPI made of them."""
