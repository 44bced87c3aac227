"""Stretches: continua of privacy losses whose mass between two losses has a closed form."""

from dataclasses import dataclass
from math import exp
from typing import Protocol

import numpy as np
from scipy.special import ndtr, ndtri

from discreet.accounting.approximate import Floats
from discreet.accounting.rounding import TRUST


class Stretch(Protocol):
    """A continuum of losses (or so many atoms that it is treated as one)."""

    @property
    def spread(self) -> float:
        """About the variance of the loss, to choose a grid by."""

    def reach(self, tail: float) -> tuple[float, float]:
        """Return losses beyond which neither P nor Q has more mass than tail."""

    def mass(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the mass of losses in (low, high] under P and Q."""

    def trust(self, low: Floats, high: Floats) -> Floats:
        """Return a bound of the relative error of the mass of losses in (low, high]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianStretch:
    """N(0, 1) against N(mu, 1): the loss is N(mu²/2, mu²) under P and N(-mu²/2, mu²) under Q."""

    mu: float

    @property
    def spread(self) -> float:
        return self.mu**2

    def reach(self, tail: float) -> tuple[float, float]:
        far = self.mu * (self.mu / 2 - float(ndtri(tail)))
        return -far, far

    def mass(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        shift = self.mu / 2
        a, b = low / self.mu, high / self.mu
        return _normal_mass(a - shift, b - shift), _normal_mass(a + shift, b + shift)

    def trust(self, low: Floats, high: Floats) -> Floats:
        # ndtr(z) is trusted to TRUST + z² 2^-51, for the rounding of z² in its exponent. ln Φ is
        # concave with slope max(0.79, |z|) or more left of 0, so with w = (high - low)/mu the
        # difference Φ(z) - Φ(z - w) is at least Φ(z) min(1, w max(0.79, |z|))/2, and above 0.24 w
        # across 0. At |z| ≤ 38, where Φ underflows, that makes 1440 TRUST, and 60 TRUST/w where w
        # is small.
        return TRUST * (1440 + 64 * self.mu / (high - low))


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceStretch:
    """The losses strictly between -epsilon and epsilon of Laplace noise.

    Their density is e^((l - epsilon)/2)/4 under P and e^(-(l + epsilon)/2)/4 under Q.
    """

    epsilon: float

    @property
    def spread(self) -> float:
        return min(self.epsilon, 2.0) ** 2

    def reach(self, tail: float) -> tuple[float, float]:  # noqa: ARG002 - bounded
        return -self.epsilon, self.epsilon

    def mass(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        low, high = (np.clip(each, -self.epsilon, self.epsilon) for each in (low, high))
        width = -np.expm1((low - high) / 2) / 2
        return np.exp((high - self.epsilon) / 2) * width, np.exp(-(low + self.epsilon) / 2) * width

    def trust(self, low: Floats, high: Floats) -> Floats:  # noqa: ARG002 - nothing cancels
        return np.full(low.shape, 16 * TRUST * (1 + self.epsilon))


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteLaplaceStretch:
    """The losses (S - 2 j)/scale, 0 < j < S, of discrete Laplace noise with sensitivity S.

    Their mass is (1-a)/(1+a) a^j under P and (1-a)/(1+a) a^(S-j) under Q, with a = e^(-1/scale).
    """

    sensitivity: int
    rate: float  # 1/scale

    @property
    def spread(self) -> float:
        return min(self.sensitivity * self.rate, 2.0) ** 2

    def reach(self, tail: float) -> tuple[float, float]:  # noqa: ARG002 - bounded
        return -self.sensitivity * self.rate, self.sensitivity * self.rate

    def mass(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        # Losses in (low, high] are first ≤ j < end.
        first, end = self._first(high), self._first(low)
        width = -np.expm1(-(end - first) * self.rate) / (1 + exp(-self.rate))
        p = np.exp(-first * self.rate) * width
        return p, np.exp(-(self.sensitivity - end + 1) * self.rate) * width

    def trust(self, low: Floats, high: Floats) -> Floats:  # noqa: ARG002 - nothing cancels
        return np.full(low.shape, 16 * TRUST * (1 + self.sensitivity * self.rate))

    def _first(self, loss: Floats) -> Floats:
        """Return the least j, from 1 to S, whose loss is at most this."""
        j = np.ceil((self.sensitivity - loss / self.rate) / 2)
        return np.clip(j, 1.0, float(self.sensitivity))


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledStretch:
    """A stretch on a sample: (1-s) Q + s P against Q (removed), or the other way round (added)."""

    whole: Stretch
    share: float
    added: bool

    @property
    def spread(self) -> float:
        return self.whole.spread * min(1.0, self.share**2 * exp(min(self.whole.spread, 50.0)))

    def reach(self, tail: float) -> tuple[float, float]:
        low, high = (float(x) for x in sampled_loss(np.array(self.whole.reach(tail)), self.share))
        return (-high, -low) if self.added else (low, high)

    def mass(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        p, q = self.whole.mass(*self._whole_losses(low, high))
        mixed = (1 - self.share) * q + self.share * p
        return (q, mixed) if self.added else (mixed, q)

    def trust(self, low: Floats, high: Floats) -> Floats:
        # A loss on the sample moves by no more than the loss of the whole, and by about share times
        # as much where it is small; so the losses of the whole are as far apart, or much farther.
        # Where rounding leaves no gap between them, or none is known, that of the sample stands.
        first, last = self._whole_losses(low, high)
        with np.errstate(invalid="ignore"):
            gap = np.fmax(last - first, high - low)
        return 2 * self.whole.trust(np.zeros_like(gap), gap)

    def _whole_losses(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the losses of the whole between which these losses on the sample lie."""
        if self.added:
            low, high = -high, -low
        return self._whole_loss(low), self._whole_loss(high)

    def _whole_loss(self, loss: Floats) -> Floats:
        """Return l with ln(1 - s + s e^l) = loss, and -inf where there is none."""
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(np.log1p(np.maximum(np.expm1(loss) / self.share, -1.0)))


def sampled_loss(losses: Floats, share: float) -> Floats:
    """Return ln(1 - s + s e^l)."""
    return np.asarray(np.logaddexp(np.log1p(-share), np.log(share) + losses))


def _normal_mass(a: Floats, b: Floats) -> Floats:
    """Return Φ(b) - Φ(a), from the side of the tail, where the difference keeps its digits."""
    flip = a + b > 0
    left, right = np.where(flip, -b, a), np.where(flip, -a, b)
    return np.asarray(ndtr(right) - ndtr(left))
