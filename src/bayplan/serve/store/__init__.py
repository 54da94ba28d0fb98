"""The store of the service: one schema for SQLite and PostgreSQL."""
