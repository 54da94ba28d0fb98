"""`python -m experiments.evidence.page`: docs/evidence.md, every claim of the five papers in one table, from the raw results."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from experiments.evidence.causes import key_of, reason
from experiments.evidence.papers import NAMES, measured_claims
from experiments.evidence.theorems import THEOREMS
from experiments.evidence.untested import UNTESTED
from experiments.results import ROOT, on_page, table
from experiments.verdicts import RULE, Claim, Verdict

DOCS = ROOT / "docs" / "evidence.md"
NO_ROWS = "Its rows are not measured yet"
HEAD = ("paper", "where", "claim", "the paper's number", "ours", "rule", "verdict", "why", "details")


class Line(NamedTuple):
    """A claim, and why it is not reproduced or not tested."""

    paper: str
    claim: Claim
    why: str = ""

    @property
    def cells(self) -> list[str]:
        """Of the table."""
        claim = self.claim
        more = "; ".join(filter(None, (f"cases: {claim.cases}" if claim.cases else "", claim.scale)))
        ours = f"{claim.ours} ({more})" if more else claim.ours
        link = f"[{claim.page.rpartition('/')[2]}]({claim.page})" if claim.page else "-"
        word = f"**{claim.verdict}**" if claim.verdict is Verdict.NOT else str(claim.verdict)
        return [self.paper, claim.where, claim.text, claim.stated, ours, claim.rule, word, self.why or "-", link]


def lines_of(paper: str) -> Iterator[Line]:
    """What was measured, what is proven and tried, and what is not tested."""
    for claim in measured_claims(paper):
        why = reason(paper, claim)
        missing = NO_ROWS if claim.verdict is Verdict.UNTESTED else ""
        yield Line(paper, claim, f"{why}. Check: `python -m experiments.evidence.causes {key_of(paper)}`" if why else missing)
    for theorem in THEOREMS:
        if theorem.paper == paper:
            yield Line(
                paper, theorem.claim, f"{theorem.why}. Check: `{theorem.command}`" if theorem.why else f"`{theorem.command}`"
            )
    for one in UNTESTED:
        if one.paper == paper:
            yield Line(paper, one.claim, one.why)


def every_line() -> list[Line]:
    """Of all papers."""
    return [line for paper in NAMES for line in lines_of(paper)]


def counts(lines: Sequence[Line]) -> list[str]:
    """How many claims of each paper have which verdict."""
    body = []
    for paper in NAMES:
        found = Counter(line.claim.verdict for line in lines if line.paper == paper)
        body.append([paper, str(found.total()), *(str(found[word]) for word in Verdict)])
    return table(("paper", "claims", *Verdict), body)


def page() -> str:
    """The whole page."""
    lines = every_line()
    about = (
        "What the five papers claim, what we measured, and whether that agrees. Made by `python -m "
        "experiments.evidence.page`, or "
        "`make docs`, from the CSV files in `experiments/`: no number here is typed but those of the papers. To measure a paper "
        "again: `bayplan reproduce PAPER`, which prints the same verdicts; `--quick` for a first look."
    )
    scale = (
        "In brackets after our number: how many cases hold, and what is smaller than in the paper, or other. "
        "*Why* has the cause where "
        "a claim is not reproduced, with a command that prints the numbers behind it from the raw results. What was measured in "
        "production, [RASA] Figures 11 to 13 and [FreeContainer] §VII, is compared with a model of it: "
        "[production](verbs/production.md)."
    )
    when = (
        "The rule was written down when most of this was measured already; its tolerance is the one that the pages on production "
        "had before. It replaced rules of single experiments that counted what lies far beyond a number as reproduced."
    )
    head = ["# Evidence: every claim of the papers", "", about, "", RULE, "", when, "", scale, "", *counts(lines), ""]
    return "\n".join([*on_page(head), *table(HEAD, (line.cells for line in lines)), ""])


if __name__ == "__main__":
    DOCS.write_text(page(), encoding="utf-8")
