"""The loop on a real control plane while things go wrong: nothing violated, nothing left behind, always a clear last word."""

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.kubernetes.cleaning import cluster_wide_objects
from tests.kubernetes.objects import Json, deployment
from tests.kubernetes.real_cluster import ControlPlane
from tests.kubernetes.shops import Shop, make_shop
from tests.kubernetes.waiting import wait_until
from tests.kubernetes.watcher import Watcher

import bayplan as bp
from bayplan.errors import BayplanError, WorldError
from bayplan.kubernetes.client import Client, UnavailableError
from bayplan.model.record import Event, Turn, TurnVerdict
from bayplan.operate.apply import apply
from bayplan.operate.loop import Loop
from bayplan.operate.store import Store

pytestmark = pytest.mark.kubernetes
LET_GO = 30.0  # seconds: a move whose replacement has not come by then is let go, and the record says so
DOWN = float(os.environ.get("BAYPLAN_DOWN_SECONDS", "20"))  # a part of the control plane is away for as long
CLOSED = 8.0  # seconds for which no budget lets a pod go
MOVED = 2  # replicas of each service
TURNS = 5  # at most, until a plan that was cut off has come to its end


@dataclass(kw_only=True)
class Drill:
    """A shop, a watcher, and one fault in the middle of a plan."""

    plane: ControlPlane
    shop: Shop
    watcher: Watcher
    size: int
    before: set[str]
    plan: str  # a file
    threads: list[threading.Thread] = field(default_factory=list)

    def turn(self, fault: Callable[[], None], at: str = "batch") -> Turn:
        """Carry out the plan, and go on until none is open; the last turn. The fault comes with the first event of that kind."""
        context, done = self.shop.context(), []

        def tell(event: Event) -> None:
            if event.kind == at and not done:
                done.append(event)
                fault()

        context.tell = tell
        turn = apply(context, self.plan, yes=True).turn
        assert done, f"there was no event '{at}': {turn}"
        for _ in range(TURNS):
            if self.shop.store.open_plan() is None:
                break
            turn = Loop(context).turn()
        assert turn is not None
        return turn

    def given_up(self) -> str:
        """What the log says about moves that were given up."""
        return "; ".join(event.text for event in self.shop.store.history().events if event.kind == "given-up")

    def later(self, seconds: float, action: Callable[[], Any]) -> None:
        """Do something after a while, beside the loop."""
        thread = threading.Timer(seconds, action)
        self.threads.append(thread)
        thread.start()

    def half_moved(self) -> tuple[Json, str]:
        """A pod that waits, and the node that is planned for it."""
        plan = self.shop.store.open_plan()
        waiting = wait_until(lambda: [pod for pod in self.shop.pods() if pod["spec"].get("schedulingGates")], "a pod that waits")
        name = waiting[0]["metadata"]["annotations"]["bayplan.io/container"]
        return waiting[0], next(move.target for move in plan.moves if move.container == name)

    def app(self) -> str:
        """The path of a Deployment of which a pod waits."""
        pod, _ = self.half_moved()
        return f"/apis/apps/v1/namespaces/{self.shop.namespace}/deployments/{pod['metadata']['labels']['app']}"

    def expect_well(self, turn: Turn, size: int | None = None) -> None:
        """Nothing violated, nothing left behind, and a clear last word."""
        for thread in self.threads:
            thread.join()
        self.shop.wait_ready(size or self.size)
        assert self.watcher.violations == []
        assert self.watcher.gated == []
        assert self.left_behind() == set()
        assert self.shop.store.open_plan() is None
        assert turn.verdict is TurnVerdict.EXECUTED
        assert turn.why

    def left_behind(self) -> set[str]:
        """Objects of ours on the cluster."""
        return {path for path in cluster_wide_objects(self.shop.client) - self.before if "bayplan" in path}


@pytest.fixture
def drill(
    control_plane: ControlPlane,
    client: Client,
    namespace: str,
    fake_nodes: Callable[..., list[str]],
    make: Callable[..., Json],
    tmp_path: Path,
) -> Iterator[Drill]:
    """Four services with disruption budgets on eight nodes."""
    before = cluster_wide_objects(client)
    fake_nodes(8)
    shop = make_shop(client, namespace, make, deployments=4, replicas=5, constrained=False)
    file = tmp_path / "plan.json"
    _planned(shop).save(file)
    with Watcher(control_plane.kubeconfig) as watcher:
        yield Drill(plane=control_plane, shop=shop, watcher=watcher, size=len(shop.pods()), before=before, plan=str(file))


