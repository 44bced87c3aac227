"""Local privacy: people per CPU-second on both sides, and errors, next to NumPy and peers."""

from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.environments import NUMPY, Peer, PeerError, lines_from_peer
from benchmarks.local_cases import (
    EPSILON,
    SURVEYS,
    Count,
    Half,
    Measured,
    Report,
    Survey,
    measure,
    measured_from,
)
from benchmarks.local_numpy import way
from benchmarks.report import Figure, Say, Table, Target, power, short
from benchmarks.report import Report as Findings
from discreet.local import (
    Client,
    FrequencyOracle,
    HadamardResponse,
    KaryResponse,
    LocalHashing,
    Server,
    SubsetSelection,
    UnaryEncoding,
)

MAKERS: dict[str, Callable[..., FrequencyOracle]] = {
    "k-ary": KaryResponse,
    "SUE": UnaryEncoding.symmetric,
    "OUE": UnaryEncoding.optimized,
    "subset": SubsetSelection,
    "OLH": LocalHashing,
    "Hadamard": HadamardResponse,
}
PURE_LDP = Peer(
    name="pure-ldp",
    requirement="pure-ldp==1.2.0",
    module="benchmarks.peers.pure_ldp",
    besides=(NUMPY, "scikit-learn", "statsmodels", "xxhash<3.5"),
)
MULTI_FREQ_LDPY = Peer(
    name="multi-freq-ldpy",
    requirement="multi-freq-ldpy==0.2.5",
    module="benchmarks.peers.multi_freq_ldpy",
    besides=(NUMPY, "xxhash<3.5"),
)
FEWEST = min(each.people for each in SURVEYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One way of doing things, measured on some surveys; `trouble` says why there are fewer."""

    name: str
    found: dict[Survey, Measured] = field(default_factory=dict)
    trouble: str | None = None


def run(say: Say) -> Findings:
    """Measure ourselves and NumPy in turns, then the peers."""
    ours, numpys = Column(name="discreet"), Column(name="NumPy")
    for survey in SURVEYS:
        say(f"{survey.protocol}, k = {power(survey.categories)}, n = {power(survey.people)}")
        _add(ours, survey, _own_way(survey))
        _add(numpys, survey, way(survey.protocol, survey.categories))
    columns = [ours, numpys, *(_peer_column(peer, say) for peer in (PURE_LDP, MULTI_FREQ_LDPY))]
    return Findings(
        name="local",
        tables=[
            _speeds("Clients: people per CPU-second", _client, columns),
            _speeds("Servers: people per CPU-second", _server, columns),
            _errors(columns),
        ],
        targets=_targets(ours.found),
    )


def _add(column: Column, survey: Survey, halves: tuple[Report, Count]) -> None:
    """Measure a survey, unless one of fewer people was already too slow to be timed whole."""
    fewer = _found(survey, column)
    if fewer is None or not _is_cut(fewer):
        column.found[survey] = measure(survey, *halves)


def _own_way(survey: Survey) -> tuple[Report, Count]:
    mechanism = MAKERS[survey.protocol](epsilon=EPSILON, categories=survey.categories)

    def count(reports: object, _: int) -> object:
        server = Server(mechanism)
        server.add(reports)  # type: ignore[arg-type]  # what report_many returned
        return server.estimate().counts

    return Client(mechanism).report_many, count  # type: ignore[return-value]


def _peer_column(peer: Peer, say: Say) -> Column:
    say(f"{peer.name}: its environment")
    found: dict[Survey, Measured] = {}
    try:
        for line in lines_from_peer(peer):
            measured = measured_from(line)
            found[measured.survey] = measured
            say(f"{peer.name}: {measured.survey.protocol}")
    except PeerError as trouble:
        return Column(name=peer.name, found=found, trouble=str(trouble))
    return Column(name=peer.name, found=found)


# --------------------------------------------------------------------------- showing


def _speeds(title: str, half: Callable[[Measured], Half], columns: list[Column]) -> Table:
    def figure(survey: Survey, column: Column) -> str | Figure:
        found, ours = _found(survey, column), _found(survey, columns[0])
        if found is None or ours is None:
            return "see below" if column.trouble else "–"
        theirs, own = half(found), half(ours)
        ratio = theirs.each / theirs.yardstick / (own.each / own.yardstick)
        return Figure(1 / theirs.each, None if found is ours else ratio)

    return _table(
        title, figure, columns, ("(r×): discreet is r times as fast.", _sizes(half, columns))
    )


def _errors(columns: list[Column]) -> Table:
    def figure(survey: Survey, column: Column) -> str | Figure:
        found = _found(survey, column)
        return "–" if found is None else Figure(found.error)

    notes = (
        "1 is what the theorem says, over all values; randomness changes it by some percent. "
        "Below 1: multi-freq-ldpy states non-negative shares only, which are biased.",
    )
    return _table("Mean squared error over theory", figure, columns, notes)


def _found(survey: Survey, column: Column) -> Measured | None:
    """Return the measurement, of peers that of the fewest people: one at a time is no slower."""
    fewest = Survey(survey.protocol, survey.categories, FEWEST)
    return column.found.get(survey) or column.found.get(fewest)


def _table(
    title: str,
    figure: Callable[[Survey, Column], str | Figure],
    columns: list[Column],
    notes: tuple[str, ...],
) -> Table:
    return Table(
        title=f"{title}, epsilon = {short(EPSILON, 1)}",
        columns=("mechanism", "k", "n", *(column.name for column in columns)),
        rows=[
            (
                each.protocol,
                power(each.categories),
                power(each.people),
                *(figure(each, column) for column in columns),
            )
            for each in SURVEYS
        ],
        notes=[*notes, *(column.trouble for column in columns if column.trouble)],
    )


def _sizes(half: Callable[[Measured], Half], columns: list[Column]) -> str:
    fewest = (
        f"{column.name} {power(min(half(each).people for each in column.found.values()))}"
        for column in columns
        if column.found
    )
    return (
        "What would take over a second was timed with fewer people, and once for both n; "
        f"at the least with: {', '.join(fewest)}."
    )


def _is_cut(measured: Measured) -> bool:
    return min(measured.client.people, measured.server.people) < measured.survey.people


def _client(measured: Measured) -> Half:
    return measured.client


def _server(measured: Measured) -> Half:
    return measured.server


def _targets(ours: dict[Survey, Measured]) -> list[Target]:
    def target(
        sentence: str, half: Callable[[Measured], Half], protocol: str, least: float
    ) -> Target:
        speeds = [
            1 / half(each).each
            for survey, each in ours.items()
            if survey.protocol == protocol and survey.categories == 100
        ]
        return Target(sentence=sentence, measured=min(speeds), unit="/s", least=least)

    return [
        target("k-ary reports, k = 100, slower of n", _client, "k-ary", 5e7),
        target("OUE reports, k = 100, slower of n", _client, "OUE", 2e6),
        target("OLH people decoded, k = 100, slower of n", _server, "OLH", 1e6),
        target("Hadamard people decoded, k = 100, slower of n", _server, "Hadamard", 1e8),
    ]
