"""What is done to publish a version."""
