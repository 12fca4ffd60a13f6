"""Users of one server: a home folder each."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

USERS = "users"  # folder of the home folders of users, where there is a login


@dataclass(frozen=True)
class User:
    """Who is logged in.

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
        folder = sha256(f"{claims.get('iss', '')}\n{subject}".encode()).hexdigest()[:16]
        mail = str(claims.get("email") or "").lower()
        verified = claims.get("email_verified")
        if verified is not True and verified != "true":
            mail = ""
        return cls(folder, mail or str(claims.get("name") or subject), mail)

    def home(self, root: Path) -> Path:
        """Return the user's home folder, inside that of the server."""
        return root / USERS / self.id