def _planned(shop: Shop) -> Any:
    """Two replicas of each service move to the node after their own."""
    snapshot = shop.orchestrator().observe().snapshot
    machine_of, moved = snapshot.placement.machine_of.copy(), Counter[int]()
    for c, w in enumerate(snapshot.cluster.containers.workload.tolist()):
        if moved[w] < MOVED:
            moved[w] += 1
            machine_of[c] = (machine_of[c] + 1) % len(snapshot.cluster.machines.name)
    answer = bp.migrate(snapshot, bp.Placement(machine_of=machine_of), way="replace", alive=0.75, seconds=20)
    assert answer.complete
    return answer


def test_a_turn_without_faults_moves_everything(drill):
    turn = drill.turn(lambda: None)
    assert turn.moved == turn.moves > 0
    assert turn.why.startswith(f"{turn.moves} of {turn.moves} containers moved")
    drill.expect_well(turn)


@pytest.mark.parametrize("part", ["scheduler", "controller_manager"])
def test_a_part_of_the_control_plane_that_is_down_for_a_while_delays_the_moves(drill, part):
    component = getattr(drill.plane, part)

    def fault() -> None:
        component.kill()
        drill.later(DOWN, component.start)

    turn = drill.turn(fault)
    drill.expect_well(turn)
    assert turn.moved == turn.moves or DOWN > LET_GO


def test_an_api_server_that_is_restarted_delays_the_moves(drill):
    turn = drill.turn(lambda: drill.plane.api_server.restart())
    drill.expect_well(turn)
    assert turn.moved == turn.moves


def test_an_api_server_that_is_killed_in_the_middle_of_a_step_delays_the_moves(drill):
    def fault() -> None:
        drill.later(1.0, drill.plane.api_server.kill)
        drill.later(5.0, drill.plane.api_server.start)

    turn = drill.turn(fault)
    drill.expect_well(turn)


def test_versions_that_the_server_has_forgotten_are_read_anew(drill):
    turn = drill.turn(drill.plane.forget_versions)  # watches and pages get 410
    drill.expect_well(turn)
    assert turn.moved == turn.moves


def test_budgets_that_let_no_pod_go_for_a_while_delay_the_moves(drill):
    budgets = f"/apis/policy/v1/namespaces/{drill.shop.namespace}/poddisruptionbudgets"
    before = {item["metadata"]["name"]: item["spec"]["maxUnavailable"] for item in drill.shop.client.list(budgets).items}
    opened = threading.Event()

    def close() -> None:
        for name in before:
            drill.shop.client.patch(f"{budgets}/{name}", {"spec": {"maxUnavailable": 0}})
        wait_until(lambda: not any(_allowed(item) for item in drill.shop.client.list(budgets).items), "closed budgets")
        drill.later(CLOSED, reopen)

    def reopen() -> None:
        opened.set()
        for name, number in before.items():
            drill.shop.client.patch(f"{budgets}/{name}", {"spec": {"maxUnavailable": number}})

    turn = drill.turn(close)
    assert opened.is_set()  # it did not end before: until then the server said 429
    drill.expect_well(turn)
    assert turn.moved == turn.moves


def _allowed(budget: Json) -> int:
    status, metadata = budget.get("status", {}), budget["metadata"]
    current = status.get("observedGeneration", 0) >= metadata["generation"]
    return int(status.get("disruptionsAllowed", 1)) if current else 1


def test_a_storm_of_refused_evictions_delays_the_moves(drill, monkeypatch):
    create, left = Client.create, [6]

    def stormy(self: Client, path: str, body: Json, **parameters: Any) -> Json:
        if path.endswith("/eviction") and "dryRun" not in parameters and left[0]:
            left[0] -= 1
            raise UnavailableError("429 TooManyRequests", status=429, delay=0.1, causes=("DisruptionBudget",))
        return create(self, path, body, **parameters)

    monkeypatch.setattr(Client, "create", stormy)
    turn = drill.turn(lambda: None)
    drill.expect_well(turn)
    assert turn.moved == turn.moves
    assert left == [0]


def test_a_target_that_is_cordoned_meanwhile_gets_nothing(drill):
    taken: list[str] = []

    def fault() -> None:
        _, node = drill.half_moved()
        drill.shop.client.patch(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}})
        taken.append(node)

    before = drill.shop.where()
    turn = drill.turn(fault)
    drill.expect_well(turn)
    assert "takes no containers any more" in drill.given_up()
    arrived = {name for name, node in drill.shop.where().items() if node == taken[0]}
    assert arrived <= {name for name, node in before.items() if node == taken[0]}


def test_a_target_that_is_deleted_meanwhile_ends_the_moves_to_it(drill):
    def fault() -> None:
        _, node = drill.half_moved()
        drill.shop.client.delete(f"/api/v1/nodes/{node}")

    turn = drill.turn(fault)
    assert turn.verdict is TurnVerdict.EXECUTED
    assert "is gone" in drill.given_up()
    assert drill.left_behind() == set()
    wait_until(lambda: not drill.watcher.gated, "no pod that waits")
    assert [text for text in drill.watcher.violations if "bound" in text] == []


