"""Well-known mechanisms as channels.

e^-epsilon is rounded up to a fraction, by less than one part in 2^52, and the channel is exactly
that of the fraction. So its epsilon is slightly below the requested one, never above.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.local.mechanism import FrequencyOracle
from discreet.local.mechanism import channel as exact_channel
from discreet.noise.enclosures import exp_neg
from discreet.parameters import Real, integer, rational
from discreet.utility.channels import Channel
from discreet.utility.neighbours import Label, integers, labels

BITS = 52

EPSILON_MOST = 200


def geometric_channel(
    low: int,
    high: int,
    *,
    epsilon: Real | None = None,
    alpha: Real | None = None,
    sensitivity: int = 1,
) -> Channel:
    """Return the geometric mechanism truncated to [low, high] (Ghosh et al. 2009, Definition 2.4).

    P(z | y) ∝ a^|z - y| inside and a^|z - y| / (1 - a) at the ends, where a is `alpha`, or
    e^(-epsilon / sensitivity).
    """
    nodes = integers(low, high)
    a = chosen_alpha(epsilon, alpha, integer("sensitivity", sensitivity, least=1))
    n, p, q = len(nodes) - 1, a.numerator, a.denominator
    powers = [p**k * q ** (n - k) for k in range(n + 1)]
    # Times (1 + a) q^(n + 1): a^k at an end that is k away, (1 - a) a^k inside.
    ends, inside = [q * each for each in powers], [(q - p) * each for each in powers]
    rows = [
        [ends[y], *(inside[abs(z - y)] for z in range(1, n)), ends[n - y]] for y in range(n + 1)
    ]
    return Channel.from_weights(rows, inputs=nodes, outputs=nodes)


def laplace_channel(
    low: int,
    high: int,
    *,
    epsilon: Real | None = None,
    alpha: Real | None = None,
    sensitivity: int = 1,
) -> Channel:
    """Return continuous Laplace noise rounded to the nearest integer, clamped to [low, high].

    With b = a^(1/2): P(y | y) = 1 - b and P(y ± k | y) = (b^(2k-1) - b^(2k+1)) / 2. b is rounded
    up, so the distribution is exactly that of some Laplace noise.
    """
    nodes = integers(low, high)
    scale = integer("sensitivity", sensitivity, least=1)
    b = _root(epsilon, alpha, scale)
    n, p, q = len(nodes) - 1, b.numerator, b.denominator
    top = 2 * n + 1
    powers: list[int] = [p**k * q ** (top - k) for k in range(top + 1)]

    def beyond(k: int) -> int:
        """Return the weight of being k or more to one side, of 2 q^top in total."""
        return powers[2 * k - 1] if k > 0 else 2 * powers[0] - powers[1 - 2 * k]

    rows = [
        [beyond(y), *(_between(beyond, z - y) for z in range(1, n)), beyond(n - y)]
        for y in range(n + 1)
    ]
    return Channel.from_weights(rows, inputs=nodes, outputs=nodes)


def _between(beyond: Callable[[int], int], k: int) -> int:
    return beyond(k) - beyond(k + 1) if k >= 0 else beyond(-k) - beyond(-k + 1)


def response_channel(
    values: Iterable[Label] | int, *, epsilon: Real | None = None, alpha: Real | None = None
) -> Channel:
    """Return k-ary randomized response: each other value is alpha times as likely as the truth."""
    given = range(values) if isinstance(values, int) else values
    named = labels("values", given)
    a = chosen_alpha(epsilon, alpha, 1)
    rows = [
        [a.denominator if i == j else a.numerator for j in range(len(named))]
        for i in range(len(named))
    ]
    return Channel.from_weights(rows, inputs=named, outputs=named)


def exponential_channel(  # noqa: PLR0913 - scores, how they are weighed, and their names
    scores: Sequence[Sequence[int]],
    *,
    sensitivity: int,
    epsilon: Real | None = None,
    alpha: Real | None = None,
    monotone: bool = False,
    inputs: Iterable[Label] | None = None,
    outputs: Iterable[Label] | None = None,
) -> Channel:
    """Return the exponential mechanism for integer scores, with a row for each input.

    P(z | y) ∝ e^(epsilon · score / (2 sensitivity)), without the 2 if the scores are `monotone`
    (McSherry, Talwar 2007).
    """
    apart = integer("sensitivity", sensitivity, least=1) * (1 if monotone else 2)
    a = chosen_alpha(epsilon, alpha, apart)
    rows = [[integer("scores", each) for each in row] for row in scores]
    weights = []
    for row in rows:
        deficits = [max(row) - each for each in row]
        most = max(deficits)
        powers = {k: a.numerator**k * a.denominator ** (most - k) for k in set(deficits)}
        weights.append([powers[k] for k in deficits])
    return Channel.from_weights(weights, inputs=inputs, outputs=outputs)


def local_channel(mechanism: FrequencyOracle) -> Channel:
    """Return the channel of a frequency oracle of few values, from `discreet.local`."""
    found = exact_channel(mechanism)
    return Channel(found.matrix)


def alpha_up(epsilon: Real, *, bits: int = BITS) -> Fraction:
    """Return a fraction just above e^-epsilon, with a relative error below 2^-bits."""
    x = rational("epsilon", epsilon, above=0, most=EPSILON_MOST)
    return Fraction(exp_neg(x, bits + 2 + 2 * int(x + 1))[1], 1 << bits + 2 + 2 * int(x + 1))


def alpha_down(epsilon: Real, *, bits: int = BITS) -> Fraction:
    """Return a fraction just below e^-epsilon, with a relative error below 2^-bits."""
    x = rational("epsilon", epsilon, above=0, most=EPSILON_MOST)
    return Fraction(exp_neg(x, bits + 2 + 2 * int(x + 1))[0], 1 << bits + 2 + 2 * int(x + 1))


def chosen_alpha(epsilon: Real | None, alpha: Real | None, parts: int) -> Fraction:
    """Return alpha as given, or e^(-epsilon / parts) rounded up."""
    if (epsilon is None) == (alpha is None):
        raise ParameterError("epsilon", epsilon, "or alpha must be given, and only one of them")
    if alpha is not None:
        return rational("alpha", alpha, above=0, below=1)
    return alpha_up(rational("epsilon", epsilon, above=0) / parts)


def _root(epsilon: Real | None, alpha: Real | None, parts: int) -> Fraction:
    """Return the square root of alpha, rounded up."""
    if epsilon is not None and alpha is None:
        return alpha_up(rational("epsilon", epsilon, above=0) / (2 * parts))
    a = chosen_alpha(epsilon, alpha, parts)
    grain = 1 << BITS
    return Fraction(_root_up(a.numerator * grain * grain, a.denominator), grain)


def _root_up(numerator: int, denominator: int) -> int:
    """Return the smallest integer whose square is at least a quotient."""
    low, high = 0, 1 << (numerator.bit_length() // 2 + 1)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle**2 * denominator >= numerator else (middle + 1, high)
    return low
