"""Our own trial, quick: nothing of ours is accused, everything broken is caught (R1, R2, R12)."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from multiprocessing import active_children
from signal import SIG_IGN, SIGINT, getsignal

import pytest

import discreet.local
import discreet.mechanisms
import discreet.streams
from discreet.audit import (
    Subject,
    SubjectKind,
    audit,
    broken_mechanisms,
    claims,
    local_claims,
    stream_claims,
)
from discreet.audit.trial import LONGER, findings, trial
from discreet.mechanisms.quantile_interval import ExtremeInterval, QuantileInterval
from discreet.streams import StreamMechanism

PART = 2
"""At a push subjects are run half as often as in a quick audit."""


@pytest.mark.parametrize(
    "subject",
    [*claims.subjects(), *local_claims.subjects(), *stream_claims.subjects()],
    ids=lambda each: each.name,
)
def test_nothing_of_ours_is_accused(subject: Subject) -> None:
    """A fresh seed cries wolf once in 10^8 for each subject, so once in 10^6 in all."""
    found = audit(subject, runs=subject.runs // PART)
    assert not found.is_violated, str(found)


@pytest.mark.parametrize(
    "twin",
    [*broken_mechanisms.broken_mechanisms(), *stream_claims.broken_subjects()],
    ids=lambda each: each.name,
)
def test_everything_broken_is_caught(twin: Subject) -> None:
    found = audit(twin)
    assert found.is_violated, str(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject",
    [each for each in trial(quick=False) if each.kind is not SubjectKind.QUESTION],
    ids=lambda each: each.name,
)
def test_the_long_trial_says_the_same(subject: Subject) -> None:
    """A fresh seed cries wolf once in 10^8 for each subject, so about twice in 10^6 in all.

    Questions have a long run of their own.
    """
    found = audit(subject)
    assert found.is_right, str(found)


def test_every_mechanism_has_a_subject() -> None:
    """What is public in `discreet.mechanisms` and releases something is on trial.

    So are quantiles and extremes with an interval, which only queries use.
    """
    public = (getattr(discreet.mechanisms, name) for name in discreet.mechanisms.__all__)
    releasing = {each for each in public if inspect.isclass(each) and hasattr(each, "release")}
    of_queries = {QuantileInterval, ExtremeInterval}
    assert releasing | of_queries == {type(case.mechanism) for case in claims.cases()}


def test_every_mechanism_for_streams_has_a_subject() -> None:
    public = (getattr(discreet.streams, name) for name in discreet.streams.__all__)
    releasing = {each for each in public if inspect.isclass(each) and hasattr(each, "release")}
    assert releasing == {type(case.mechanism) for case in stream_claims.cases()} | {StreamMechanism}


def test_every_local_randomiser_has_a_subject() -> None:
    """What is stored under a tag makes reports, wherever in `discreet.local` it is."""
    assert set(_tagged()) == {type(case.mechanism) for case in local_claims.cases()}


def _tagged() -> Iterator[type]:
    for info in pkgutil.walk_packages(discreet.local.__path__, "discreet.local."):
        for thing in vars(importlib.import_module(info.name)).values():
            is_ours = inspect.isclass(thing) and thing.__module__.startswith("discreet.local")
            if is_ours and isinstance(getattr(thing, "tag", None), str):
                yield thing


def test_subjects_are_told_apart_by_their_names() -> None:
    names = [each.name for each in trial(quick=True)]
    assert len(set(names)) == len(names)


def test_a_long_trial_has_more_runs_and_a_clock() -> None:
    quick = {each.name: each.runs for each in trial(quick=True)}
    long = {each.name: each.runs for each in trial(quick=False)}
    assert all(long[name] == LONGER * runs for name, runs in quick.items())
    assert all("with its time" in name for name in long.keys() - quick.keys())


def test_what_was_found_comes_in_the_order_of_the_subjects() -> None:
    subjects = [each for each in trial(quick=True) if each.name.startswith("RandomizedResponse")]
    told: list[tuple[str, int, int]] = []
    found = findings(subjects[:3], quick=True, tell=lambda *each: told.append(each))
    assert [each.name for each in found] == [each.name for each in subjects[:3]]
    assert [(done, of) for _, done, of in told] == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.system_entropy
def test_many_subjects_are_shared_among_processes() -> None:
    subjects = [each for each in trial(quick=True) if each.name.startswith("PartitionSelection")]
    subjects += [each for each in trial(quick=True) if each.name.startswith("Geometric")]
    found = findings(subjects, quick=True)
    assert [each.name for each in found] == [each.name for each in subjects]
    assert not any(each.is_violated for each in found)


@pytest.mark.system_entropy
def test_who_stops_a_trial_ends_its_processes() -> None:
    subjects = [each for each in trial(quick=True) if each.name.startswith("Geometric")]
    before = active_children()

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        findings(subjects * 2, quick=True, tell=stop)
    started = [each for each in active_children() if each not in before]
    for each in started:
        each.join(30)
    assert not any(each.is_alive() for each in started)
    assert getsignal(SIGINT) is not SIG_IGN
