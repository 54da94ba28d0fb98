"""Which running containers should move, and to which machine? One function per method, all with one signature, in one dict."""

from collections.abc import Mapping

from bayplan.decide.rebalance.annealing import search
from bayplan.decide.rebalance.baselines import greedy, literal_greedy, nls
from bayplan.decide.rebalance.options import RebalanceOptions, Rebalancer
from bayplan.decide.rebalance.sweep_search import search_only, sweep_only, sweep_search

REBALANCERS: Mapping[str, Rebalancer] = {
    "search": search,
    "sweep-search": sweep_search,
    "nls": nls,
    "greedy": greedy,
}

__all__ = ["REBALANCERS", "RebalanceOptions", "Rebalancer", "literal_greedy", "search_only", "sweep_only"]
