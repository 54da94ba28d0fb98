"""Objects of a Kubernetes cluster -> snapshots and observations of the model."""
