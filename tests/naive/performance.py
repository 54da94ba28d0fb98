"""The slow obvious twin of `bayplan.kernels.performance`: lists of visits, each served step by step; the same random numbers."""

import math

from tests.naive.random_words import Words

ROUTERS = ("random", "prefer-local", "spill-over")


class Simulation:
    """Requests are dictionaries, machines lists of visits with the work that is left of each."""

    def __init__(self, walk, cells, machines, settings, seed_word):
        self.walk, self.cells, self.machines, self.settings = walk, cells, machines, settings
        self.words = Words(seed_word)
        self.on_machine = [[] for _ in machines["fails"]]  # visits: [work left, request or None]
        self.timers = []  # (due, order, request, what)
        self.calls = [0, 0]
        self.came = self.order = 0
        self.now = 0.0

    def run(self, wanted):
        """Latency and failure of the requests after the skipped ones, in order of arrival."""
        ended = {}
        coming = self.exponential(self.gap)
        first = self.settings["skipped"]
        while any(number not in ended for number in range(first, first + wanted)):
            due = min((timer[0] for timer in self.timers), default=math.inf)
            ends = [min(work for work, _ in visits) * len(visits) if visits else math.inf for visits in self.on_machine]
            soonest = min(ends, default=math.inf)
            step = min(due - self.now, soonest, coming - self.now)
            if due - self.now <= coming - self.now and due - self.now <= soonest:
                self.serve(step)
                self.timer_ends(ended)
            elif soonest <= coming - self.now:
                m = ends.index(soonest)
                at = min(range(len(self.on_machine[m])), key=lambda i: self.on_machine[m][i][0])
                self.serve(step)
                _, request = self.on_machine[m].pop(at)
                if request is not None:
                    self.go_on(request, ended)
            else:
                self.serve(step)
                self.arrive(ended)
                coming = self.now + self.exponential(self.gap)
        return [ended[number] for number in range(first, first + wanted)]

    @property
    def gap(self):
        return 1.0 / (self.settings["request_rate"] + self.settings["other_rate"])

    def serve(self, step):
        """Let time pass: every visit of a machine with n visits gets 1/n of it."""
        for visits in self.on_machine:
            for visit in visits:
                visit[0] -= step / len(visits)
        self.now += step

    def timer_ends(self, ended):
        timer = min(self.timers)
        self.timers.remove(timer)
        _, _, request, what = timer
        {"visit": self.begin_visit, "next": lambda r: self.go_on(r, ended), "end": lambda r: self.leave(r, ended)}[what](request)

    def start_timer(self, span, request, what):
        self.order += 1
        self.timers.append((self.now + span, self.order, request, what))

    def leave(self, request, ended):
        ended[request.number] = (self.now - request.start, request.failed)

    def begin_visit(self, request):
        if self.words.uniform() <= self.machines["fails"][request.machine]:
            request.failed = True
        if self.settings["sharing"]:
            self.on_machine[request.machine].append([self.size(), request])
        else:
            self.start_timer(self.exponential(self.machines["visit_ms"][request.machine]), request, "next")

    def go_on(self, request, ended):
        value, total = self.words.uniform(), 0.0
        for share, callee, peers in self.walk["calls"][request.node]:
            total += share
            if total >= value:
                return self.call(request, callee, peers)
        return self.leave(request, ended)

    def call(self, request, callee, peers):
        row, caller_row = self.walk["row"][callee], self.walk["row"][request.node]
        request.node = callee
        if not self.cells[row]:
            request.failed = True
            self.calls[0] += 1
            return self.start_timer(self.settings["network_ms"], request, "end")
        target = self.peer(row, request.machine) if peers else self.target(caller_row, row, request.machine)
        stays = target == request.machine
        self.calls[stays] += 1
        if self.words.uniform() <= self.settings["ipc_error" if stays else "network_error"]:
            request.failed = True
        request.machine = target
        return self.start_timer(self.settings["ipc_ms" if stays else "network_ms"], request, "visit")

    def arrive(self, ended):
        rate, other = self.settings["request_rate"], self.settings["other_rate"]
        if self.words.uniform() * (rate + other) > rate:
            m = self.picked(self.machines["others"])
            self.on_machine[m].append([self.size(), None])
            return
        node = self.picked(self.walk["entry"])
        request = Request(self.came, self.now, node)
        self.came += 1
        replicas = self.cells[self.walk["row"][node]]
        if not replicas:
            request.failed = True
            self.leave(request, ended)
            return
        request.machine = self.any_of(replicas)
        self.begin_visit(request)

    def picked(self, cumulative):
        value = self.words.uniform()
        return next((i for i, bound in enumerate(cumulative) if bound >= value), len(cumulative) - 1)

    def any_of(self, replicas):
        return replicas[self.words.below(len(replicas))]

    def peer(self, row, machine):
        others = list(self.cells[row])
        if len(others) < 2:
            return machine
        del others[max(i for i, m in enumerate(others) if m == machine)]
        return self.any_of(others)

    def target(self, caller_row, row, machine):
        router, replicas, callers = ROUTERS[self.settings["router"]], self.cells[row], self.cells[caller_row]
        if router == "spill-over":
            share = {m: replicas.count(m) / len(replicas) for m in set(replicas) | {machine}}
            if self.words.uniform() * (callers.count(machine) / len(callers)) <= share[machine]:
                return machine
            while True:
                other = self.any_of(replicas)
                left = share[other] - min(share[other], callers.count(other) / len(callers))
                if self.words.uniform() * share[other] <= left:
                    return other
        if router == "prefer-local" and machine in replicas:
            return machine
        return self.any_of(replicas)

    def size(self):
        mean, kind = self.settings["service_ms"], self.settings["size_kind"]
        if kind == 1:
            return mean
        if kind == 2:
            heavy = 0.5 * (1 + math.sqrt(3 / 5))
            chance = heavy if self.words.uniform() <= heavy else 1 - heavy
            return self.exponential(mean / (2 * chance))
        return self.exponential(mean)

    def exponential(self, mean):
        return -mean * math.log(self.words.uniform())


class Request:
    """One request on its way."""

    def __init__(self, number, start, node):
        self.number, self.start, self.node, self.machine, self.failed = number, start, node, -1, False
