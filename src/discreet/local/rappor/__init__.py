"""RAPPOR: texts through Bloom filters, with permanent noise below and fresh noise above."""

from discreet.local.rappor.client import RapporClient
from discreet.local.rappor.decoding import Correction, RapporEstimates, decode
from discreet.local.rappor.discovery import Discovery, DiscoveryClient, discover
from discreet.local.rappor.mechanism import Rappor

__all__ = [
    "Correction",
    "Discovery",
    "DiscoveryClient",
    "Rappor",
    "RapporClient",
    "RapporEstimates",
    "decode",
    "discover",
]
