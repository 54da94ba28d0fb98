"""One Kubernetes cluster under its scheduler alone, under the descheduler and under bayplan, on a real control plane."""
