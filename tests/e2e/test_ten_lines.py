"""Building a cluster in code and comparing two methods takes at most ten lines and one import."""

TEN_LINES = """\
import bayplan as bp
two = bp.ClusterBuilder("two").machines("m-{}", 2, cpu=8, memory="32Gi", safety=0.8)
two.workload("web", replicas=4, cpu="1500m", memory="2Gi", on=["m-0"] * 4)
two.workload("db", cpu=2, memory="8Gi", on="m-1").traffic("web", "db", 10.0)
answers = {}
for method in ("search", "greedy"):
    answers[method] = bp.rebalance(two.build(), method=method, budget=bp.Budget(iterations=1000))
    print(method, answers[method])
"""


def test_a_cluster_in_code_and_two_methods_take_at_most_ten_lines(capsys):
    assert len(TEN_LINES.splitlines()) <= 10 and TEN_LINES.count("import") == 1
    names: dict = {}
    exec(TEN_LINES, names)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["search", "greedy"]
    assert all(answer.score["total"] < answer.before["total"] for answer in names["answers"].values())
