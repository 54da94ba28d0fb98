"""`bayplan run` on a live cluster: a controller until it is told to end, then the answer."""

import math
import time
from typing import TYPE_CHECKING

from bayplan.cli.options.controller import RunningCluster
from bayplan.cli.options.operate import seconds_of

if TYPE_CHECKING:
    from bayplan.kubernetes.client import Json
    from bayplan.operate.run import RunAnswer
    from bayplan.operate.settings import LoopSettings


def run_controller(
    options: RunningCluster, settings: "LoopSettings", *, store: str, days: float | None, turns: int | None, quiet: bool
) -> "RunAnswer":
    """Act on the cluster whenever the lease is ours; what was done since the start, when it ends."""
    from bayplan.kubernetes.controller.controller import ControllerSettings
    from bayplan.kubernetes.controller.logs import EventLog, LogForm
    from bayplan.kubernetes.controller.start import cluster_controller
    from bayplan.model.record import Event
    from bayplan.operate.context import this_process
    from bayplan.operate.run import RunAnswer, compile_kernels
    from bayplan.operate.settings import DAY
    from bayplan.operate.store import Store

    began, identity = time.time(), this_process()
    usual = LogForm.JSON if options.in_cluster else LogForm.NONE if quiet else LogForm.TEXT
    log = EventLog(usual if options.log is None else LogForm(options.log), identity=identity)

    def tell(what: str, fields: "Json") -> None:
        log.write(Event(at=time.time(), kind=f"webhook-{what}", text=", ".join(f"{key} {fields[key]}" for key in fields)))

    with Store.open(store) as record, options.target(tell) as target:
        chosen = ControllerSettings(
            loop=settings,
            identity=identity,
            lease_namespace=target.lease[0],
            lease_name=target.lease[1],
            listen=options.address(),
            grace=seconds_of(options.grace, "--grace"),
            turns=math.inf if turns is None else turns,
            until=math.inf if days is None else began + days * DAY,
        )
        made = cluster_controller(target.client, record, chosen, target.scope, log).run(compile_kernels)
        return RunAnswer(history=record.history(began), name=target.client.context, turns=made)
