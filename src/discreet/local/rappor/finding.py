"""The server's half of discovery: from n-grams that stand out to texts that are tested."""

from dataclasses import replace
from itertools import product

import numpy as np

from discreet.local.heavy import END
from discreet.local.rappor.decoding import RapporEstimates, decode
from discreet.local.rappor.discovery import Discovery
from discreet.local.rappor.mechanism import TEXTS_MOST, Rappor
from discreet.local.tallies import Tally
from discreet.parameters import Real, whole


def discover(
    tally: Tally[Discovery], *, level: Real = 0.05, candidates: int = 2_000
) -> RapporEstimates | None:
    """Return the texts that n-grams lead to, tested among whole texts; None if they lead nowhere.

    Counts are among the people of the last group, about one in `groups` of all. The more n-grams
    stand out, the more candidates there are; the least frequent n-grams are left out beyond
    `candidates`.
    """
    mechanism = tally.mechanism
    most = whole("candidates", candidates, least=1, most=TEXTS_MOST)
    letters = mechanism.alphabet + END
    grams = ["".join(each) for each in product(letters, repeat=mechanism.size)]
    grams = [each for each in grams if END not in each.rstrip(END)]
    paths: dict[str, float] = {"": 0.0}
    for group in range(mechanism.groups - 1):
        found = _standing_out(_group(tally, group), grams, level)
        paths = _joined(paths, found, mechanism.size - 1, most)
    texts = [each for each in paths if END not in each.rstrip(END)]
    if not texts:
        return None
    tested = decode(_group(tally, mechanism.groups - 1), texts, level=level)
    return replace(tested, texts=tuple(each.rstrip(END) for each in tested.texts))


def _group(tally: Tally[Discovery], group: int) -> Tally[Rappor]:
    rappor = tally.mechanism.rappor
    part = Tally(rappor)
    part.cells += tally.cells[group * rappor.cells : (group + 1) * rappor.cells]
    part.people = int(part.cells[-rappor.cohorts :].sum())
    return part


def _standing_out(part: Tally[Rappor], grams: list[str], level: Real) -> dict[str, float]:
    if not part.people:
        return {}
    found = decode(part, grams, level=level)
    return {found.texts[i]: float(found.counts[i]) for i in np.flatnonzero(found.selected)}


def _joined(
    paths: dict[str, float], grams: dict[str, float], overlap: int, most: int
) -> dict[str, float]:
    """Return the paths continued by each n-gram that overlaps, the most frequent ones first."""
    joined = {}
    for path, weakest in paths.items():
        for gram, count in grams.items():
            if not path:
                joined[gram] = count
            elif path.endswith(gram[:overlap]):
                joined[path + gram[overlap:]] = min(weakest, count)
    return dict(sorted(joined.items(), key=lambda each: -each[1])[:most])
