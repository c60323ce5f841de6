"""Guard of a server on this machine: who may ask it, and who may make it work.

Any page that a browser shows can send requests to this machine. It cannot read the answers, unless
its name was made to lead here, and it cannot know what only an answer tells.
"""

from __future__ import annotations

import secrets

#: Nobody but this machine may look.
HOST = "127.0.0.1"

#: What a browser on this machine calls it.
NAMES = (HOST, "localhost")

#: What is told to others.
REFUSED = f"Only {' and '.join(NAMES)} are served"


def is_own_name(host: str | None) -> bool:
    """Return whether the `Host` of a request is a name that this machine has for itself.

    A name that leads here is not enough: a page of another site may have made it do so.
    """
    return (host or "").partition(":")[0] in NAMES


class Token:
    """A secret of this server, which its own pages know and nobody else."""

    def __init__(self) -> None:
        self.text = secrets.token_urlsafe(32)

    def allows(self, given: str, origin: str | None, port: int) -> bool:
        """Return whether a request may start work.

        Parameters
        ----------
        given
            The token that came with it.
        origin
            Its `Origin`, as browsers tell it: the server of the page that sent it.
        port
            Where this server listens.
        """
        origins = {f"http://{name}{end}" for name in NAMES for end in _ends(port)}
        is_ours = origin is None or origin in origins
        # In a time that says nothing of how much of it is right.
        return secrets.compare_digest(given.encode(), self.text.encode()) and is_ours


def _ends(port: int) -> tuple[str, ...]:
    """Return what may follow the name of a server in an origin."""
    return (f":{port}", "") if port == 80 else (f":{port}",)
