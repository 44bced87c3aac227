"""A client of a server: the same `ask`, `explain`, `remaining` and `catalog` as a local curator.

| file | holds |
|---|---|
| `calls.py` | every call as steps that know nothing of sockets, so that both clients share them |
| `remote.py` | `connect`: a client that waits |
| `series.py` | series on a server, for both clients |
| `awaited.py` | `connect_async`: the same for asyncio |
| `credentials.py` | where `discreet login` keeps tokens |
| `oidc.py` | signing in at an OpenID provider, and renewing its tokens |
"""

from discreet.client.awaited import AsyncRemote, connect_async
from discreet.client.calls import ServerError
from discreet.client.remote import Remote, connect

__all__ = ["AsyncRemote", "Remote", "ServerError", "connect", "connect_async"]
