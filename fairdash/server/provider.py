"""The provider of a login, and the three addresses by which browsers reach it.

Streamlit 1.67 has routes of its own for these. They make a client with a TLS context
for each request (50 ms of the event loop and memory that does not come back), ask the
provider for its metadata each time, and write tracebacks and a stranger's text to the
log. ``App(routes=...)`` puts ours before them, which Streamlit allows: their addresses
are not among those it reserves. The protocol stays Authlib's.
``tests/server/test_served.py`` fails when Streamlit's routes are reached again.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route
from streamlit.auth_util import build_logout_url

from fairdash.server import cookies
from fairdash.server.limits import RefusedRequest
from fairdash.server.login import NAME, Login
from fairdash.server.places import LOGINS_AT_ONCE

if TYPE_CHECKING:
    from authlib.integrations.starlette_client import StarletteOAuth2App

LOGIN = "/auth/login"
LOGOUT = "/auth/logout"
CALLBACK = "/oauth2callback"
KEEP_SECONDS = 600  # for which metadata and keys of the provider are not asked again
PATIENCE = 5  # seconds for an answer of the provider
RETRY_SECONDS = 5  # after no answer, until it is asked again
_WORDS = "The login's provider does not answer. Try again in a few seconds."
_CLIENT = {"scope": "openid email profile", "prompt": "select_account"}
_NAMES = "client_id", "client_secret", "server_metadata_url"
log = logging.getLogger("fairdash")


class Provider:
    """One client for all logins, which keeps what the provider says of itself.

    While the provider does not answer, what it said last stays in use, and who needs
    more is refused at once.
    """

    def __init__(self, login: Login) -> None:
        # loaded where there is a login, and before the event loop begins, which they
        # would stop for 100 ms; the TLS context is made here, once
        import httpx2
        from authlib.integrations.starlette_client import OAuth

        self._registry = OAuth
        self._login = login
        limits = httpx2.Limits(
            max_connections=LOGINS_AT_ONCE, max_keepalive_connections=4
        )
        self._http = httpx2.AsyncClient(timeout=PATIENCE, limits=limits)
        self._transport = _transport(self._http)
        self._client: StarletteOAuth2App | None = None
        self._asks_again = 0.0
        self._asking: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    def routes(self) -> list[Route]:
        """Return the routes that take the place of Streamlit's."""
        return [
            Route(LOGIN, self._begin),
            Route(CALLBACK, self._finish),
            Route(LOGOUT, self._leave),
        ]

    @asynccontextmanager
    async def open(self, _app: object) -> AsyncIterator[None]:
        """Keep connections to the provider for as long as the app is served."""
        try:
            yield
        finally:
            if self._asking:
                self._asking.cancel()
            await self._http.aclose()

    async def _begin(self, request: Request) -> RedirectResponse:
        client = await self._current()
        # one at a time: between two logins the event loop serves others
        async with self._turn:
            await asyncio.sleep(0)
            return await client.authorize_redirect(request, self._login.redirect_uri)

    async def _finish(self, request: Request) -> RedirectResponse:
        """Let in whom the provider sends back, or show the login again."""
        query = request.query_params
        back = RedirectResponse("/", 302)
        if "error" in query:
            words = f"{query['error']}: {query.get('error_description', '')}"
            log.warning("the provider refused a login: %.200r", words)
            return back
        if "state" not in query:  # as when a logout comes back
            return back
        client = await self._current()
        if not await client.framework.get_state_data(request.session, query["state"]):
            return back  # of a page gone back to, or of another browser
        token = await self._exchange(client, request)
        if not token:
            return back
        cookies.clear(back, request.cookies)
        facts = {"origin": self._login.origin, "is_logged_in": True, "provider": NAME}
        secret = self._login.secret
        cookies.write(back, cookies.USER, dict(token["userinfo"]) | facts, secret)
        hint = {"id_token": token["id_token"]}  # with which the provider ends a session
        cookies.write(back, cookies.TOKENS, hint, secret)
        return back

    async def _leave(self, request: Request) -> RedirectResponse:
        """Forget the user, at the provider too where it can be asked."""
        away = "/"
        secret = self._login.secret
        if cookies.are_signed(request.cookies, secret):
            try:
                client = await self._current()
            except RefusedRequest:
                pass
            else:
                hint = cookies.read(request.cookies, cookies.TOKENS, secret)
                away = _end_address(client, self._login, hint) or "/"
        answer = RedirectResponse(away, 302)
        cookies.clear(answer, request.cookies)
        return answer

    async def _exchange(
        self, client: "StarletteOAuth2App", request: Request
    ) -> dict[str, Any]:
        """Return what the provider gives for the code of a request, {} if nothing."""
        import httpx2

        try:
            async with asyncio.timeout(PATIENCE):
                token = await client.authorize_access_token(request)
            if not token.get("userinfo"):
                raise ValueError("its token names no user")
            return token
        except (httpx2.HTTPError, TimeoutError) as error:
            _warn("the login's provider failed", error)
            raise RefusedRequest(503, _WORDS, RETRY_SECONDS) from None
        except Exception as error:  # whatever an answer may hold that is no token
            _warn("a login failed", error)
            return {}

    async def _current(self) -> "StarletteOAuth2App":
        """Return the client; Refused where the provider has never answered."""
        if monotonic() >= self._asks_again and self._asking is None:
            self._asking = asyncio.create_task(self._ask())
        if self._client is None and self._asking:
            await asyncio.shield(self._asking)
        if self._client is None:
            raise RefusedRequest(503, _WORDS, RETRY_SECONDS)
        return self._client

    async def _ask(self) -> None:
        """Ask the provider for its metadata; its keys follow with the first token."""
        try:
            async with asyncio.timeout(PATIENCE):
                self._client = await self._load()
        except Exception as error:  # whatever an answer may hold that is no metadata
            _warn("the login's provider failed", error)
            self._asks_again = monotonic() + RETRY_SECONDS
        else:
            self._asks_again = monotonic() + KEEP_SECONDS
        finally:
            self._asking = None

    async def _load(self) -> "StarletteOAuth2App":
        configured = self._login.client
        kwargs = _CLIENT | dict(configured.get("client_kwargs", {}))
        kwargs["transport"] = self._transport
        names = {name: configured[name] for name in _NAMES}
        client = self._registry().register(NAME, client_kwargs=kwargs, **names)
        metadata = await client.load_server_metadata()
        for end in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            if not isinstance(metadata.get(end), str):
                raise ValueError(f"its metadata has no {end!r}")
        if "S256" in (metadata.get("code_challenge_methods_supported") or []):
            client.client_kwargs["code_challenge_method"] = "S256"
        return client


def _transport(client: Any) -> Any:
    """Return a transport over a client that stays: closing it closes nothing."""
    import httpx2

    class Shared(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: Any) -> Any:
            return await client.send(request, auth=None, stream=True)

    return Shared()


def _end_address(
    client: "StarletteOAuth2App", login: Login, tokens: Mapping[str, str]
) -> str | None:
    address = client.server_metadata.get("end_session_endpoint")
    if not isinstance(address, str):
        return None
    return build_logout_url(
        address, client.client_id, login.redirect_uri, tokens.get("id_token")
    )


def _warn(what: str, error: Exception) -> None:
    log.warning("%s: %s %.200r", what, type(error).__name__, str(error))
