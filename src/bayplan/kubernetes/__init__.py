"""The Kubernetes adapter: what runs where is collected from an API server, and plans are carried out under its guards."""
