"""One event of every tag, as ledgers hold it."""

from fractions import Fraction

from discreet.accounting import events as of
from discreet.accounting.events import Event, record_from_event

PURE = of.PureEvent(epsilon=Fraction(1, 3))

EVENTS: tuple[Event, ...] = (
    of.LaplaceEvent(sensitivity=Fraction(3), scale=Fraction(7, 2)),
    of.DiscreteLaplaceEvent(sensitivity=12, scale=Fraction(1, 7), answers=4),
    of.StaircaseEvent(epsilon=Fraction(1, 10)),
    of.GaussianEvent(noise_multiplier=Fraction(5, 4)),
    of.DiscreteGaussianEvent(
        sensitivity_squared=Fraction(144), variance=Fraction(1000, 7), answers=2
    ),
    of.ExponentialEvent(epsilon=Fraction(1)),
    of.PermuteAndFlipEvent(epsilon=Fraction(1, 2)),
    of.NoisyMaxEvent(epsilon=Fraction(2)),
    of.SparseVectorEvent(epsilon=Fraction(3, 2)),
    of.RandomizedResponseEvent(epsilon=Fraction(1), categories=7),
    PURE,
    of.ApproximateEvent(epsilon=Fraction(1), delta=Fraction(1, 10**9)),
    of.ConcentratedEvent(rho=Fraction(1, 8)),
    of.PoissonSampledEvent(event=PURE, probability=Fraction(1, 100)),
    of.FixedSampleEvent(event=PURE, size=10, population=1000),
    of.RepeatedEvent(event=PURE, count=1000),
    of.ComposedEvent(events=(PURE, of.ConcentratedEvent(rho=Fraction(1)))),
)


def records() -> dict[str, object]:
    """Return the record of each event, by its tag."""
    return {each.tag: record_from_event(each) for each in EVENTS}
