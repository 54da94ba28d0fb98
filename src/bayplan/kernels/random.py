"""Random numbers from one 64-bit word of state (xorshift64*): fast, and the same on every machine."""

import numpy as np

from bayplan.kernels.jit import kernel

UNIT = 2.0**-53


@kernel
def next_bits(rng):
    """The next 64 random bits."""
    x = rng[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    rng[0] = x
    return x * np.uint64(2685821657736338717)


@kernel
def below(rng, n):
    """A random integer of 0..n-1; n < 2^31."""
    return np.int64(((next_bits(rng) >> np.uint64(33)) * np.uint64(n)) >> np.uint64(31))


@kernel
def uniform(rng):
    """A random number in (0, 1]."""
    return (np.float64(next_bits(rng) >> np.uint64(11)) + 1.0) * UNIT
