"""What is shipped for Kubernetes is well formed, carries our version, gives no right too many, and is the same in both forms."""

import re
from pathlib import Path

import pytest
import yaml

from bayplan.version import __version__

ROOT = Path(__file__).parents[3]
CHART = ROOT / "deploy" / "helm" / "bayplan"
KUSTOMIZE = ROOT / "deploy" / "kustomize"
RULES = sorted((CHART / "rules").glob("*.yaml"))
PLAIN = sorted(
    [*KUSTOMIZE.rglob("*.yaml"), *RULES, *(CHART / "files").glob("*.yaml"), CHART / "Chart.yaml", CHART / "values.yaml"]
)
CHANGES = {"create", "update", "patch", "delete", "deletecollection", "bind", "escalate", "impersonate", "approve", "sign"}


def documents(path):
    return [each for each in yaml.safe_load_all(path.read_text(encoding="utf-8")) if each]


def kustomize_objects(folder):
    listed = documents(KUSTOMIZE / folder / "kustomization.yaml")[0]["resources"]
    return [each for name in listed if name.endswith(".yaml") for each in documents(KUSTOMIZE / folder / name)]


def rules_of(name):
    return documents(CHART / "rules" / f"{name}.yaml")[0]


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_is_well_formed(path):
    assert documents(path)


@pytest.mark.parametrize("folder", ["base", "auto", "cronjob"])
def test_every_object_of_kustomize_has_a_kind_and_a_name(folder):
    objects = kustomize_objects(folder)
    assert objects and all(each["apiVersion"] and each["kind"] and each["metadata"]["name"] for each in objects)
    names = [(each["kind"], each["metadata"]["name"]) for each in objects]
    assert len(set(names)) == len(names)


def test_chart_image_and_kustomize_have_the_version_of_the_package():
    chart = documents(CHART / "Chart.yaml")[0]
    assert (chart["version"], str(chart["appVersion"])) == (__version__, __version__)
    for folder in ("base", "cronjob"):
        (image,) = documents(KUSTOMIZE / folder / "kustomization.yaml")[0]["images"]
        assert image == {"name": "bayplan", "newTag": __version__}
    assert f"org.opencontainers.image.version={__version__}" in (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")


def all_rules():
    for path in RULES:
        yield from ((path.stem, rule) for rule in documents(path)[0])
    for folder in ("base", "auto"):
        for each in kustomize_objects(folder):
            yield from ((each["metadata"]["name"], rule) for rule in each.get("rules", ()) if each["kind"].endswith("Role"))


def test_no_rule_has_a_wildcard():
    assert [rule for rule in all_rules() if "*" in str(rule)] == []


def test_no_rule_reads_secrets_or_config_maps_or_changes_rights():
    forbidden = {
        "secrets",
        "configmaps",
        "serviceaccounts",
        "roles",
        "rolebindings",
        "clusterroles",
        "clusterrolebindings",
        "pods/exec",
    }
    assert [rule for rule in all_rules() if forbidden & set(rule[1]["resources"])] == []


@pytest.mark.parametrize("name", ["reader", "prometheus", "extender"])
def test_the_roles_that_read_change_nothing(name):
    assert [rule for rule in rules_of(name) if CHANGES & set(rule["verbs"])] == []


def test_pods_are_never_deleted_or_created_and_nothing_is_deleted_but_gates():
    rights = {(resource, verb) for name in ("reader", "reporter", "mover", "gate") for rule in rules_of(name)
              for resource in rule["resources"] for verb in rule["verbs"]}  # fmt: skip
    assert {resource for resource, verb in rights if verb in ("delete", "deletecollection")} == {
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
    }
    assert {resource for resource, verb in rights if verb == "create"} == {
        "events",
        "pods/eviction",
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
    }


@pytest.mark.parametrize(("folder", "name"), [("base", "reader"), ("base", "reporter"), ("auto", "mover"), ("auto", "gate")])
def test_kustomize_gives_the_rights_of_the_chart(folder, name):
    (role,) = [
        each
        for each in kustomize_objects(folder)
        if each["kind"] == "ClusterRole" and each["metadata"]["name"] == f"bayplan-{name}"
    ]
    assert role["rules"] == rules_of(name)


@pytest.mark.parametrize("part", ["pods", "owners"])
def test_kustomize_has_the_guard_of_the_chart(part):
    shipped = documents(CHART / "files" / "guard.yaml")[0][part]
    policies = [each for each in kustomize_objects("auto") if each["kind"] == "ValidatingAdmissionPolicy"]
    (policy,) = [each for each in policies if each["metadata"]["name"] == f"bayplan-guard-{part}"]
    assert {key: policy["spec"][key] for key in shipped} == shipped


def test_kustomize_starts_the_controller_with_the_defaults_of_the_chart():
    values = documents(CHART / "values.yaml")[0]
    (deployment,) = [each for each in kustomize_objects("base") if each["kind"] == "Deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["resources"] == values["resources"] and deployment["spec"]["replicas"] == values["replicas"]
    assert {f"--mode={values['mode']}", f"--every={values['every']}", f"--lease=bayplan/{values['lease']}"} <= set(
        container["args"]
    )


def pods():
    for folder in ("base", "cronjob"):
        for each in kustomize_objects(folder):
            spec = each.get("spec", {})
            spec = spec.get("jobTemplate", {}).get("spec", spec)
            if "template" in spec:
                yield each["kind"], spec["template"]["spec"]


@pytest.mark.parametrize(("kind", "pod"), list(pods()), ids=[kind for kind, _ in pods()])
def test_pods_have_no_privilege_and_a_root_file_system_that_cannot_be_written(kind, pod):
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert set(container["resources"]) == {"requests", "limits"} and "memory" in container["resources"]["limits"]
    written = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert written == {"/data", "/cache", "/tmp"}
    assert {"name": "BAYPLAN_CACHE_DIR", "value": "/cache"} in container["env"]


def test_every_value_that_a_template_uses_is_in_values_and_the_other_way_round():
    values = documents(CHART / "values.yaml")[0]
    text = "\n".join(path.read_text(encoding="utf-8") for path in (CHART / "templates").iterdir())
    used = set(re.findall(r"\.Values\.(\w+)", text))
    assert used == set(values)
    for name in [
        name
        for name, value in values.items()
        if isinstance(value, dict) and name not in ("resources", "nodeSelector", "affinity", "podAnnotations")
    ]:
        nested = set(re.findall(rf"\.Values\.{name}\.(\w+)", text)) | (
            set(re.findall(r"[{( ]\.(\w+)", text)) if name == "image" else set()
        )
        assert set(values[name]) <= nested, name


def test_the_options_that_are_passed_exist():
    from typer.main import get_command

    from bayplan.cli.main import app

    text = "\n".join(path.read_text(encoding="utf-8") for path in (CHART / "templates").glob("*"))
    for command, words in (("serve", text[text.index("- serve") : text.index("env:", text.index("- serve"))]),
                           ("run", text[text.index("- run") : text.index("env:", text.index("- run"))])):  # fmt: skip
        known = {option for parameter in get_command(app).commands[command].params for option in parameter.opts}
        passed = set(re.findall(r"- (--[\w-]+)", words))
        assert passed and passed <= known, command
