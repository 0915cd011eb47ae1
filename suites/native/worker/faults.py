#!/usr/bin/env python3
"""Kills a worker at seeded points, takes its power away, starts it again, and holds it to what it
promised.

    faults.py PROGRAM POWER_CUT DIR [--sequences N] [--seed S]

Most sequences have 2 to 7 kills: plain ones, after which the page cache is still there, and power
cuts, after which only what was synced is there for certain (power_cut.cpp). Between them this file
plays the client, which is another machine: it remembers what it was told and asks for the rest
again. docs/design/worker-case.md lists the promises. A failure names the seed of its sequence,
which `--seed S --sequences 1` repeats. Prints what was done; exit 1 if a promise was broken.
"""
import argparse
import collections
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
STEPS = 9
SIZES = (4, 9, 16, 24)
OPERATIONS = ("enqueue", "claim", "renew", "effect", "ack")
POINTS = [f"{operation}.{moment}" for operation in OPERATIONS
          for moment in ("before", "written", "after")]
RECOVERY = ("recovery.cut", "recovery.queue", "recovery.after")
KILLED = 128 + 9
CALL = "a system call"  # instead of a point: killed from outside
NEVER = 1000  # passages: the power is cut after the program's own end
OPEN, ENQUEUE, CLAIM, RENEW, FAIL, DONE, DEAD, EFFECT = range(1, 9)
SECONDS_PER_RUN = 60  # a hang guard; a run takes milliseconds

Kill = collections.namedtuple("Kill", "point count mode")


class Broken(Exception):
    """A promise that was not kept."""


def promise(kept, text):
    if not kept:
        raise Broken(text)


def any_kill(draw):
    choice = draw.random()
    if choice < 0.25:
        return Kill(CALL, draw.randint(30, 150), draw.choice(("keep", "cut")))
    if choice < 0.4:
        return Kill(draw.choice(RECOVERY), 1, draw.choice(("keep", "cut")))
    return Kill(draw.choice(POINTS), draw.choice((1, 1, 1, 1, 1, 2, 2, 3)),
                draw.choice(("keep", "cut", "cut")))


def schedule(draw):
    """The jobs and the kills of one sequence. Most begin where a missing sync would show: a plain
    kill in the middle of a write and a power cut after it (what is read back in between was never
    synced, unless the recovery did it), or a power cut just after something was told."""
    kind = draw.randrange(8)
    jobs, kills, more = draw.choice(SIZES), [], draw.randint(2, 5)
    if kind < 2:  # found jobs: are they acknowledged on the strength of what may be lost?
        kills = [Kill("enqueue.written", draw.randint(1, 4), "keep"),
                 Kill(draw.choice(("claim.before", "claim.written")), 1, "cut")]
    elif kind < 3:  # jobs that were just acknowledged
        kills = [Kill(draw.choice(("claim.before", "claim.written")), draw.randint(1, 4), "cut")]
    elif kind < 6:  # found effects and ends, until the very end
        jobs, more = draw.choice((1, 1, *SIZES)), 0
        written = draw.choice(("effect.written", "effect.written", "ack.written"))
        kills = [Kill(written, draw.choice((1, 1, 3, 4, 5, 6)), "keep"),
                 Kill("ack.after", NEVER, "cut")]
        if jobs > 1:  # reached after other kills as well
            kills = [any_kill(draw) for _ in range(draw.randint(0, 2))] + kills
    elif kind < 7:
        written = draw.choice([point for point in POINTS if point.endswith(".written")])
        kills = [Kill(written, draw.randint(1, 6), "keep"),
                 Kill(draw.choice(POINTS), draw.choice((1, 1, 2)), "cut")]
    kills += [any_kill(draw) for _ in range(more)]
    return jobs, kills


class Client:
    """What the world was told, and whether it fits together."""

    def __init__(self, path):
        self.path, self.read = path, 0
        self.enqueued, self.ended = set(), {}
        self.deliveries, self.failures, self.held = {}, {}, {}
        self.finished = False

    def first_unknown(self):
        job = 1
        while job in self.enqueued:
            job += 1
        return job

    def listen(self):
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        for line in lines[self.read:]:
            what, *numbers = line.split()
            self.hear(what, *map(int, numbers), line)
        self.read = len(lines)

    def hear(self, what, job, tick, value, count, line):
        if what == "enqueued":
            self.enqueued.add(job)
            return
        promise(job not in self.ended, f"'{line}' after {self.ended.get(job)}")
        promise(not self.finished, f"'{line}' after the final output")
        if what == "claimed":
            promise(count > self.deliveries.get(job, 0), f"'{line}': delivery {count} again")
            promise(tick >= self.held.get(job, 0), f"'{line}': held until {self.held.get(job)}")
            self.deliveries[job] = count
        if what == "failed":
            promise(count > self.failures.get(job, 0), f"'{line}': failure {count} again")
            self.failures[job] = count
        if what in ("done", "dead"):
            self.ended[job] = line
        else:
            self.held[job] = value


