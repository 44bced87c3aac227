"""Local privacy: statistics of many people when nobody is trusted with the data.

A mechanism is a frozen value that both halves share. A `Client` turns a value into a report on the
person's own device; a `Server` counts reports and states estimates with their errors. All of it
needs NumPy and discreet.noise only.
"""

from discreet.local.base import FrequencyOracle, fingerprint, influence
from discreet.local.channels import Channel, channel
from discreet.local.choices import Candidate, Choice, choose
from discreet.local.client import Client
from discreet.local.estimates import Estimates
from discreet.local.oracles.hadamard import HadamardResponse
from discreet.local.oracles.hashing import LocalHashing
from discreet.local.oracles.kary import KaryResponse
from discreet.local.oracles.subset import SubsetSelection
from discreet.local.oracles.unary import Form, UnaryEncoding
from discreet.local.reports import Reports
from discreet.local.server import Server

__all__ = [
    "Candidate",
    "Channel",
    "Choice",
    "Client",
    "Estimates",
    "Form",
    "FrequencyOracle",
    "HadamardResponse",
    "KaryResponse",
    "LocalHashing",
    "Reports",
    "Server",
    "SubsetSelection",
    "UnaryEncoding",
    "channel",
    "choose",
    "fingerprint",
    "influence",
]
