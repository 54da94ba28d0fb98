"""`python -m experiments.selection.train`: train on runs.csv, write weights.json and choices.csv, then the tables.

Clusters are parted, never the subproblems of one: every third cluster judges and is not trained on. On the others, five folds
tell how good each network is. The same rows give the same weights.
"""

import csv
import sys
from collections.abc import Sequence

import numpy as np

from bayplan.decide.collocate.select.networks import (
    GCN,
    GCN_SIZES,
    MLP,
    WEIGHTS_FILE,
    Network,
    gcn_scores,
    mlp_scores,
    networks_text,
    read_networks,
)
from bayplan.decide.collocate.select.selector import LABELS
from bayplan.model import FloatArray, floats, ints
from experiments.results import rows
from experiments.selection.examples import EQUAL, FOLDS, HERE, RUNS, Example, accuracy, examples, regret
from experiments.selection.networks import AdamW, batch, frozen, loss_and_gradient, new_weights, scale_of
from experiments.selection.tables import CHOICES, write_page

KINDS = (GCN, GCN_SIZES, MLP)
SEED, EPOCHS, RATE, DECAY = 0, 400, 0.01, 1e-3
LEAST = 0.002  # a wrong choice counts as what it loses, and this much more; a tie does not count


def train(kind: str, shown: Sequence[Example]) -> Network:
    """A network that was shown all of them, each weighted by what the wrong choice loses."""
    graphs = [example.graph for example in shown]
    scale = scale_of(graphs)
    weights, inputs = new_weights(kind, np.random.default_rng(SEED)), batch(kind, graphs, scale)
    label = ints([0 if example.label == EQUAL else LABELS.index(example.label) for example in shown])
    optimiser, weight = AdamW(weights=weights, rate=RATE, decay=DECAY), weight_of(shown)
    for _ in range(EPOCHS):
        optimiser.step(loss_and_gradient(weights, inputs, label, weight)[1])
    return frozen(kind, weights, scale)


def weight_of(shown: Sequence[Example]) -> FloatArray:
    """(example,) how much each counts, of a total of 1."""
    weight = np.array([0.0 if example.label == EQUAL else LEAST + max(example.lost.values()) for example in shown])
    return floats(weight / max(weight.sum(), 1e-300))


def choices(kind: str, network: Network, judged: Sequence[Example]) -> list[str]:
    """What a network chooses for each, as the package computes it."""
    score = mlp_scores if kind == MLP else gcn_scores
    return [LABELS[int(np.argmax(score(example.graph, network)))] for example in judged]


def folded(kind: str, shown: Sequence[Example]) -> list[str]:
    """What networks choose for each that were not shown its fold."""
    chosen = {}
    for fold in range(FOLDS):
        rest, judged = ([example for example in shown if (example.fold == fold) is here] for here in (False, True))
        if judged:
            names = [example.name for example in judged]
            chosen |= dict(zip(names, choices(kind, train(kind, rest), judged), strict=True))
    return [chosen[example.name] for example in shown]


def note(everything: Sequence[Example], judged: Sequence[Example], chosen: dict[str, list[str]]) -> dict[str, object]:
    """How the weights came about."""
    label, lost = [example.label for example in judged], [example.lost for example in judged]
    budgets = sorted({float(row["budget"]) for row in rows(HERE / RUNS)})
    return {
        "made by": "python -m experiments.selection.train",
        "seed": SEED,
        "subproblems": len(everything),
        "trained on": len(everything) - len(judged),
        "held out": len(judged),
        "labelling budget, seconds per algorithm": budgets[0] if len(budgets) == 1 else budgets,
        "on the held out": {
            kind: {"right": round(accuracy(label, each), 4), "lost": round(regret(lost, each), 5)}
            for kind, each in chosen.items()
        },
    }


def main() -> None:
    """Train, judge, write."""
    everything = examples()
    shown, judged = ([example for example in everything if example.is_held_out is held] for held in (False, True))
    if len({example.fold for example in shown}) < 2 or not judged:
        sys.exit(f"{len(everything)} labelled subproblems: too few to train on some clusters and judge on others")
    networks = {kind: train(kind, shown) for kind in KINDS}
    networks = dict(read_networks(networks_text(networks, {}))[0])  # with the digits that are shipped
    held = {kind: choices(kind, networks[kind], judged) for kind in KINDS}
    inside = {kind: folded(kind, shown) for kind in KINDS}
    WEIGHTS_FILE.write_text(networks_text(networks, note(everything, judged, held)), encoding="utf-8")
    with CHOICES.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", *KINDS])
        for group, chosen in ((shown, inside), (judged, held)):
            names = [example.name for example in group]
            writer.writerows(zip(names, *(chosen[kind] for kind in KINDS), strict=True))
    write_page()


if __name__ == "__main__":
    main()
