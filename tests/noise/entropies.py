"""Sources of chosen bytes: to send two paths the same words, or to count what is drawn."""

from discreet.noise.source import Entropy


class ChosenEntropy:
    """Give the chosen blocks first, one for each draw, and then one byte over and over."""

    def __init__(self, *blocks: bytes, then: int = 0x5A) -> None:
        self._blocks = list(blocks)
        self._then = bytes([then])

    def draw(self, count: int) -> bytes:
        block = self._blocks.pop(0) if self._blocks else self._then * count
        assert len(block) == count
        return block


class CountingEntropy:
    """Count the bytes that are drawn from another source."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self.drawn = 0

    def draw(self, count: int) -> bytes:
        self.drawn += count
        return self._entropy.draw(count)
