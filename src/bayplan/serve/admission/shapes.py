"""The bodies of the admission paths, as the OpenAPI document shows them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict, StrictInt, StrictStr

NAME = r"^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$"
MOST_ZONES, MOST_RESOURCES = 128, 16
Quantity = Annotated[int | float | str, Field(description='A number with an optional suffix: 2, "500m", "1.5Gi".')]
Link = Annotated[tuple[StrictStr, StrictStr, StrictInt], Strict(False)]  # from, to, bandwidth; a list of JSON is no tuple
EXAMPLE_ZONES = [{"name": "east", "capacity": {"cpu": 64}}, {"name": "west", "capacity": {"cpu": 32}, "request_cap": {"cpu": 8}}]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)  # true is no number, "1" neither


class ResourceGiven(_Strict):
    """A resource of the zones."""

    scale: int = Field(default=1, ge=1, le=2**62, description="This many base units are one unit as written.")
    unit: str = ""


class ZoneGiven(_Strict):
    """A zone with its capacities."""

    name: str = Field(min_length=1, max_length=200)
    capacity: dict[str, Quantity]
    request_cap: dict[str, Quantity] = Field(default_factory=dict, description="The most that one request may take there.")


class AdmissionOptionsGiven(_Strict):
    """How requests are decided; all have a default. See docs/verbs/admit.md."""

    one_shot: Literal["local", "greedy", "sampling", "exact", "nscd"] = "local"
    samples: int | None = Field(default=None, ge=1, le=50)
    epsilon: float = Field(default=0.6, gt=0, le=10)
    nodes: int | None = Field(default=None, ge=1, le=100_000)
    value_ratio: float | None = Field(default=None, gt=0, le=1e12)
    alpha: float | None = Field(default=None, ge=1, le=1e12)
    slot: float = Field(default=1.0, gt=1e-6, le=1e9, description="The length of a time slot.")
    slots: int | None = Field(default=None, ge=1, le=10**9)
    literal: bool = False


class AdmissionGiven(_Strict):
    """A new admission: its name, its zones and links as in a file for `bayplan admit`, and how it decides."""

    name: str = Field(pattern=NAME, examples=["shop"])
    resources: dict[str, ResourceGiven] = Field(min_length=1, max_length=MOST_RESOURCES, examples=[{"cpu": {"scale": 1000}}])
    zones: list[ZoneGiven] = Field(min_length=1, max_length=MOST_ZONES, examples=[EXAMPLE_ZONES])
    links: list[Link] = Field(default_factory=list, examples=[[["east", "west", 100], ["west", "east", 100]]])
    amounts: Literal["units", "base-units"] = "units"
    method: Literal["learned", "primal-dual", "available", "swmoa"] = "learned"
    seed: int = Field(default=0, ge=0, lt=2**31)
    options: AdmissionOptionsGiven = Field(default_factory=AdmissionOptionsGiven)

    def description(self) -> dict[str, Any]:
        """What the store keeps of it."""
        given = self.model_dump(exclude={"name", "method", "seed", "options"})
        for zone in given["zones"]:
            if not zone["request_cap"]:
                del zone["request_cap"]
        document = {"bayplan": 1, "kind": "admission", **given, "links": [list(link) for link in given["links"]]}
        return {"document": document, "method": self.method, "seed": self.seed, "options": self.options.model_dump()}


class OfferGiven(_Strict):
    """A request as in a file for `bayplan admit`. Times are half-open, (start, end]."""

    name: str = Field(examples=["shop-7"])
    members: list[str] = Field(min_length=1, max_length=100, examples=[["web", "cart"]])
    demand: dict[str, list[Quantity]] = Field(description="By resource, one amount per member.", examples=[{"cpu": [2, "500m"]}])
    start: float = Field(examples=[0])
    end: float = Field(examples=[24])
    arrival: float | None = Field(default=None, description="Left out: now, the time of the admission.", examples=[0])
    value: float = Field(default=1, ge=0, examples=[120])
    traffic: list[list[float]] | None = Field(
        default=None, description="From, to; 0 on the diagonal.", examples=[[[0, 3], [1, 0]]]
    )


class ReleaseGiven(_Strict):
    """End an accepted request early."""

    name: str = Field(examples=["shop-7"])
    at: float | None = Field(default=None, description="Left out: now.", examples=[12])


class AdvanceGiven(_Strict):
    """Set the time of the admission; it only goes forward."""

    time: float = Field(examples=[12])


class CauseShown(BaseModel):
    """Why and where a request is refused."""

    kind: str = Field(examples=["no capacity"])
    resource: str = ""
    zone: str = ""
    to: str = ""


class VerdictShown(BaseModel):
    """One offer accepted and placed, or refused, and why. It was in the store before it was answered."""

    seq: int = Field(description="The number of the change in the log of the admission.", examples=[1])
    name: str = Field(examples=["shop-7"])
    accepted: bool
    zones: dict[str, str] | None = Field(
        description="The zone of each member; null if it is refused.", examples=[{"web": "east"}]
    )
    value: float
    cost: float | None = Field(description="Of the best placement found; null if there is none.")
    utility: float | None = Field(description="value - cost / alpha")
    why: str = Field(examples=["value 120 is above its cost 0"])
    cause: CauseShown | None
    parameters: dict[str, Any]
    now: float | None


class ReleasedShown(BaseModel):
    """A request that was released."""

    seq: int
    released: str
    now: float | None


class AdvancedShown(BaseModel):
    """The time of the admission."""

    seq: int
    now: float | None


class AdmissionListed(BaseModel):
    """One admission of the list."""

    name: str
    method: str
    created: float
    zones: int


class AdmissionsShown(BaseModel):
    """All admissions by name."""

    admissions: list[AdmissionListed]


class AdmissionShown(BaseModel):
    """What an admission is and how far it has come."""

    name: str
    created: float
    method: str
    seed: int
    options: dict[str, Any]
    zones: list[str]
    resources: list[str]
    document: dict[str, Any]
    now: float | None
    changes: int = Field(description="Entries of its log.")
    offers: int
    accepted: int
    value: float
    running: int
    parameters: dict[str, Any]
    decides_here: bool = Field(description="Does this server decide for it now?")


class RatesShown(BaseModel):
    """A figure for each resource of each zone and for each link, in one slot."""

    now: float | None
    start: float = Field(description="Of the slot.")
    zones: dict[str, dict[str, float]]
    links: list[dict[str, Any]]


class ColumnsShown(BaseModel):
    """Figures by slot."""

    zone: list[list[list[float]]] = Field(description="(slot, zone, resource)")
    link: list[list[float]] = Field(description="(slot, link)")


class ForecastShown(BaseModel):
    """The next slots, if nothing else arrives and nothing is released."""

    now: float | None
    zones: list[str]
    resources: list[str]
    links: list[list[str]]
    start: list[float]
    price: ColumnsShown
    used: ColumnsShown


class HistoryShown(BaseModel):
    """Prices over time, and the changes with their outcomes, the newest first."""

    now: float | None
    zones: list[str]
    resources: list[str]
    links: list[list[str]]
    start: list[float]
    price: ColumnsShown
    entries: list[dict[str, Any]]
    before: int | None = Field(description="Ask again with ?before= this for older entries; null: there are none.")


class RunningShown(BaseModel):
    """Accepted requests that have not ended."""

    running: list[dict[str, Any]]


DOCUMENTED = (OfferGiven, ReleaseGiven, AdvanceGiven)  # bodies that are read without pydantic, for speed
