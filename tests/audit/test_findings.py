"""What a finding says, and how many of them are drawn."""

from dataclasses import replace
from pathlib import Path

from discreet.audit import Count, Finding, plot

FOUND = Finding(
    name="a count",
    epsilon=1.0,
    delta=0.0,
    measured=1.5,
    delta_measured=0.01,
    event="an output of at least 7",
    is_here=True,
    here=Count(hits=1204, runs=50_000),
    there=Count(hits=210, runs=50_000),
    runs=100_000,
    confidence=0.999,
    seconds=1.0,
)


def test_a_counterexample_is_a_sentence() -> None:
    expected = "an output of at least 7: 1,204 of 50,000 here, 210 of 50,000 there"
    assert FOUND.counterexample == expected
    assert str(FOUND) == f"a count: ε is at least 1.5 (claimed: 1). Event: {expected}."
    assert "claimed" not in str(replace(FOUND, epsilon=None))


def test_a_claim_is_refuted_by_epsilon_or_by_delta() -> None:
    kept = replace(FOUND, measured=1.0, delta_measured=0.0)
    assert FOUND.is_violated
    assert replace(kept, delta_measured=0.01).is_violated
    assert not kept.is_violated


def test_what_is_broken_on_purpose_is_right_if_it_is_caught() -> None:
    assert not FOUND.is_right
    assert replace(FOUND, is_broken=True).is_right
    assert not replace(FOUND, is_broken=True, measured=0.5, delta_measured=0.0).is_right


def test_power_is_the_part_of_the_claim_that_was_seen() -> None:
    assert FOUND.power == 1.5
    assert replace(FOUND, epsilon=0.0).power is None


def test_claims_are_drawn_against_measurements(tmp_path: Path) -> None:
    findings = [FOUND, replace(FOUND, is_broken=True), replace(FOUND, epsilon=None)]
    drawn = plot(findings)
    (axes,) = drawn.figure.axes
    shown = {str(line.get_label()): len(line.get_xdata()) for line in axes.get_lines()[1:]}  # type: ignore[arg-type]
    assert shown == {"Discreet": 1, "deliberately broken": 1}
    assert drawn.save(tmp_path / "claims.png").exists()
    assert plot([]).save(tmp_path / "none.svg").exists()
