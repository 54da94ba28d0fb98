"""`/v1/session`: the page exchanges a token for a cookie that its scripts cannot read."""

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from bayplan.serve.access.tokens import COOKIE, Identity, Tokens
from bayplan.serve.problems import ALWAYS, problem_responses, refusal
from bayplan.serve.service import Service


class TokenGiven(BaseModel):
    """The token of a person who opens the page."""

    token: str = Field(max_length=1000, examples=["a token of this server"])


class SessionShown(BaseModel):
    """What the one that asks may do."""

    role: str = Field(description="operator, reader; empty: a token is needed", examples=["operator"])
    needs_token: bool = Field(description="Does this server know tokens at all?")


def router(service: Service, tokens: Tokens) -> APIRouter:
    """Begin, look at and end a session."""
    routes = APIRouter(prefix="/v1", tags=["session"], responses=problem_responses(*ALWAYS))

    @routes.get("/session", summary="What may the one that asks do?")
    async def look(request: Request) -> SessionShown:
        return _shown(request.scope.get("bayplan.identity"), tokens)

    @routes.post("/session", summary="Begin a session with a token.", responses=problem_responses(413, 415, 422))
    async def begin(given: TokenGiven, response: Response) -> SessionShown:
        identity = tokens.of_token(given.token)
        if identity is None:
            raise refusal("E2703", "session", "", "this is no token of this server")
        secure = service.settings.certificate is not None
        seconds = int(service.settings.ages.session)
        cookie = tokens.begin_session(identity)
        response.set_cookie(COOKIE, cookie, max_age=seconds, httponly=True, samesite="strict", secure=secure, path="/")
        return _shown(identity, tokens)

    @routes.delete("/session", summary="End the session.", status_code=204)
    async def end(request: Request, response: Response) -> None:
        tokens.end_session(request.cookies.get(COOKIE, ""))
        response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")

    return routes


def _shown(identity: Identity | None, tokens: Tokens) -> SessionShown:
    return SessionShown(role="" if identity is None else str(identity.role), needs_token=not tokens.is_open)
