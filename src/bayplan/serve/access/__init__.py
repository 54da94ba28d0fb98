"""What may reach the service: tokens, sessions, limits, security headers and the log of requests."""

from bayplan.serve.access.control import AccessControl
from bayplan.serve.access.tokens import Role, Tokens

__all__ = ["AccessControl", "Role", "Tokens"]
