"""The real descheduler, run once: the peer that bayplan is compared with."""

import subprocess
import tempfile
from pathlib import Path

from tests.kubernetes import binary

LOW_NODE_UTILIZATION = """
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: balance
  pluginConfig:
  - name: DefaultEvictor
    args: {nodeFit: true}
  - name: LowNodeUtilization
    args:
      thresholds: {cpu: 30, memory: 30}
      targetThresholds: {cpu: 60, memory: 60}
  plugins:
    balance: {enabled: [LowNodeUtilization]}
"""
TOPOLOGY_SPREAD = """
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: spread
  pluginConfig:
  - name: DefaultEvictor
    args: {nodeFit: true}
  - name: RemovePodsViolatingTopologySpreadConstraint
    args: {constraints: [DoNotSchedule, ScheduleAnyway]}
  plugins:
    balance: {enabled: [RemovePodsViolatingTopologySpreadConstraint]}
"""


def run_descheduler(kubeconfig: Path | str, policy_yaml: str, *, seconds: float = 600.0, level: int = 1) -> str:
    """Run the descheduler once over the cluster with this policy; its log, which names each eviction from level 1 on."""
    with tempfile.TemporaryDirectory(prefix="bayplan-descheduler-") as folder:
        policy = Path(folder) / "policy.yaml"
        policy.write_text(policy_yaml, encoding="utf-8")
        command = [
            str(binary.built()),
            "descheduler",
            f"--kubeconfig={kubeconfig}",
            f"--policy-config-file={policy}",
            "--descheduling-interval=0",  # once
            "--disable-metrics",
            "--secure-port=0",
            "--client-connection-qps=500",
            "--client-connection-burst=1000",
            f"--v={level}",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    if done.returncode:
        raise RuntimeError(f"the descheduler failed: {done.stderr[-2000:]}")
    return done.stdout + done.stderr
