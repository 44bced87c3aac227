"""Who is asked: plain SQL, discreet in its forms, and peers."""

import sys
from dataclasses import dataclass

from benchmarks.environments import Peer, python_of
from benchmarks.workloads.ours import COPY, PER_QUERY, PREPARED, RAW, RAW_FILE


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One way to answer, and the plain SQL that it is compared with."""

    name: str
    baseline: str = "plain SQL"
    way: str | None = None
    module: str = "benchmarks.workloads.ours"
    peer: Peer | None = None

    def command(self) -> list[str]:
        """Return what starts a child; makes a peer's environment, or raises PeerError."""
        if self.peer is not None:
            return [str(python_of(self.peer)), "-m", self.peer.module]
        return [sys.executable, "-m", self.module, str(self.way)]


RAW_IN_MEMORY = System(name="plain SQL", way=RAW)
RAW_IN_FILE = System(name="plain SQL, file", way=RAW_FILE, baseline="plain SQL, file")
OURS = System(name="discreet", way=PREPARED)
OURS_PER_QUERY = System(name="discreet, per-query", way=PER_QUERY)
OURS_COPY = System(name="discreet, copy", way=COPY, baseline="plain SQL, file")

MEMORY = (RAW_IN_MEMORY, OURS, OURS_PER_QUERY)
FILES = (RAW_IN_FILE, OURS_COPY)

FRAMES = ("pandas==3.1.1", "pyarrow==26.0.1")

PEERS = tuple(
    System(
        name=name,
        peer=Peer(
            name=name,
            requirement=requirement,
            module=f"benchmarks.peers.{module}",
            besides=besides,
        ),
    )
    for name, requirement, module, besides in (
        ("OpenDP", "opendp[polars]==0.16.0", "peer_opendp", ()),
        ("Qrlew", "pyqrlew==0.9.27", "peer_qrlew", ("duckdb==2.0.0", "sqlalchemy==2.1.8")),
        ("SmartNoise SQL", "smartnoise-sql==1.0.10", "peer_smartnoise", ("pyarrow==26.0.1",)),
        ("PipelineDP", "pipeline-dp==0.3.1", "peer_pipelinedp", FRAMES),
        ("Tumult", "tmlt.analytics==0.21.0", "peer_tumult", ()),
    )
)
