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
        "Figure 5(b), (c)",
        "SSD of the 300 hottest servers: Greedy 97.71 %, NLS 93.15 %, S&S 81.33 %",
        "81.33 %",
        "Only CPU of the hottest servers is recorded (`costs.csv`)",
        "verbs/rebalance.md",
    ),
    Untested(
        FREECONTAINER,
        "§VI-B2",
        "a larger delta takes more time to sweep",
        "-",
        "Methods have a time limit of 10 s in common; the time of the stages is not recorded apart",
        "verbs/rebalance.md",
    ),
    Untested(
        FREECONTAINER,
        "Figure 7(b), (c)",
        "no long tail of memory and SSD",
        "-",
        "The performance model has CPU alone",
        "verbs/production.md",
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
        FREECONTAINER,
        "Appendix A",
        "Sweep&Search deviates from the optimum by a bounded amount",
        "proven",
        "The probability in the proof is inverted as printed, so there is no statement to test",
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
        "Theorems 2, 4",
        "polynomial time",
        "O(S^(n+1) V^2 log V)",
        "Growth with S and V is not fitted; seconds are in Figures 5 and 11",
        "verbs/admit.md",
    ),
    Untested(
        ONLINE_CLUSTERS,
        "Lemmas 2, 3, Theorem 3",
        "A_sub1 is within 1 + (1 + epsilon) c V of the optimum with high probability",
        "-",
        "The bound is so wide (above 9 for V = 8) that no measured ratio comes near it",
        "verbs/admit.md",
    ),
    Untested(
        ONLINE_CLUSTERS,
        "§VI-B1",
        "the online framework loses little beside the one-shot ratios",
        "small",
        "The two ratios are to different optima, and the paper names no size; both are in the tables",
        "verbs/admit.md",
    ),
    Untested(
        CRADLE,
        "§V",
        "all results on 29 days of Google's trace",
        "29 days",
        "Task events of the first 94 minutes are what can be had; the same claims are measured on them",
        "verbs/schedule.md",
    ),
    Untested(
        CRADLE,
        "§V",
        "operators can reduce their infrastructure by a similar factor",
        "about 10 %",
        "Fewest machines for a share served are an answer of `bayplan schedule --serve`; no experiment compares methods by it",
        "verbs/schedule.md",
    ),
    Untested(
        CRADLE,
        "§IV",
        "O(n log n) with a sweep line",
        "n log n",
        "Not as a claim; times up to a million requests are in the benchmarks",
        "benchmarks.md",
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
        "Lemma 1",
        "the affinity of all but the first services vanishes",
        "proven",
        "It needs a beta above 1",
        "verbs/rasa.md",
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
        "Those clusters are not public; ours are generated, and answered within seconds",
        "verbs/collocate-selection.md",
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
)
