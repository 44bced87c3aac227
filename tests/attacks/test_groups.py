"""Families and names of groups: what is told of several people, and of one who is alone."""

from fractions import Fraction

import pyarrow as pa

from discreet.attacks.defences import Discreet, FreshLaplace, Raw, Rounded, Suppressed
from discreet.attacks.membership import SIZES, groups
from discreet.attacks.side_channels import ANSWERED, LISTED, keys, words_of
from discreet.attacks.targets import protected_by
from discreet.attacks.trials import bare_people
from tests.attacks.verdicts import achieves, breaks_its_promise, is_certain, refutes

FORGETFUL = FreshLaplace(each=4, epsilon=0.1)
"""Promises 0.1 in all, and spends 4 on whatever is asked."""


def test_exact_counts_tell_of_families_of_any_size() -> None:
    assert all(map(is_certain, groups(Raw(), trials=10).steps))


def test_the_larger_a_family_the_less_epsilon_hides_it() -> None:
    """Each size stays below e^(k epsilon) / (1 + e^(k epsilon)); of 16 people, 0.7 is achieved."""
    outcome = groups(Discreet(epsilon=0.5, each=Fraction(1, 10)), queries=len(SIZES), trials=36)
    limits = [step.allowed for step in outcome.steps]
    assert limits == sorted(limits, key=lambda each: each or 0)
    assert not breaks_its_promise(outcome)
    assert achieves(outcome.last, 0.7)
    assert outcome.steps[0].success < outcome.last.success


def test_a_family_is_told_where_a_promise_is_not_kept() -> None:
    assert breaks_its_promise(groups(FORGETFUL, trials=40))


def test_names_of_groups_tell_who_is_alone() -> None:
    assert is_certain(keys(Raw(), queries=1, trials=20).last)


def test_small_counts_left_out_are_told_at_the_threshold() -> None:
    for defence in (Suppressed(), Rounded()):
        outcome = keys(defence, queries=2, trials=20)
        assert not refutes(outcome.steps[0], 0.5)
        assert is_certain(outcome.last)


def test_against_discreet_names_tell_no_more_than_epsilon_and_delta_allow() -> None:
    defence = Discreet(epsilon=0.3, each=Fraction(1, 10), delta=Fraction(1, 10**6))
    assert not breaks_its_promise(keys(defence, queries=3, trials=30))


def test_names_are_not_listed_without_delta() -> None:
    with protected_by(Discreet(), bare_people("village", pa.array(["Ashby"]))) as target:
        assert words_of(target, LISTED) != ANSWERED


def test_names_are_told_where_a_promise_is_not_kept() -> None:
    assert breaks_its_promise(keys(FORGETFUL, trials=40))
