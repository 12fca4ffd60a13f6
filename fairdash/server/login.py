"""The login that an operator sets up by ``[auth]`` of the secrets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Self
from urllib.parse import urlsplit

import streamlit
from streamlit.auth_util import (
    generate_default_provider_section,
    is_authlib_installed,
    validate_auth_credentials,
)
from streamlit.errors import StreamlitAuthError

NAME = "default"  # of the one provider, as Streamlit calls it


@dataclass(frozen=True)
class Login:
    """A login by OpenID Connect.

    Attributes
    ----------
    origin : str
        Of the pages: scheme and host of ``redirect_uri``.
    secret : str
        Signs cookies. With another one all sessions end.
    redirect_uri : str
        To which the provider sends a browser back.
    client : mapping of str to object
        What the provider knows fairdash by: ``client_id``, ``client_secret``,
        ``server_metadata_url`` and, if set, ``client_kwargs``.
    """

    origin: str
    secret: str = field(repr=False)
    redirect_uri: str = ""
    client: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def find(cls, port: int) -> Self | None:
        """Return the login, None where there is none; ValueError if it cannot work."""
        secrets = streamlit.secrets
        if not secrets.load_if_toml_exists() or "auth" not in secrets:
            return None
        if not is_authlib_installed() or not find_spec("httpx2"):
            raise ValueError('A login needs Authlib: `pip install "fairdash[login]"`.')
        try:
            validate_auth_credentials(NAME)
        except StreamlitAuthError as error:
            raise ValueError(f"The login cannot work: {error}") from error
        auth = secrets["auth"]
        back = str(auth["redirect_uri"]).replace("{port}", str(port))
        page = urlsplit(back)
        client = auth.get(NAME) or generate_default_provider_section(auth)
        return cls(
            f"{page.scheme}://{page.netloc}",
            str(auth["cookie_secret"]),
            back,
            {name: client[name] for name in client},
        )
