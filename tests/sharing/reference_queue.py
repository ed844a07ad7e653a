"""A shared queue in plain Python, written from the seed's text and not from the package.

One heap of happenings, objects instead of arrays, other random numbers: what agrees with the
package is not a slip that both share.
"""

import heapq
import random
from collections import Counter
from dataclasses import dataclass, field
from itertools import count


@dataclass
class Getter:
    qmgr: str
    waits: bool = True


@dataclass
class World:
    group: object
    random: random.Random
    queue: list = field(default_factory=list)
    heap: list = field(default_factory=list)
    tick: count = field(default_factory=count)
    counts: Counter = field(default_factory=Counter)
    called: dict = field(default_factory=dict)
    getters: list = field(default_factory=list)
    to_put: int = 0

    def later(self, at, what, *details):
        heapq.heappush(self.heap, (at, next(self.tick), what, details))

    def member(self, name):
        return next(x for x in self.group.queue_managers if x.name == name)

    def takes(self, name, mean_ms):
        mean = mean_ms / 1000 / (1 - self.member(name).busy)
        return self.random.expovariate(1 / mean) if mean else 0.0

    def idle(self, name):
        return [x for x in self.getters if x.qmgr == name and x.waits]

    def serve(self, getter, now, how):
        getter.waits = False
        self.counts[getter.qmgr, how] += 1
        member = self.member(getter.qmgr)
        needed = self.takes(getter.qmgr, member.service_ms)
        if member.service == "fixed":
            needed = member.service_ms / 1000 / (1 - member.busy)
        self.later(now + needed, "ready", getter)

    def call(self, name, at, how):
        """Only the first of several wake-ups of a queue manager counts."""
        if self.idle(name) and at < self.called.get(name, (float("inf"), ""))[0]:
            self.called[name] = (at, how)
            self.later(at, "answer", name)


def run_once(group, seed):
    """Counter of (queue manager, how), plus `transitions`, `notifications` and `waited`."""
    world = World(group, random.Random(seed), to_put=group.messages)
    for member in group.queue_managers:
        world.getters += [Getter(member.name) for _ in range(member.getters)]
    for putter in group.putters:
        world.later(gap(world, putter), "put", putter)
    while sum(n for key, n in world.counts.items() if isinstance(key, tuple)) < group.messages:
        now, _, what, details = heapq.heappop(world.heap)
        {"put": put, "ready": ready, "answer": answer}[what](world, now, *details)
    return world.counts


def gap(world, putter):
    if putter.arrivals == "even":
        return 1 / putter.rate
    return world.random.expovariate(putter.rate)


def put(world, now, putter):
    if not world.to_put:
        return
    world.to_put -= 1
    world.later(now + gap(world, putter), "put", putter)
    here = putter.queue_manager
    persistent = world.random.random() < putter.persistent
    in_syncpoint = world.random.random() < putter.syncpoint
    if not persistent and not in_syncpoint and world.idle(here):
        world.serve(world.idle(here)[0], now, "direct")
        return
    world.queue.append(now)
    if len(world.queue) == 1:
        world.counts["transitions"] += 1
        for member in world.group.queue_managers:
            if member.getters:
                world.counts["notifications"] += 1
                at = now + world.group.notification_ms / 1000
                at += world.takes(member.name, member.answer_ms)
                world.call(member.name, at, "notified")
    world.call(here, now + world.takes(here, world.member(here).local_ms), "local")


def answer(world, now, name):
    at, how = world.called.get(name, (None, ""))
    if at != now:
        return
    del world.called[name]
    for getter in world.idle(name):
        if world.queue:
            pull(world, getter, now, how)


def ready(world, now, getter):
    getter.waits = True
    if world.queue:
        pull(world, getter, now, "pulled")


def pull(world, getter, now, how):
    world.counts["waited"] += now - world.queue.pop(0)
    world.serve(getter, now, how)