def test_a_target_that_is_filled_meanwhile_is_missed_or_left(drill, make):
    def fault() -> None:
        _, node = drill.half_moved()
        make(deployment("filler", 1, cpu="3", nodeSelector={"kubernetes.io/hostname": node}))
        wait_until(lambda: [name for name in drill.shop.where() if "filler" in name], "a full node")

    turn = drill.turn(fault)
    drill.expect_well(turn, drill.size + 1)


def test_a_user_who_scales_in_the_middle_has_the_last_word(drill):
    def fault() -> None:
        path = drill.app()
        replicas = drill.shop.client.get(path)["spec"]["replicas"]
        drill.shop.client.patch(path, {"spec": {"replicas": replicas + 2}})

    turn = drill.turn(fault)
    drill.expect_well(turn, drill.size + 2)


def test_a_user_who_rolls_out_in_the_middle_has_the_last_word(drill):
    path: list[str] = []

    def fault() -> None:
        path.append(drill.app())
        change = {"spec": {"template": {"metadata": {"annotations": {"version": "2"}}}}}
        drill.shop.client.patch(path[0], change)

    turn = drill.turn(fault)
    wait_until(lambda: _rolled_out(drill.shop.client.get(path[0])), "the end of the rollout")
    assert turn.verdict is TurnVerdict.EXECUTED
    drill.shop.wait_ready(drill.size)
    assert drill.watcher.gated == []
    assert drill.left_behind() == set()


def test_a_user_who_deletes_a_deployment_in_the_middle_has_the_last_word(drill):
    gone: list[int] = []

    def fault() -> None:
        path = drill.app()
        gone.append(drill.shop.client.get(path)["spec"]["replicas"])
        drill.shop.client.delete(path, {"propagationPolicy": "Foreground"})

    turn = drill.turn(fault)
    wait_until(lambda: len(drill.shop.pods()) == drill.size - gone[0], "the end of the Deployment")
    drill.shop.wait_ready(drill.size - gone[0])
    assert turn.verdict is TurnVerdict.EXECUTED
    assert drill.left_behind() == set()


def test_of_two_loops_one_acts_and_the_other_goes_on_when_it_stops(drill):
    first, second = drill.shop.context(), drill.shop.context()
    first.holder, second.holder = "first", "second"
    seen: list[Turn | None] = []

    def tell(event: Event) -> None:
        if event.kind == "batch" and not seen:
            seen.append(Loop(second).turn())

    first.tell = tell
    turn = apply(first, drill.plan, yes=True).turn
    assert seen == [None]  # nothing was done and nothing recorded
    assert turn is not None
    drill.expect_well(turn)


def test_two_loops_that_know_nothing_of_each_other_do_no_harm(drill):
    """Two leases, two records: set up wrongly, and still nothing is violated or left."""
    other = replace(drill.shop, store=Store.open(str(Path(drill.plan).with_name("other.db"))))
    both, last_words = threading.Barrier(2, timeout=60), []

    def carry_out(shop: Shop) -> None:
        context, waited = shop.context(), []

        def tell(event: Event) -> None:
            if event.kind == "batch" and not waited:  # each has checked its plan, and has done nothing yet
                waited.append(event)
                both.wait()

        context.tell = tell
        try:
            last_words.append(apply(context, drill.plan, yes=True).headline)
        except BayplanError as error:
            last_words.append(str(error))

    threads = [threading.Thread(target=carry_out, args=[shop]) for shop in (drill.shop, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for shop in (drill.shop, other):
        for _ in range(TURNS):
            if shop.store.open_plan() is None:
                break
            Loop(shop.context()).turn()
        assert shop.store.open_plan() is None
    drill.shop.wait_ready(drill.size)
    assert [bool(words) for words in last_words] == [True, True]
    assert (drill.watcher.violations, drill.watcher.gated, drill.left_behind()) == ([], [], set())


def test_a_process_that_sleeps_while_another_takes_over_can_do_nothing_more(drill):
    first, second = drill.shop.context(), drill.shop.context()
    first.holder, second.holder = "first", "second"
    turns: list[Turn | None] = []

    def tell(event: Event) -> None:
        if event.kind == "batch" and not turns:
            drill.shop.store.release(first.fence)  # as if its lease had run out while it slept
            turns.append(Loop(second).turn())

    first.tell = tell
    with pytest.raises(WorldError, match="has taken over"):
        apply(first, drill.plan, yes=True)
    assert turns[0] is not None
    drill.expect_well(turns[0])


def _rolled_out(item: Json) -> bool:
    status = item["status"]
    current = status.get("observedGeneration", 0) >= item["metadata"]["generation"]
    return bool(current and status.get("updatedReplicas") == status.get("replicas") == status.get("readyReplicas"))
