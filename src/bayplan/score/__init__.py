"""What is good and what is valid."""
