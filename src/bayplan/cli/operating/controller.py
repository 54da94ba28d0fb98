"""`bayplan run` on a live cluster: a controller until it is told to end, then the answer."""

import math
import time
from typing import TYPE_CHECKING

from bayplan.cli.options.controller import LiveClusterOptions
from bayplan.cli.options.operate import seconds_of

if TYPE_CHECKING:
    from bayplan.operate.run import RunAnswer
    from bayplan.operate.settings import LoopSettings


def run_controller(
    options: LiveClusterOptions, settings: "LoopSettings", *, store: str, days: float | None, turns: int | None, quiet: bool
) -> "RunAnswer":
    """Act on the cluster whenever the lease is ours; what was done since the start, when it ends."""
    from bayplan.kubernetes.controller.controller import ControllerSettings
    from bayplan.kubernetes.controller.logs import EventLog, LogForm
    from bayplan.kubernetes.controller.start import ClusterScope, cluster_controller
    from bayplan.operate.context import this_process
    from bayplan.operate.run import RunAnswer, compile_kernels
    from bayplan.operate.settings import DAY
    from bayplan.operate.store import Store

    client, began = options.client(), time.time()
    namespace, name = options.lease_parts(client.namespace)
    chosen = ControllerSettings(
        loop=settings,
        identity=this_process(),
        lease_namespace=namespace,
        lease_name=name,
        listen=options.address(),
        grace=seconds_of(options.grace, "--grace"),
        turns=math.inf if turns is None else turns,
        until=math.inf if days is None else began + days * DAY,
    )
    usual = LogForm.JSON if options.in_cluster else LogForm.NONE if quiet else LogForm.TEXT
    log = EventLog(usual if options.log is None else LogForm(options.log), identity=chosen.identity)
    scope = ClusterScope(namespaces=options.scope(client), kinds=frozenset(options.kinds), measure=options.measure)
    with Store.open(store) as record:
        controller = cluster_controller(client, record, chosen, scope, log)
        made = controller.run(compile_kernels)
        return RunAnswer(history=record.history(began), name=client.context, turns=made)
