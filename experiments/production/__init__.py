"""What two papers measured in production, beside what the performance model says."""
