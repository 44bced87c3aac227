"""Local privacy: statistics of many people when nobody is trusted with the data.

A mechanism is a frozen value that both halves share. A `Client` turns a value into a report on the
person's own device; a `Server` counts reports and states estimates with their errors. All of it
needs NumPy and discreet.noise only.
"""

from discreet.local.base import FrequencyOracle, fingerprint, influence
from discreet.local.client import Client
from discreet.local.estimates import Estimates
from discreet.local.oracles.kary import KaryResponse
from discreet.local.reports import Reports
from discreet.local.server import Server

__all__ = [
    "Client",
    "Estimates",
    "FrequencyOracle",
    "KaryResponse",
    "Reports",
    "Server",
    "fingerprint",
    "influence",
]
