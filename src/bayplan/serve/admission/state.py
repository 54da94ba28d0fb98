"""One admission in memory, as the log in the store says it: restored from a snapshot, and every later entry applied again."""

import json
import time
import zlib
from collections.abc import Mapping
from typing import Any

from bayplan.api.requests.live_admission import LiveAdmission
from bayplan.decide.admit import Admission, AdmitOptions
from bayplan.decide.admit.one_shot import OneShotOptions
from bayplan.errors import InputError
from bayplan.formats.streams.document import read_zones
from bayplan.serve.admission import changes
from bayplan.serve.problems import refusal
from bayplan.serve.store.admissions import AdmissionStore, LogEntry, StoredAdmission, StoredSnapshot

PAST_SLOTS = 1000  # whose prices are kept, also across restarts
AT_ONCE = 1000  # entries that are read from the log at a time
ONE_SHOT = ("samples", "epsilon", "nodes")  # options that belong to the placing of one request


class AdmissionState:
    """A live admission and the number of the last entry in it.

    `fence` is set while this server decides for it. `is_ahead` says that memory has changes which are not in the store: a write
    of them failed, so everything is read again before the next use.
    """

    def __init__(self, stored: StoredAdmission, store: AdmissionStore) -> None:
        self.stored, self._store = stored, store
        self.admission: Admission
        self.admission, self.base_units = made_of(stored.description)
        self.applied, self.saved = 0, 0  # the last entry in memory, and in the newest snapshot
        self.fence: int | None = None
        self.renewed = 0.0  # when the lease was last renewed, monotonic
        self.is_ahead = self.is_half = False
        self._restore()

    def catch_up(self) -> None:
        """Apply what the store has beyond memory."""
        if self.is_ahead:
            self._restore()
        while True:
            entries = self._store.entries(self.stored.id, self.applied, AT_ONCE)
            if entries and entries[0].seq != self.applied + 1:  # pruned, because a newer snapshot has it
                self._restore()
                continue
            for entry in entries:
                self._apply_again(entry)
            if len(entries) < AT_ONCE:
                return

    def decide(self, change: changes.GivenChange, key: str | None) -> LogEntry:
        """Apply a new change in memory; the entry to write before anyone hears of it. InputError: nothing has changed."""
        kind, given, text, digest = complete = changes.complete(self.admission, change)
        changes.expect_bearable(self.admission, complete)
        try:
            outcome = changes.apply(self.admission, kind, given, self.base_units)
        except InputError:
            raise
        except BaseException:
            self.is_ahead = self.is_half = True  # half a change is no state to go on from
            raise
        self.is_ahead = True
        self.applied += 1
        answer = changes.encoded({"seq": self.applied, **outcome})
        return LogEntry(seq=self.applied, at=time.time(), kind=kind, key=key, digest=digest, given=text, outcome=answer)

    def committed(self) -> None:
        """The store has all that memory has."""
        self.is_ahead = False

    def snapshot(self) -> StoredSnapshot:
        """All that later decisions depend on, compressed."""
        data = self.admission.snapshot(past=True)
        return StoredSnapshot(self.applied, zlib.compress(json.dumps(data).encode(), 1))

    def _apply_again(self, entry: LogEntry) -> None:
        """Apply an entry of the log; it must come to what was answered then."""
        try:
            again = changes.apply(self.admission, entry.kind, json.loads(entry.given), self.base_units)
        except InputError as error:
            raise _contradiction(self.stored.name, entry, str(error.faults[0])) from error
        if not changes.same_outcome(json.loads(entry.outcome), again):
            raise _contradiction(self.stored.name, entry, "it comes to another outcome")
        self.applied = entry.seq

    def _restore(self) -> None:
        """Go back to the newest snapshot that can be read, or to the beginning, and from there through the log."""
        self.applied, self.saved = 0, 0
        restored: Admission | None = None
        for snapshot in self._store.snapshots(self.stored.id):
            try:
                restored = LiveAdmission.restore(json.loads(zlib.decompress(snapshot.data)))
            except (zlib.error, ValueError, InputError):  # damaged: the one before has the same, with more of the log
                continue
            self.applied = self.saved = snapshot.seq
            break
        self.admission = restored or made_of(self.stored.description)[0]
        self.admission.keep_past(PAST_SLOTS)
        self.is_ahead = self.is_half = False
        first = self._store.entries(self.stored.id, self.applied, 1)
        if first and first[0].seq != self.applied + 1:
            raise _contradiction(self.stored.name, first[0], f"entry {self.applied + 1} is missing before it")
        self.catch_up()


def made_of(description: Mapping[str, Any]) -> tuple[Admission, bool]:
    """A new admission as described; are amounts in base units?"""
    zones, base_units = read_zones(description["document"], "admission")
    given = dict(description["options"])
    one_shot = OneShotOptions(**{name: given.pop(name) for name in ONE_SHOT if name in given})
    options = AdmitOptions(one_shot_options=one_shot, **given)
    return LiveAdmission(zones, options, description["method"], description["seed"]), base_units


def _contradiction(name: str, entry: LogEntry, problem: str) -> Exception:
    return refusal("E2718", "admission", name, f"entry {entry.seq} of the log: {problem}", expected="what was answered then")