def records(path):
    """A log, read by code that shares nothing with the worker's. No torn tail after a clean end."""
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        promise(len(data) - at >= 8, f"{path.name} ends within a frame")
        size, crc = struct.unpack_from("<II", data, at)
        payload = data[at + 8:at + 8 + size]
        promise(size == 25 and len(payload) == 25 and zlib.crc32(payload) == crc,
                f"{path.name} has a bad record at {at}")
        found.append(struct.unpack("<BQQQ", payload))
        at += 8 + size
    return found


def check_files(directory, client, jobs):
    queue = records(directory / "queue.log")
    count = collections.Counter((kind, job) for kind, job, _, _ in queue)
    effects = collections.Counter(job for _, job, _, _ in records(directory / "effects.log"))
    for job in range(1, jobs + 1):
        promise(count[ENQUEUE, job] == 1, f"job {job} enqueued {count[ENQUEUE, job]} times")
        promise(count[DONE, job] + count[DEAD, job] == 1, f"job {job} has not one end")
        promise(effects[job] == count[DONE, job], f"job {job} has {effects[job]} effects")
        ending = client.ended.get(job, "")
        promise(not ending or ending.startswith("done" if count[DONE, job] else "dead"),
                f"job {job} ended otherwise than the client was told")
    promise(client.enqueued <= set(range(1, jobs + 1)), "a job that nobody asked for")
    return sum(number for (kind, _), number in count.items() if kind == CLAIM)


class Harness:
    def __init__(self, program, power_cut, scratch):
        self.program, self.power_cut = program, power_cut
        self.directory = scratch / "work"
        self.state, self.answers = scratch / "durable", scratch / "answers"
        self.tally = collections.Counter()
        self.outputs = {}

    def environment(self, jobs, fault=None):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
        env.update(ASSAY_BENCH_SIZE=str(jobs), ASSAY_BENCH_STEPS=str(STEPS))
        if fault is not None:
            env["ASSAY_FAULT"] = fault
        return env

    def wanted(self, jobs):
        if jobs not in self.outputs:
            self.outputs[jobs] = subprocess.run(
                [sys.executable, "-B", HERE / "oracle.py"], env=self.environment(jobs),
                stdout=subprocess.PIPE, text=True, check=True).stdout
        return self.outputs[jobs]

    def start(self, mode, seed, jobs, first, fault=None):
        try:
            done = subprocess.run(
                [self.power_cut, mode, self.state, self.directory, str(seed), self.program,
                 self.directory, str(first), self.answers],
                env=self.environment(jobs, fault), stdin=subprocess.DEVNULL, capture_output=True,
                text=True, timeout=SECONDS_PER_RUN, check=False)
        except subprocess.TimeoutExpired as error:
            raise Broken("the worker does not end") from error
        promise(done.returncode in (0, KILLED) and done.stderr == "",
                f"exit {done.returncode}: {done.stderr}")
        return done

    def sequence(self, seed):
        """One schedule from an empty directory to the end; raises Broken."""
        draw = random.Random(seed)
        jobs, kills = schedule(draw)
        for path in (self.state, self.answers):
            path.unlink(missing_ok=True)
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir()
        client = Client(self.answers)
        for kill in kills:
            mode, fault = kill.mode, f"{kill.point}:{kill.count}"
            if kill.point == CALL:
                mode, fault = f"{kill.mode}:{kill.count}", None
            done = self.start(mode, draw.getrandbits(63), jobs, self.first(client, draw), fault)
            client.listen()
            if done.returncode == 0:
                self.tally["not reached"] += 1
                promise(done.stdout == self.wanted(jobs), f"printed {done.stdout!r}")
                client.finished = True
                break
            self.tally[kill.mode] += 1
            self.tally[kill.point] += 1
        # Power may fail after a clean end too: twice, then the files themselves.
        for _ in range(2):
            done = self.start("cut", draw.getrandbits(63), jobs, self.first(client, draw))
            client.listen()
            promise((done.returncode, done.stdout) == (0, self.wanted(jobs)),
                    f"exit {done.returncode}, printed {done.stdout!r}")
            client.finished = True
        deliveries = check_files(self.directory / "0", client, jobs)
        self.tally["jobs"] += jobs
        self.tally["deliveries"] += deliveries
        self.tally["sequences"] += 1

    @staticmethod
    def first(client, draw):
        """From where the client asks. Half the time it forgot some answers, or they were lost."""
        return max(1, client.first_unknown() - draw.choice((0, 0, 0, 0, 1, 3, 24)))

    def sequences(self, seed, count):
        """The first broken promise as (how many sequences it took, text), or None."""
        for number in range(count):
            try:
                self.sequence(seed + number)
            except Broken as broken:
                return number + 1, f"sequence {seed + number}: {broken}"
        return None


def main():
    parser = argparse.ArgumentParser()
    for name in ("program", "power_cut", "directory"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--sequences", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    harness = Harness(options.program.resolve(), options.power_cut.resolve(),
                      options.directory.resolve())
    broken = harness.sequences(options.seed, options.sequences)
    for name, count in sorted(harness.tally.items()):
        print(f"{name} {count}")
    if broken:
        sys.exit(f"broken after {broken[0]} sequences: {broken[1]}")


if __name__ == "__main__":
    main()
