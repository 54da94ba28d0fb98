"""`python -m experiments.selection.train`: train on runs.csv, write weights.json and choices.csv, then the tables.

Needs the extra `train` (torch). Clusters are parted, never the subproblems of one: every third cluster judges and is not
trained on. On the others, five folds tell how good each network is; whether the shipped GCN takes sizes is decided there.
"""

from __future__ import annotations

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
from experiments.results import rows
from experiments.selection.examples import FOLDS, HERE, RUNS, Example, accuracy, examples, regret
from experiments.selection.networks import batch, forward, frozen, new_layers, scale_of
from experiments.selection.tables import CHOICES, write_page

KINDS = (GCN, GCN_SIZES, MLP)
SEED, EPOCHS, RATE, DECAY = 0, 400, 0.01, 1e-3
LEAST = 0.002  # a wrong choice counts as what it loses, and so much more: near ties count, but little


def train(kind: str, some: Sequence[Example]) -> Network:
    """A network that was shown all of them, each weighted by what the wrong choice loses."""
    import torch

    torch.set_num_threads(1)
    graphs = [one.graph for one in some]
    scale = scale_of(graphs)
    shown, layers = batch(graphs, scale), new_layers(kind, np.random.default_rng(SEED))
    wanted = torch.tensor([LABELS.index(one.label) for one in some])
    weight = torch.tensor([LEAST + max(one.lost.values()) for one in some], dtype=torch.float64)
    weight /= weight.sum()
    optimiser = torch.optim.AdamW([tensor for pair in layers for tensor in pair], lr=RATE, weight_decay=DECAY)
    for _ in range(EPOCHS):
        optimiser.zero_grad()
        loss = weight @ torch.nn.functional.cross_entropy(forward(kind, layers, shown), wanted, reduction="none")
        loss.backward()
        optimiser.step()
    return frozen(kind, layers, scale)


def choices(kind: str, network: Network, some: Sequence[Example]) -> list[str]:
    """What a network says about each, as the package computes it."""
    score = mlp_scores if kind == MLP else gcn_scores
    return [LABELS[int(np.argmax(score(one.graph, network)))] for one in some]


def folded(kind: str, some: Sequence[Example]) -> list[str]:
    """What networks say about each that were not shown its fold."""
    said = {}
    for fold in range(FOLDS):
        rest, judged = ([one for one in some if (one.fold == fold) is here] for here in (False, True))
        if judged:
            said |= dict(zip([one.name for one in judged], choices(kind, train(kind, rest), judged), strict=True))
    return [said[one.name] for one in some]


def note(everything: Sequence[Example], judged: Sequence[Example], said: dict[str, list[str]]) -> dict[str, object]:
    """How the weights came about."""
    budgets = sorted({float(row["budget"]) for row in rows(HERE / RUNS)})
    found = {kind: (accuracy(judged, chosen), regret(judged, chosen)) for kind, chosen in said.items()}
    return {
        "made by": "python -m experiments.selection.train",
        "seed": SEED,
        "subproblems": len(everything),
        "trained on": len(everything) - len(judged),
        "held out": len(judged),
        "labelling budget, seconds per algorithm": budgets[0] if len(budgets) == 1 else budgets,
        "on the held out": {kind: {"right": round(a, 4), "lost": round(b, 5)} for kind, (a, b) in found.items()},
    }


def main() -> None:
    """Train, judge, write."""
    everything = examples()
    shown, judged = ([one for one in everything if one.is_held_out is held] for held in (False, True))
    networks = {kind: train(kind, shown) for kind in KINDS}
    networks = dict(read_networks(networks_text(networks, {}))[0])  # with the digits that are shipped
    held = {kind: choices(kind, networks[kind], judged) for kind in KINDS}
    inside = {kind: folded(kind, shown) for kind in KINDS}
    for kind in KINDS:
        print(
            f"{kind}: folds {accuracy(shown, inside[kind]):.3f}, {regret(shown, inside[kind]):.4f}; "
            f"held out {accuracy(judged, held[kind]):.3f}, {regret(judged, held[kind]):.4f}",
            file=sys.stderr,
        )
    WEIGHTS_FILE.write_text(networks_text(networks, note(everything, judged, held)), encoding="utf-8")
    with CHOICES.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", *KINDS])
        for group, said in ((shown, inside), (judged, held)):
            writer.writerows([one.name, *(said[kind][k] for kind in KINDS)] for k, one in enumerate(group))
    write_page()


if __name__ == "__main__":
    main()
