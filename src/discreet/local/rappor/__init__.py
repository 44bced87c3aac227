"""RAPPOR: texts through Bloom filters, with permanent noise below and fresh noise above.

What runs on devices is here; `decoding` and `finding` are the server's and need SciPy.
"""

from discreet.local.rappor.client import RapporClient
from discreet.local.rappor.discovery import Discovery, DiscoveryClient
from discreet.local.rappor.mechanism import Rappor

__all__ = ["Discovery", "DiscoveryClient", "Rappor", "RapporClient"]
