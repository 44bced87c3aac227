"""What Hypothesis draws: parameters that people give, and answers of neighbouring data."""

from fractions import Fraction

from hypothesis import strategies as st

from discreet.mechanisms.sensitivity import root_up

EVERYDAY = [Fraction(1), Fraction(1, 10), Fraction(1, 3), Fraction(7), Fraction(120)]
EXTREME = [Fraction(1, 10**12), Fraction(10**15), Fraction(1, 10**100), Fraction(10**100)]

epsilons = st.one_of(
    st.fractions(min_value=Fraction(1, 100), max_value=20, max_denominator=1000),
    st.sampled_from([Fraction(1), Fraction(1, 10), Fraction(1, 10**9), Fraction(200)]),
)
moderate_epsilons = st.fractions(min_value=Fraction(1, 20), max_value=5, max_denominator=100)
whole_sensitivities = st.integers(min_value=1, max_value=50)
sensitivities = st.one_of(
    st.sampled_from(EVERYDAY + EXTREME),
    st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=1000),
)
moderate_sensitivities = st.sampled_from(EVERYDAY)
shares = st.fractions(min_value=-1, max_value=1)
"""How far towards the farthest neighbour: both ends are drawn often."""

Vector = tuple[Fraction, ...]


@st.composite
def neighbours(draw: st.DrawFn, sensitivity: Fraction) -> tuple[Fraction, Fraction]:
    """Draw two real answers no farther apart than the sensitivity."""
    here = draw(_answers(sensitivity))
    return here, here + sensitivity * draw(st.one_of(st.sampled_from([-1, 1]), shares))


@st.composite
def l1_neighbours(draw: st.DrawFn, sensitivity: Fraction, answers: int) -> tuple[Vector, Vector]:
    """Draw two vectors no farther apart than the sensitivity, all coordinates added up."""
    weights = draw(_weights(answers))
    total = max(1, sum(map(abs, weights)))
    return _moved(draw, sensitivity, [weight * sensitivity / total for weight in weights])


@st.composite
def l2_neighbours(draw: st.DrawFn, sensitivity: Fraction, answers: int) -> tuple[Vector, Vector]:
    """Draw two vectors no farther apart than the sensitivity, as the crow flies."""
    weights = draw(_weights(answers))
    length = root_up(Fraction(max(1, sum(weight**2 for weight in weights))))
    return _moved(draw, sensitivity, [weight * sensitivity / length for weight in weights])


@st.composite
def score_lists(
    draw: st.DrawFn, sensitivity: Fraction, *, monotone: bool, most: int = 5
) -> tuple[list[Fraction], list[Fraction]]:
    """Draw scores before and after one unit comes; if monotone, none of them falls."""
    count = draw(st.integers(min_value=2, max_value=most))
    ties = st.sampled_from([Fraction(0), Fraction(1), Fraction(-3)])
    places = st.one_of(ties, st.fractions(min_value=-4, max_value=4, max_denominator=64))
    moves = st.one_of(st.sampled_from([Fraction(-1), Fraction(0), Fraction(1)]), shares)
    before = [sensitivity * draw(places) for _ in range(count)]
    moved = [sensitivity * draw(moves.map(abs) if monotone else moves) for _ in range(count)]
    return before, [score + move for score, move in zip(before, moved, strict=True)]


def _answers(sensitivity: Fraction) -> st.SearchStrategy[Fraction]:
    return st.fractions(min_value=-1000, max_value=1000).map(lambda x: x * sensitivity)


def _weights(answers: int) -> st.SearchStrategy[list[int]]:
    each = st.one_of(st.sampled_from([0, 1, -1]), st.integers(min_value=-100, max_value=100))
    return st.lists(each, min_size=answers, max_size=answers)


def _moved(draw: st.DrawFn, sensitivity: Fraction, moves: list[Fraction]) -> tuple[Vector, Vector]:
    here = tuple(draw(_answers(sensitivity)) for _ in moves)
    return here, tuple(x + move for x, move in zip(here, moves, strict=True))
