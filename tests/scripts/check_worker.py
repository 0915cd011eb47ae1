#!/usr/bin/env python3
"""The durable worker of the native suite: its output against the oracle, its promises under seeded
kills and power cuts, and that each of its syncs and idempotency checks is needed."""
import os
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from checks import check, expect, expect_equal, run, run_checks
from native_programs import CXX_FLAGS, RUSTC, SUITE, compiled, rust

WORKER = SUITE / "worker"
sys.dont_write_bytecode = True
sys.path.insert(0, str(WORKER))
import faults

SEED = 20260906
SEQUENCES, LONG_SEQUENCES = 100, 1000

# Each sync and each idempotency check of the two programs, as text that is there exactly once: what
# is removed stands between the other two parts.
CPP_MUTANTS = {
    "sync of enqueued jobs": (
        "worker.cpp", '_.pass("enqueue.written");', "\n      queue_.sync();", ""),
    "sync of claims": ("worker.cpp", '_.pass("claim.written");', "\n    queue_.sync();", ""),
    "sync of renewals": ("worker.cpp", '_.pass("renew.written");', "\n    queue_.sync();", ""),
    "sync of effects": ("worker.cpp", '_.pass("effect.written");', "\n    ledger_.sync();", ""),
    "sync of outcomes": ("worker.cpp", '_.pass("ack.written");', "\n    queue_.sync();", ""),
    "sync of the recovered queue": (
        "worker.cpp", "", "    queue_.sync();\n", '    faults_.pass("recovery.queue");'),
    "sync of the recovered ledger": (
        "worker.cpp", "", "    ledger_.sync();\n", '    faults_.pass("recovery.after");'),
    "sync of the directory of the logs": ("worker.cpp", "", "    directory_.sync();\n", ""),
    "sync of the directory above": ("worker.cpp", "", "    durable::Directory(root).sync();\n", ""),
    "fsync of a log": (
        "durable.h", "",
        "    if (::fsync(file_.get()) != 0)\n      system_failed(\"fsync\");\n", ""),
    "fsync of a directory": (
        "durable.h", "",
        "    if (::fsync(fd_.get()) != 0)\n      system_failed(\"fsync of a directory\");\n", ""),
    "idempotency of enqueuing": (
        "worker.cpp", "", "      if (jobs_.count(id) != 0)\n        continue;\n", ""),
    "idempotency of effects": (
        "worker.cpp", "", "      if (effects_.count(job->id) != 0)\n        continue;\n", ""),
    "cut of a torn tail": (
        "durable.h", "",
        "    if (good < bytes.size() && ::ftruncate(file_.get(), static_cast<off_t>(good)) != 0)\n"
        "      system_failed(\"ftruncate\");\n", ""),
    "check of the checksum": (
        "durable.h", "",
        "    if (get(frame, 4, 4) != crc32(payload))\n      return false;\n", ""),
}
RUST_MUTANTS = {
    "sync of enqueued jobs": (
        "worker.rs", '.pass("enqueue.written");', "\n            self.queue.sync();", ""),
    "sync of claims": ("worker.rs", '.pass("claim.written");', "\n        self.queue.sync();", ""),
    "sync of renewals": (
        "worker.rs", '.pass("renew.written");', "\n        self.queue.sync();", ""),
    "sync of effects": (
        "worker.rs", '.pass("effect.written");', "\n        self.ledger.sync();", ""),
    "sync of outcomes": ("worker.rs", '.pass("ack.written");', "\n        self.queue.sync();", ""),
    "sync of the recovered queue": (
        "worker.rs", "", "        self.queue.sync();\n",
        '        self.faults.pass("recovery.queue");'),
    "sync of the recovered ledger": (
        "worker.rs", "", "        self.ledger.sync();\n",
        '        self.faults.pass("recovery.after");'),
    "sync of the directory of the logs": ("worker.rs", "", "        directory.sync();\n", ""),
    "sync of the directory above": (
        "worker.rs", "", "        Directory::open(&words[1]).sync();\n", ""),
    "fsync of a log": (
        "durable.rs", "", "        must(self.file.sync_all(), \"fsync\");\n", ""),
    "fsync of a directory": (
        "durable.rs", "", "        must(self.0.sync_all(), \"fsync of a directory\");\n", ""),
    "idempotency of enqueuing": (
        "worker.rs", "",
        "            if self.jobs.contains_key(&id) {\n                continue;\n            }\n",
        ""),
    "idempotency of effects": (
        "worker.rs", "",
        "            if self.effects.contains_key(id) {\n"
        "                continue;\n            }\n", ""),
    "cut of a torn tail": (
        "durable.rs", "", "            must(log.file.set_len(good as u64), \"ftruncate\");\n", ""),
    "check of the checksum": (
        "durable.rs", "",
        "        if get(frame, 4, 4) != u64::from(crc32(payload)) {\n"
        "            return false;\n        }\n", ""),
}
# A job that reached its last delivery is only a dead letter if its effect was not applied.
LAST_DELIVERY = {
    "worker.cpp": ("found != effects_.end())\n        outcomes", "false)\n        outcomes"),
    "worker.rs": ("} else if let Some(&effect) = self.effects.get(&id) {",
                  "} else if let Some(effect) = None {"),
}


