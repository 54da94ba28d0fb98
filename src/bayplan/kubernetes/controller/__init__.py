"""What surrounds the loop in a cluster: the lease, holds and events on objects, metrics, health, logs, an orderly end."""
