"""Users of one server: a home folder each."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

USERS = "users"  # folder of the home folders of users, where there is a login
_ID = re.compile(r"[\da-f]{16}", re.ASCII)


@dataclass(frozen=True)
class User:
    """A user who is logged in.

    Attributes
    ----------
    id : str
        Of the folder, from issuer and subject: an address may be given away, these
        two are not.
    name : str
        Electronic mail address where the provider says one.
    mail : str
        The address where the provider says that it is verified: what rights go by.
    """

    id: str
    name: str
    mail: str = ""

    @classmethod
    def of(cls, claims: Mapping[str, Any]) -> "User":
        """Return the user whom a provider names by the claims of an identity token.

        An address counts where ``email_verified`` is true, or the text "true", as some
        providers send it. Nothing else is a yes, nor is its absence: at some providers
        users write what they like as their address.

        Raises ValueError when the claims name nobody.
        """
        subject = claims.get("sub") or claims.get("email")
        if not subject:
            raise ValueError("The login says neither a subject nor an address.")
        named = f"{claims.get('iss', '')}\n{subject}"
        folder = sha256(named.encode()).hexdigest()[:16]  # as `_ID` says
        mail = str(claims.get("email") or "").lower()
        verified = claims.get("email_verified")
        if verified is not True and verified != "true":
            mail = ""
        return cls(folder, mail or str(claims.get("name") or subject), mail)

    def home(self, root: Path) -> Path:
        """Return the user's home folder, inside that of the server."""
        return root / USERS / self.id


def server_of(home: Path) -> Path:
    """Return the home folder of the server whose user a home is of, else the home.

    >>> server_of(Path("/srv/fair/users/0123456789abcdef"))
    PosixPath('/srv/fair')
    >>> server_of(Path("/srv/users/ann"))  # a folder that somebody chose
    PosixPath('/srv/users/ann')
    """
    is_users = home.parent.name == USERS and _ID.fullmatch(home.name)
    return home.parent.parent if is_users else home
