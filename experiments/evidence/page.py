"""`python -m experiments.evidence.page`: docs/evidence.md, every claim of the five papers in one table, from the raw results."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from experiments.evidence.causes import key_of, reason
from experiments.evidence.papers import NAMES, measured_claims
from experiments.evidence.theorems import THEOREMS
from experiments.evidence.untested import UNTESTED
from experiments.results import ROOT, on_page, table
from experiments.verdicts import RULE, Claim, Verdict

DOCS = ROOT / "docs" / "evidence.md"
NO_ROWS = "Its rows are not measured yet"
SHORT = 90  # characters of a reason that stands in the table itself; others are numbered and stand below it
HEAD = ("paper", "where", "claim", "the paper's number", "ours", "rule", "verdict", "why", "details")


class Line(NamedTuple):
    """A claim, and why it is not reproduced or not tested."""

    paper: str
    claim: Claim
    why: str = ""

    def cells(self, why: str) -> list[str]:
        """Of the table; `why`: the reason, or where it stands."""
        claim = self.claim
        more = "; ".join(filter(None, (f"cases: {claim.cases}" if claim.cases else "", claim.scale)))
        ours = f"{claim.ours} ({more})" if more else claim.ours
        link = f"[{claim.page.rpartition('/')[2]}]({claim.page})" if claim.page else "-"
        word = f"**{claim.verdict}**" if claim.verdict is Verdict.NOT else str(claim.verdict)
        return [self.paper, claim.where, claim.text, claim.stated, ours, claim.rule, word, why or "-", link]


def lines_of(paper: str) -> Iterator[Line]:
    """What was measured, what is proven and tried, and what is not tested."""
    for claim in measured_claims(paper):
        yield Line(paper, claim, _why(paper, claim))
    for theorem in THEOREMS:
        if theorem.paper == paper:
            yield Line(
                paper, theorem.claim, f"{theorem.why}. Check: `{theorem.command}`" if theorem.why else f"`{theorem.command}`"
            )
    for one in UNTESTED:
        if one.paper == paper:
            yield Line(paper, one.claim, one.why)


def _why(paper: str, claim: Claim) -> str:
    """Of a claim that an experiment measures: the cause of its verdict, with the command that shows it."""
    if claim.verdict is Verdict.UNTESTED:
        return NO_ROWS
    why = reason(paper, claim)
    return f"{why}. Check: `python -m experiments.evidence.causes {key_of(paper)}`" if why else ""


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


def _is_long(why: str) -> bool:
    """Too long for the table? A command alone is not: each claim has its own."""
    return len(why) > SHORT and not why.startswith("`")


def numbered(lines: Sequence[Line]) -> dict[tuple[str, str], str]:
    """The number of each long reason of a paper: 'FreeContainer 3'. Claims with the same reason share it."""
    number: dict[tuple[str, str], str] = {}
    for paper in NAMES:
        reasons = dict.fromkeys(line.why for line in lines if line.paper == paper and _is_long(line.why))
        number |= {(paper, why): f"{paper} {n}" for n, why in enumerate(reasons, start=1)}
    return number


def reasons_below(number: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """The long reasons, paper by paper."""
    yield from ("## Reasons", "")
    for paper in NAMES:
        yield from (f"### Reasons: {paper}", "")
        for (one, why), name in number.items():
            if one == paper:
                yield from (f"- **{name}**: {why}" + ("" if why.endswith(("`", ".")) else "."), "")


def _table(lines: Sequence[Line], number: Mapping[tuple[str, str], str]) -> list[str]:
    def why(line: Line) -> str:
        name = number.get((line.paper, line.why))
        return f"[{name}](#reasons-{key_of(line.paper)})" if name else line.why

    return table(HEAD, (line.cells(why(line)) for line in lines))


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
        "*Why* names the cause where "
        "a claim is not reproduced; [below the table](#reasons) it stands in full, with a command that prints the numbers behind "
        "it from the raw results. What was measured in "
        "production, [RASA] Figures 11 to 13 and [FreeContainer] §VII, is compared with a model of it: "
        "[production](verbs/production.md)."
    )
    when = (
        "The rule was written down when most of this was measured already; its tolerance is the one that the pages on production "
        "had before. It replaced rules of single experiments that counted what lies far beyond a number as reproduced."
    )
    head = ["# Evidence: every claim of the papers", "", about, "", RULE, "", when, "", scale, "", *counts(lines), ""]
    number = numbered(lines)
    return "\n".join([*on_page(head), *_table(lines, number), "", *on_page(list(reasons_below(number)))])


if __name__ == "__main__":
    DOCS.write_text(page(), encoding="utf-8")
