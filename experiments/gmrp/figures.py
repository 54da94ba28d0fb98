"""What others reached: published, or run by us earlier on a similar machine."""

from typing import NamedTuple


class Known(NamedTuple):
    """Costs of one instance."""

    initial: int
    bound: int  # the lower bound of the challenge's literature
    winner: int  # S41, 300 s, 2 processes: published
    peer: int  # best of S41 and J33 at 60 CPU seconds, one thread: run by us
    peer_name: str


KNOWN = {
    "a1_4": Known(632_499_600, 242_404_642, 262_125_116, 256_429_767, "J33"),
    "a2_2": Known(1_876_768_120, 572_213_976, 746_097_632, 772_335_583, "S41"),
    "a2_3": Known(2_272_487_840, 1_068_028_987, 1_210_644_572, 1_235_560_538, "S41"),
    "a2_5": Known(787_355_300, 307_042_542, 318_358_949, 327_414_144, "S41"),
    "b_1": Known(7_644_173_180, 3_290_754_940, 3_353_533_859, 3_476_884_929, "S41"),
    "b_3": Known(6_336_834_660, 156_631_070, 157_091_678, 161_058_833, "J33"),
    "b_5": Known(12_426_813_010, 922_858_550, 924_769_283, 927_598_171, "S41"),
}
SINGLE_PROCESS = {"a2_3": 1_235_560_538, "b_1": 3_476_884_929}  # S41 at 60 CPU seconds: `nls` must come within 10 %
FAIR = 0.10