def quick_disk():
    """A folder in memory where there is one: a sync there costs nothing, and what a power cut
    leaves is decided by power_cut, not by the disk."""
    memory = "/dev/shm"
    return tempfile.TemporaryDirectory(prefix="assay-check-",
                                       dir=memory if os.access(memory, os.W_OK) else None)


def power_cut(scratch):
    program = scratch / "power_cut"
    built = run(["g++", *CXX_FLAGS, WORKER / "power_cut.cpp", "-o", program])
    expect_equal((built.returncode, built.stderr), (0, ""), "g++ power_cut")
    return program


def environment(jobs=None, steps=None, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
    for name, value in (("ASSAY_BENCH_SIZE", jobs), ("ASSAY_BENCH_STEPS", steps)):
        if value is not None:
            env[name] = str(value)
    return {**env, **more}


def empty(path):
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


def oracle(env):
    done = run([sys.executable, "-B", WORKER / "oracle.py"], env=env)
    expect_equal((done.returncode, done.stderr), (0, ""), "oracle")
    return done.stdout


def plain_output(jobs, steps):
    """What the oracle says, step by step and job by job."""
    counts, digest = {"completed": 0, "retried": 0, "dead": 0}, 0
    for job in range(1, jobs + 1):
        state, effect = 7 + 7919 * job, 0
        for _ in range(steps):
            state = state * 48271 % 2147483647
            effect = (effect * 69621 + state) % 2147483647
        failures = 3 if job % 13 == 6 else 2 if job % 11 == 5 else 1 if job % 7 == 3 else 0
        dead = failures == 3
        counts["dead" if dead else "retried" if failures else "completed"] += 1
        for value in (job, int(dead), failures, 0 if dead else effect):
            digest = (65599 * digest + value) % 1000000007
    return (f"jobs {jobs}\n" + " ".join(f"{name} {count}" for name, count in counts.items()) +
            f"\neffects {jobs - counts['dead']}\nTOTAL {digest}\n")


def copy_with(name, before, removed, after, instead, target):
    """A copy of the sources in which `removed` has become `instead`; how often it was there."""
    shutil.copytree(SUITE / "common", target / "common")
    shutil.copytree(WORKER, target / "worker")
    path = target / "worker" / name
    text = path.read_text()
    whole = before + removed + after
    path.write_text(text.replace(whole, before + instead + after))
    return text.count(whole)


def built_mutant(change, target):
    name, before, removed, after, *instead = change
    expect_equal(copy_with(name, before, removed, after, "".join(instead), target), 1,
                 f"{name}: how often {before + removed + after!r} is there")
    program = target / "mutant"
    command = (["g++", "-std=c++20", "-O1", target / "worker" / "worker.cpp"]
               if name.endswith((".cpp", ".h")) else
               [RUSTC, "--edition", "2021", "-A", "warnings", target / "worker" / "worker.rs"])
    built = run([*command, "-o", program])
    expect_equal(built.returncode, 0, f"the mutant of {name}: {built.stderr}")
    return program


@check
def the_oracle_agrees_with_a_plain_simulation(_options, _scratch):
    for jobs, steps in ((1, 1), (6, 2), (7, 3), (24, 9), (100, 50)):
        expect_equal(oracle(environment(jobs, steps)), plain_output(jobs, steps), f"{jobs} {steps}")


@check
def every_program_prints_what_its_oracle_predicts(_options, scratch):
    flags = ["-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    (scratch / "sanitized").mkdir()
    programs = (compiled("worker", scratch), compiled("worker", scratch, "clang++"),
                compiled("worker", scratch / "sanitized", flags=flags), rust("worker", scratch))
    for jobs, steps in ((1, 1), (2, 3), (6, 2), (24, 9), (129, 1), (600, 31)):
        env = environment(jobs, steps)
        for program in programs:
            done = run([program, empty(scratch / "work")], env=env)
            expect_equal((done.returncode, done.stdout, done.stderr), (0, oracle(env), ""),
                         f"{program} {jobs} {steps}")
    env = environment(24, 9, ASSAY_BENCH_ITERATIONS="3")
    for program in programs:
        done = run([program, empty(scratch / "work")], env=env)
        expect_equal((done.stdout, len(list((scratch / "work").iterdir()))), (oracle(env), 3),
                     f"{program}, 3 times")


@check
def both_programs_write_the_same_files_and_tell_the_same(_options, scratch):
    written = []
    for program in (compiled("worker", scratch), rust("worker", scratch)):
        work, answers = empty(scratch / "work"), scratch / "answers"
        answers.unlink(missing_ok=True)
        run([program, work, "1", answers], env=environment(100, 3))
        written.append([path.read_bytes() for path in
                        (work / "0" / "queue.log", work / "0" / "effects.log", answers)])
    expect(written[0] == written[1] and all(written[0]), "the two programs write different bytes")


@check
def what_the_worker_cannot_take_up_is_refused(_options, scratch):
    for program in (compiled("worker", scratch), rust("worker", scratch)):
        work = empty(scratch / "work")
        run([program, work], env=environment(5, 5))
        for jobs, steps in ((6, 5), (5, 6)):
            done = run([program, work], env=environment(jobs, steps))
            expect_equal((done.returncode, done.stdout, done.stderr),
                         (2, "", "this queue was made with other parameters\n"), str(program))
        for fault in ("", "claim.after", "claim.after:0", "claim.during:1", "claim.after:x"):
            done = run([program, work], env=environment(5, 5, ASSAY_FAULT=fault))
            expect_equal((done.returncode, done.stdout, done.stderr),
                         (2, "", "ASSAY_FAULT must be POINT:N\n"), f"{program} {fault}")
        expect_equal(run([program, work, "1"]).returncode, 2, "two arguments")
        done = run([program, scratch / "none"])
        expect(done.returncode == 2 and str(scratch / "none") in done.stderr, done.stderr)


@check
def every_point_can_kill_and_the_next_start_goes_on(_options, scratch):
    env = environment(24, 9)
    for program in (compiled("worker", scratch), rust("worker", scratch)):
        for point in (*faults.POINTS, *faults.RECOVERY):
            work = empty(scratch / "work")
            done = run([program, work], env={**env, "ASSAY_FAULT": f"{point}:1"})
            expect_equal((done.returncode, done.stdout), (-9, ""), f"{program} {point}")
            done = run([program, work], env=env)
            expect_equal((done.returncode, done.stdout), (0, oracle(env)), f"{program} {point}")


@check
def a_power_cut_leaves_what_was_synced_and_loses_some_of_the_rest(_options, scratch):
    tool = power_cut(scratch)
    program = """if True:
        import os, signal, sys
        os.chdir(sys.argv[1])
        if sys.argv[2] == "write":
            synced = os.open("synced", os.O_RDWR | os.O_CREAT)
            os.write(synced, b"kept" * 100)
            os.fsync(synced)
            os.fsync(os.open(".", os.O_RDONLY))
            os.write(synced, b"lost" * 100)
            os.write(os.open("new", os.O_RDWR | os.O_CREAT), b"lost")
        os.kill(os.getpid(), signal.SIGKILL)"""
    for modes in (("cut",), ("keep", "cut")):
        sizes, news, zeros = set(), 0, 0
        for seed in range(60):
            work, state = empty(scratch / "work"), scratch / "state"
            for number, mode in enumerate(modes):
                done = run([tool, mode, state, work, seed, "/usr/bin/python3", "-c", program, work,
                            "write" if number == 0 else "nothing"])
                expect_equal((done.returncode, done.stderr), (128 + 9, ""), str(modes))
                expect_equal(state.exists(), mode == "keep", "a state file")
                if mode == "keep":
                    expect_equal(len((work / "synced").read_bytes()), 800, "a plain kill")
            data = (work / "synced").read_bytes()
            expect(data.startswith(b"kept" * 100), f"lost what was synced: {data!r}")
            sizes.add(len(data))
            zeros += b"\0" in data
            news += (work / "new").exists()
        expect(min(sizes) == 400 and max(sizes) == 800 and len(sizes) > 10, f"sizes {sizes}")
        expect(10 < news < 50 and zeros > 3, f"new files {news}, with zeros {zeros}")


@check
def a_program_that_does_what_the_power_cut_does_not_model_is_refused(_options, scratch):
    tool = power_cut(scratch)
    for act in ("os.fork()", "os.rename('a', 'b')", "os.unlink('a')", "os.sync()"):
        done = run([tool, "cut", scratch / "state", empty(scratch / "work"), "1",
                    "/usr/bin/python3", "-c", f"import os; {act}"])
        expect(done.returncode == 125 and "is not modelled" in done.stderr, f"{act}: {done}")
    expect_equal(run([tool, "cut", scratch / "state", scratch / "work", "1"]).returncode, 125,
                 "without a program")


@check
def a_program_can_be_killed_at_any_of_its_system_calls(_options, scratch):
    tool, program = power_cut(scratch), compiled("worker", scratch)
    env, ends = environment(24, 9), set()
    for last in (1, 70, 110, 150, 190, 100000):
        work = empty(scratch / "work")
        done = run([tool, f"keep:{last}", scratch / "state", work, "1", program, work, "1",
                    scratch / "answers"], env=env)
        (scratch / "state").unlink()
        logs = sum(path.stat().st_size for path in work.rglob("*.log"))
        expect_equal((done.returncode, done.stderr), (0 if last == 100000 else 128 + 9, ""),
                     f"{last}")
        ends.add(logs)
    expect(0 in ends and len(ends) >= 4, f"sizes of the logs {ends}")
    for mode in ("cut:", "cut:0", "cut:x", "lose"):
        expect_equal(run([tool, mode, scratch / "state", work, "1", program]).returncode, 125, mode)


def last_delivery(program, scratch):
    """How a lone job ends whose worker dies at every delivery, before and after the effect."""
    ends = []
    for point in ("effect.before", "effect.written"):
        work, env = empty(scratch / "work"), environment(1, 5)
        for _ in range(16):
            done = run([program, work], env={**env, "ASSAY_FAULT": f"{point}:1"})
            if done.returncode == 0:
                break
            expect_equal(done.returncode, -9, f"{program} {point}")
            if point == "effect.written":  # the effect is there from now on
                env["ASSAY_FAULT"] = "ack.before:1"
                point = "ack.before"
        done = run([program, work], env=environment(1, 5))
        ends.append(done.stdout.splitlines()[1:3])
    return ends


@check
def a_job_that_kills_its_worker_ends_as_a_dead_letter_unless_its_effect_was_applied(
        _options, scratch):
    wanted = [["completed 0 retried 0 dead 1", "effects 0"],
              ["completed 1 retried 0 dead 0", "effects 1"]]
    for program, (name, (removed, instead)) in zip(
            (compiled("worker", scratch), rust("worker", scratch)), LAST_DELIVERY.items()):
        expect_equal(last_delivery(program, scratch), wanted, str(program))
        mutant = built_mutant((name, "", removed, "", instead), scratch / f"mutant-{name}")
        expect(last_delivery(mutant, scratch) != wanted, f"{name}: the mutant lives")


def keeps_its_promises(program, options, scratch):
    count = LONG_SEQUENCES if options.long else SEQUENCES
    with quick_disk() as disk:
        harness = faults.Harness(program, power_cut(scratch), pathlib.Path(disk))
        expect_equal(harness.sequences(SEED, count), None, "broken promise")
    tally = harness.tally
    if os.environ.get("ASSAY_CHECK_VERBOSE"):
        print(f"# {dict(tally)}", flush=True)
    expect_equal(tally["sequences"], count, "sequences")
    expect(tally["keep"] > count / 2 and tally["cut"] > count / 2, f"kills {tally}")
    expect(tally["deliveries"] > tally["jobs"], f"deliveries {tally}")
    missed = [point for point in (*faults.POINTS, *faults.RECOVERY, faults.CALL)
              if tally[point] == 0]
    expect_equal(missed, [], "points without a kill")


@check
def the_cpp_worker_keeps_its_promises_under_seeded_kills_and_power_cuts(options, scratch):
    keeps_its_promises(compiled("worker", scratch), options, scratch)


@check
def the_rust_worker_keeps_its_promises_under_seeded_kills_and_power_cuts(options, scratch):
    keeps_its_promises(rust("worker", scratch), options, scratch)


@check
def every_sync_in_the_sources_has_its_mutant(_options, _scratch):
    for mutants, sources in ((CPP_MUTANTS, ("worker.cpp", "durable.h")),
                             (RUST_MUTANTS, ("worker.rs", "durable.rs"))):
        text = "".join((WORKER / name).read_text() for name in sources)
        calls = len(re.findall(r"\bsync\(\);|::fsync\(|\bsync_(?:all|data)\(|fdatasync\(", text))
        expect_equal(calls, sum("sync of" in name for name in mutants), f"syncs in {sources}")


def mutants_die(mutants, scratch):
    tool, alive = power_cut(scratch), []
    with quick_disk() as disk:
        for number, (name, change) in enumerate(mutants.items()):
            program = built_mutant(change, scratch / str(number))
            harness = faults.Harness(program, tool, pathlib.Path(disk))
            broken = harness.sequences(SEED, LONG_SEQUENCES)  # few of them, unless it lives
            if broken is None:
                alive.append(name)
            elif os.environ.get("ASSAY_CHECK_VERBOSE"):
                print(f"# without the {name}: {broken[0]} sequences, {broken[1]}", flush=True)
    expect_equal(alive, [], "what can be removed without a broken promise")


@check
def each_sync_and_idempotency_check_of_the_cpp_worker_is_needed(_options, scratch):
    mutants_die(CPP_MUTANTS, scratch)


@check
def each_sync_and_idempotency_check_of_the_rust_worker_is_needed(_options, scratch):
    mutants_die(RUST_MUTANTS, scratch)


run_checks()
