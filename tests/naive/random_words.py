"""The slow obvious twin of `bayplan.kernels.random`: xorshift64* in whole numbers of Python."""

BITS = (1 << 64) - 1


class Words:
    """Random numbers from one word of state."""

    def __init__(self, state):
        self.state = int(state)

    def next_bits(self):
        x = self.state
        x ^= x >> 12
        x = (x ^ (x << 25)) & BITS
        x ^= x >> 27
        self.state = x
        return (x * 2685821657736338717) & BITS

    def below(self, n):
        return ((self.next_bits() >> 33) * n) >> 31

    def uniform(self):
        return ((self.next_bits() >> 11) + 1) * 2.0**-53
