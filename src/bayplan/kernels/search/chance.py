"""Random numbers from one 64-bit word of state (xorshift64*): fast, and the same on every machine."""

import numpy as np

from bayplan.kernels.search.compiled import kernel

FULL = 2.0**-53


@kernel
def draw(chance):
    """The next 64 random bits."""
    x = chance[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    chance[0] = x
    return x * np.uint64(2685821657736338717)


@kernel
def below(chance, n):
    """A whole number of 0..n-1; n < 2^31."""
    return np.int64(((draw(chance) >> np.uint64(33)) * np.uint64(n)) >> np.uint64(31))


@kernel
def share(chance):
    """A number in (0, 1]."""
    return (np.float64(draw(chance) >> np.uint64(11)) + 1.0) * FULL
