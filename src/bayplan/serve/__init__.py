"""The HTTP service: decisions as jobs, durable admission, metrics and a page, on one port."""
