"""The running system: the port to an orchestrator, the loop and its stages, the record, and a simulated orchestrator."""
