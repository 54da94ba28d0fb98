"""What the papers prove, and the tests that try it: property tests on thousands of drawn inputs, or a counter-example."""

from typing import NamedTuple

from experiments.evidence.papers import CRADLE, FREECONTAINER, ONLINE_CLUSTERS, RASA, UCAC
from experiments.verdicts import Claim, Verdict


class Theorem(NamedTuple):
    """A statement and the test of it."""

    paper: str
    where: str
    text: str
    test: str  # file::function
    holds: bool = True  # does the test assert the statement, or that it fails?
    page: str = ""
    why: str = ""
    folder: str = "property"  # of the test, in tests/

    @property
    def claim(self) -> Claim:
        """As a line of the table: a test that asserts it is what is measured."""
        found = "holds in every example that is tried" if self.holds else "a counter-example is asserted"
        word = Verdict.REPRODUCED if self.holds else Verdict.NOT
        return Claim(
            where=self.where, text=self.text, stated="proven", ours=found, verdict=word, rule="every example", page=self.page
        )

    @property
    def command(self) -> str:
        """What runs the test."""
        return f"pytest tests/{self.folder}/{self.test}"


RATIOS, EXACT, THEORY = "test_cradle_ratios.py", "test_schedule_exact.py", "verbs/schedule-theory.md"
ADMIT, ONE_SHOT, PROOF = "test_admit_theorems.py", "test_one_shot_theorems.py", "verbs/admit-theorem.md"
THEOREMS = (
    Theorem(
        FREECONTAINER,
        "Figure 2(c)",
        "concurrent migration cannot reach the balanced state",
        "test_hand_made.py::test_figure_2_cannot_be_evened_out_if_nothing_is_freed_before_the_end",
        page="verbs/rebalance.md",
        folder="unit/decide/rebalance",
    ),
    Theorem(
        FREECONTAINER,
        "Figure 2(c)",
        "migration in sequence reaches the balanced state",
        "test_hand_made.py::test_figure_2_is_evened_out_if_capacity_is_freed_on_the_way",
        page="verbs/rebalance.md",
        folder="unit/decide/rebalance",
    ),
    Theorem(
        FREECONTAINER,
        "Appendix A",
        "Lemmas 1 and 2: Sweep&Search is near the optimum with high probability if enough servers are explored",
        "test_hand_made.py::test_appendix_a_fails_where_sweep_search_never_comes_within_eight_times_the_optimum",
        holds=False,
        page="verbs/rebalance.md",
        why="The probability is inverted as printed, and the proof assumes that shifts, swaps and replacements always lead to "
        "the optimum: where they do not, no number of servers helps",
        folder="unit/decide/rebalance",
    ),
    Theorem(
        CRADLE,
        "Lemma IV.1",
        "wide requests: by w1, a maximal schedule is worth at least k / (2k - 1) of the best",
        f"{RATIOS}::test_by_w1_a_maximal_schedule_of_wide_requests_is_worth_the_best_by_2_less_1_over_k",
        page=THEORY,
    ),
    Theorem(
        CRADLE,
        "Lemma IV.4",
        "narrow requests: by w1, a maximal schedule is worth at least an eighth of the best",
        f"{RATIOS}::test_by_w1_a_maximal_schedule_of_narrow_requests_is_worth_an_eighth_of_the_best",
        page=THEORY,
    ),
    Theorem(
        CRADLE,
        "Theorems IV.2, IV.3",
        "wide requests: worth at least k / (2k - 1) of the best",
        f"{RATIOS}::test_wide_requests_are_worth_the_best_by_2_less_1_over_k",
        page=THEORY,
    ),
    Theorem(
        CRADLE,
        "Theorem IV.5",
        "narrow requests: worth at least an eighth of the best",
        f"{RATIOS}::test_narrow_requests_are_worth_an_eighth_of_the_best",
        page=THEORY,
    ),
    Theorem(
        CRADLE,
        "Theorem IV.6",
        "Cradle is worth at least a twelfth of the best",
        f"{RATIOS}::test_cradle_is_worth_a_twelfth_of_the_best",
        page=THEORY,
    ),
    Theorem(
        CRADLE,
        "Theorem IV.7",
        "requests that are not narrow: the best, by a dynamic program",
        f"{EXACT}::test_the_dynamic_programme_is_the_best_of_wide_requests",
        page=THEORY,
    ),
    Theorem(
        CRADLE,
        "Theorem IV.8",
        "with the dynamic program: worth at least a ninth of the best",
        f"{EXACT}::test_cradle_dp_is_worth_what_the_theorem_says",
        page=THEORY,
    ),
    Theorem(
        ONLINE_CLUSTERS,
        "Theorem 1",
        "A_sub1 places every member once, and takes at most 2 B of a zone",
        f"{ONE_SHOT}::test_theorem_1_fails_where_a_member_is_larger_than_the_zone",
        holds=False,
        page="verbs/admit.md",
        why="It needs y_vs = 0 where a member is larger than the zone; with that it holds, "
        "`test_before_repair_no_zone_gets_more_than_twice_its_room`",
    ),
    Theorem(
        ONLINE_CLUSTERS,
        "§III",
        "IP (1) and ILP (2) have the same optimal objective value",
        f"{ADMIT}::test_ip_1_and_ilp_2_have_the_same_optimum",
        page="verbs/admit.md",
    ),
    Theorem(
        ONLINE_CLUSTERS,
        "Lemma 1",
        "a sum of k independent variables in [0, 1] is sigma from its mean with probability at most 2 exp(-2 sigma^2 / k)",
        f"{ONE_SHOT}::test_lemma_1_bounds_how_far_a_sum_of_independent_variables_is_from_its_mean",
        page=PROOF,
    ),
    Theorem(
        ONLINE_CLUSTERS,
        "Lemma 2",
        "the special estimate of one member in one zone is within epsilon V with probability 1 - 2 / V^(2q)",
        f"{ONE_SHOT}::test_lemma_2_each_special_estimate_is_near_with_the_stated_probability",
        page=PROOF,
    ),
    Theorem(
        ONLINE_CLUSTERS,
        "Lemma 2, as Lemma 3 uses it",
        "with that probability all special estimates are within epsilon V",
        f"{ONE_SHOT}::test_lemma_2_fails_for_all_members_at_once_and_then_algorithm_1_has_no_answer",
        holds=False,
        page=PROOF,
        why="It is proven for each member and zone by itself; all at once need the union bound, and where one fails "
        "Algorithm 1 has no answer",
    ),
    Theorem(
        ONLINE_CLUSTERS,
        "Lemma 3",
        "if the special estimate is near, A_sub1 costs at most (1 + epsilon) V^2 more than the optimum",
        f"{ONE_SHOT}::test_lemma_3_a_near_estimate_gives_a_rounding_within_its_bound",
        page=PROOF,
        why="It says nothing: no placement costs more than V^2, `test_lemma_3_bounds_the_worst_of_all_placements_too`",
    ),
    Theorem(
        ONLINE_CLUSTERS,
        "Theorem 3",
        "A_sub1 is within 1 + (1 + epsilon) c V of the optimum, c the largest P_vs by the least",
        f"{ONE_SHOT}::test_theorem_3_as_printed_fails_where_traffic_costs_more_than_members",
        holds=False,
        page=PROOF,
        why="The proof takes a P_vs to be the largest of all costs; with c of all costs it holds, but for every placement, "
        "`test_theorem_3_with_the_largest_of_all_costs_holds_for_every_placement`",
    ),
    Theorem(
        ONLINE_CLUSTERS,
        "Lemma 4, Theorem 4",
        "A_online never exceeds a capacity if requests are small: its solution of ILP (2) is feasible",
        f"{ADMIT}::test_lemma_4_small_requests_never_meet_a_full_zone",
        page=PROOF,
    ),
    Theorem(
        ONLINE_CLUSTERS,
        "Lemma 4, Theorem 4",
        "A_online with A_sub1 leaves a feasible solution of IP (1), so that no request takes more than B of a zone (1d)",
        f"{ONE_SHOT}::test_algorithm_1_may_take_more_than_b_where_a_placement_within_b_exists",
        holds=False,
        page="verbs/admit.md",
        why="The proof says that A_sub keeps (1d), but by Theorem 1 A_sub1 may take up to 2 B; ours repairs that",
    ),
    Theorem(
        ONLINE_CLUSTERS,
        "Lemma 5, Theorem 4",
        "A_online leaves a feasible solution of the dual (3)",
        f"{ADMIT}::test_lemma_5_the_dual_is_feasible_at_the_end",
        page=PROOF,
    ),
    Theorem(
        ONLINE_CLUSTERS,
        "Lemma 6",
        "if each request adds at least 1 / (alpha beta) of what it adds to the dual, A_online is alpha beta-competitive",
        f"{ADMIT}::test_lemma_6_what_each_request_adds_to_the_dual_bounds_the_ratio",
        page=PROOF,
    ),
    Theorem(
        ONLINE_CLUSTERS,
        "Lemma 7",
        "if the Resource-Price Relationship holds for beta, a request adds at least 1 / (alpha beta) of what it adds to the dual",
        f"{ADMIT}::test_lemma_7_where_prices_are_above_zero_a_request_adds_as_much_as_the_relationship_says",
        page=PROOF,
        why="Its condition holds for no beta where a price is 0, so never for the first request, "
        "`test_lemma_8_fails_at_every_load_and_no_beta_will_do_for_an_empty_resource`",
    ),
    Theorem(
        ONLINE_CLUSTERS,
        "Lemma 8",
        "beta = ln(lambda) and the prices (8) keep the Differential Resource-Price Relationship",
        f"{ADMIT}::test_lemma_8_fails_at_every_load_and_no_beta_will_do_for_an_empty_resource",
        holds=False,
        page=PROOF,
        why="It needs beta >= ln(lambda) x / (x - 1) with x = lambda^(z / C), which is more than ln(lambda) at every z and has "
        "no limit at z = 0; the proof takes ln(lambda), which is less, for enough",
    ),
    Theorem(
        ONLINE_CLUSTERS,
        "Theorem 5",
        "A_online is alpha ln(lambda)-competitive",
        f"{ADMIT}::test_theorem_5_as_printed_fails",
        holds=False,
        page=PROOF,
        why="Lemma 8, on which it rests, is false; a statement with (alpha + 1) log2(lambda) is proven and tested instead",
    ),
    Theorem(
        UCAC,
        "Proposition 1",
        "the more uncertain a machine, the less a container adds to its UCaC",
        "test_packing.py::test_ucac_grows_with_every_container_and_by_less_the_more_uncertain_a_machine_is",
        page="verbs/pack.md",
    ),
    Theorem(
        UCAC,
        "Lemma 6",
        "containers that do not fit have a normalised mean and variance of more than 3/4 in all",
        "test_packing.py::test_lemma_6_what_does_not_fit_has_more_than_three_quarters",
        page="verbs/pack.md",
    ),
    Theorem(
        UCAC,
        "Proposition 2",
        "the cutting stock problem over all patterns is exact on nonempty machines",
        "test_packing.py::test_csp_ucac_is_as_good_as_trying_everything",
        page="verbs/pack.md",
    ),
    Theorem(
        UCAC,
        "Theorem 4",
        "with fractions of containers the least UCaC has the fewest machines",
        "test_packing.py::test_theorem_4_with_fractions_the_least_ucac_has_the_fewest_machines",
        page="verbs/pack.md",
        why="For one resource, as in the paper; with memory it is false, `test_theorem_4_fails_where_memory_counts_too`",
    ),
    Theorem(
        UCAC,
        "Theorem 5",
        "the least UCaC needs at most 8/3 of the fewest machines",
        "test_packing.py::test_the_least_ucac_needs_at_most_eight_thirds_of_the_fewest_machines",
        page="verbs/pack.md",
    ),
    Theorem(
        RASA,
        "§IV-B3",
        "compatible machines: sets that share no machine can be solved by themselves without a loss",
        "test_partitions.py::test_blocks_share_no_machine_and_cannot_be_split_further",
        page="verbs/collocate.md",
    ),
    Theorem(
        RASA,
        "§IV-C2",
        "the cutting stock formulation over all patterns has the optimum of (2) to (9)",
        "test_collocate_columns.py::test_the_optimum_of_small_clusters_is_found_by_columns",
        page="verbs/collocate.md",
    ),
    Theorem(
        RASA,
        "Lemma 1",
        "under a power law with beta above 1 all but the first services have a vanishing share of the affinity",
        "test_partitions.py::test_lemma_1_under_a_power_law_few_masters_have_most_of_the_affinity",
        page="verbs/collocate.md",
        why="It bounds what the partition loses, not what pinning the other services does, "
        "`test_lemma_1_does_not_bound_what_pinning_the_other_services_loses`",
    ),
)
