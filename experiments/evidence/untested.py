"""Claims of the papers that no experiment measures, and why."""

from typing import NamedTuple

from experiments.evidence.papers import CRADLE, FREECONTAINER, ONLINE_CLUSTERS, RASA, UCAC
from experiments.verdicts import Claim, Verdict


class Untested(NamedTuple):
    """A claim without a measurement."""

    paper: str
    where: str
    text: str
    stated: str
    why: str
    page: str = ""

    @property
    def claim(self) -> Claim:
        """As a line of the table."""
        return Claim(
            where=self.where, text=self.text, stated=self.stated, ours="-", verdict=Verdict.UNTESTED, rule="-", page=self.page
        )


SIZES = "The numbers of the tables are not in the text that we have"
LIVE = "A measurement of the paper's own production; the clusters are not public"
UNTESTED = (
    Untested(FREECONTAINER, "Tables IV to VIII", "the single costs of every method", "-", SIZES, "verbs/place.md"),
    Untested(
        FREECONTAINER,
        "Table I",
        "services whose containers are close together leave utilisations of 5,876 servers highly imbalanced",
        "-",
        "A measurement of the paper's own production; the data centre is not public",
        "verbs/place.md",
    ),
    Untested(
        FREECONTAINER,
        "§IV-A, §V-B",
        "the placement problem is NP-hard; replace makes at most 3i zombie containers, its overhead is linear in o_s",
        "-",
        "Statements on complexity and on an exploration that is told in words; they need no measurement",
        "verbs/rebalance.md",
    ),
    Untested(
        FREECONTAINER,
        "Figure 7(d)",
        "response time by CPU: 50 ms below 60 %, 200 ms above 80 %, 800 ms above 90 %",
        "50, 200, 800 ms",
        "An input of the performance model, not a result",
        "verbs/production.md",
    ),
    Untested(
        ONLINE_CLUSTERS,
        "§VI",
        "all results on Google's trace, version 1",
        "-",
        "The trace is not available to us; the same claims are measured on drawn streams and on Azure's",
        "verbs/admit.md",
    ),
    Untested(
        ONLINE_CLUSTERS,
        "Figures 7, 8",
        "ratios of A_online with A_sub1 and epsilon 0.6 by U and by I",
        "-",
        "With epsilon 0.6 n is V up to V = 5, then 6: up to 9^6 linear programs for one request of 2 to 8 members. "
        "Measured by V up to 4 and by S; with epsilon 1.0 by U and I, too",
        "verbs/admit.md",
    ),
    Untested(
        ONLINE_CLUSTERS,
        "Figure 10",
        "winners of A_online with A_sub1 at C = 50 and at C = 100",
        "-",
        "Not run at a capacity that is the same everywhere; with epsilon 1.0 measured where C is drawn from 50 to 100",
        "verbs/admit.md",
    ),
    Untested(
        ONLINE_CLUSTERS,
        "§III, §IV-A",
        "IP (1) and IQP (4) are NP-hard",
        "proven",
        "By reductions from the multidimensional knapsack and the quadratic assignment problem; no measurement can show it",
        "verbs/admit.md",
    ),
    Untested(
        CRADLE,
        "§V",
        "all results on the tasks of 29 days of Google's trace",
        "29 days",
        "Demands of tasks are there for the first 94 minutes only. The same claims are measured on those, and on a semi-real "
        "29 days: arrivals and lifetimes of all jobs, demands drawn",
        "verbs/schedule.md",
    ),
    Untested(
        CRADLE,
        "Theorem IV.7",
        "the dynamic program for wide requests takes polynomial time",
        "polynomial",
        "A statement on complexity; that its answer is the best is tested",
        "verbs/schedule-theory.md",
    ),
    Untested(
        UCAC,
        "§6.2",
        "the seven days of a real trace",
        "-",
        "The trace is not public; the same claims are measured on a generated week",
        "verbs/ucac.md",
    ),
    Untested(
        RASA,
        "Figures 6 to 9",
        "the single gained affinities on M1, M2 and M4",
        "-",
        "Only M3 is public; clusters of the same sizes are generated",
        "verbs/rasa.md",
    ),
    Untested(
        RASA,
        "§IV-D",
        "the classifier's labels: 1,000 subproblems of four real clusters, a minute each",
        "-",
        "Three of those clusters are not public, and ours are generated; each algorithm has less than a minute",
        "verbs/collocate-selection.md",
    ),
    Untested(
        RASA,
        "§III-B",
        "side effects on the load balance of the cluster are not significant",
        "-",
        "The paper gives no number; our goal `steady` has terms for balance because local traffic alone fills machines",
        "verbs/production.md",
    ),
    Untested(RASA, "§V-F", "deployed on more than a million CPU cores", "a million cores", LIVE, "verbs/production.md"),
    Untested(
        RASA,
        "Figures 11, 12",
        "latency and errors of four pairs over days",
        "-",
        f"{LIVE}; the model gives means",
        "verbs/production.md",
    ),
    Untested(
        UCAC,
        "§6.1.4",
        "the cutting stock step takes O(a |P| N)",
        "O(a |P| N)",
        "a is what the solver needs, and is not stated: any time agrees with it",
        "verbs/ucac.md",
    ),
    Untested(
        UCAC,
        "Corollary 3",
        "with many workloads in a container its usage becomes Gaussian",
        "a limit",
        "The central limit theorem. How many workloads a container has is in no public trace; how far usage is from Gaussian is "
        "measured for §3.1",
        "verbs/pack-uncertainty.md",
    ),
    Untested(
        UCAC,
        "§3.1",
        "more mass near zero, and tails that are cut, as containers are kept in reserve and have limits",
        "-",
        "How the paper's own services are run",
        "verbs/pack-uncertainty.md",
    ),
)
