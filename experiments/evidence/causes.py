"""`python -m experiments.evidence.causes [PAPER]`: why claims are not reproduced, with numbers from the raw results.

PAPER is one of freecontainer, online-clusters, cradle, ucac, rasa. Each cause is printed once, with the claims that it explains.
"""

import sys
from collections.abc import Mapping, Sequence

from experiments.evidence import cradle_causes, freecontainer_causes, online_causes, rasa_causes, ucac_causes
from experiments.evidence.cause import Cause
from experiments.evidence.papers import CRADLE, FREECONTAINER, NAMES, ONLINE_CLUSTERS, RASA, UCAC, measured_claims
from experiments.verdicts import Claim, Verdict

CAUSES: Mapping[str, Sequence[Cause]] = {
    FREECONTAINER: freecontainer_causes.CAUSES,
    ONLINE_CLUSTERS: online_causes.CAUSES,
    CRADLE: cradle_causes.CAUSES,
    UCAC: ucac_causes.CAUSES,
    RASA: rasa_causes.CAUSES,
}
OFF = (Verdict.DIRECTION, Verdict.NOT)


def reason(paper: str, claim: Claim) -> str:
    """Why a claim is not reproduced; empty if it is, or if no cause is known."""
    if claim.verdict not in OFF:
        return ""
    found = ((cause, cause.explains(claim)) for cause in CAUSES[paper])
    return next((cause.sentence(match) for cause, match in found if match), "")


def key_of(paper: str) -> str:
    """'online-clusters' of 'Online clusters'."""
    return paper.casefold().replace(" ", "-")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the causes of one paper, or of all."""
    names = sys.argv[1:] if argv is None else argv
    papers = {key_of(paper): paper for paper in NAMES}
    unknown = [name for name in names if name not in papers]
    if unknown:
        sys.exit(f"no paper '{unknown[0]}'; expected some of {', '.join(papers)}")
    for name in names or papers:
        explained: dict[str, list[str]] = {}
        for claim in measured_claims(papers[name]):
            if claim.verdict in OFF:
                line = f"{claim.where}: {claim.text}: {claim.ours} (paper {claim.stated}): {claim.verdict}"
                explained.setdefault(reason(papers[name], claim), []).append(line)
        for sentence, lines in explained.items():
            print(f"[{papers[name]}] {sentence}.")
            print("".join(f"    {line}\n" for line in lines))


if __name__ == "__main__":
    main()
