"""Figures that others have published, for tests to meet."""

GMRP_INITIAL = {  # cost of each initial assignment of the ROADEF/EURO challenge 2012
    "a1_1": 49_528_750,
    "a1_2": 1_061_649_570,
    "a1_3": 583_662_270,
    "a1_4": 632_499_600,
    "a1_5": 782_189_690,
    "a2_1": 391_189_190,
    "a2_2": 1_876_768_120,
    "a2_3": 2_272_487_840,
    "a2_4": 3_223_516_130,
    "a2_5": 787_355_300,
    "b_1": 7_644_173_180,
    "b_2": 5_181_493_830,
    "b_3": 6_336_834_660,
    "b_4": 9_209_576_380,
    "b_5": 12_426_813_010,
}

GMRP_LOWER_BOUND = {  # published for the instances that the challenge's finalists are compared on
    "a1_4": 242_404_642,
    "a2_2": 572_213_976,
    "a2_3": 1_068_028_987,
    "a2_5": 307_042_542,
    "b_1": 3_290_754_940,
    "b_3": 156_631_070,
    "b_5": 922_858_550,
}
GMRP_BEST = {  # the lowest cost that anyone has claimed; of b_3 the challenge winner's
    "a1_4": 247_433_844,
    "a2_2": 720_671_548,
    "a2_3": 1_190_713_414,
    "a2_5": 309_714_522,
    "b_1": 3_307_124_603,
    "b_3": 157_091_678,
    "b_5": 922_988_809,
}
