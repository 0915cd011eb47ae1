#!/usr/bin/env python3
"""The HTTP service of the native suite against its oracle, the requests that it must refuse, and its
load generator: that it sends on time whatever the server does, and hides nothing."""
import contextlib
import functools
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from checks import check, expect, expect_equal, run, run_checks
from native_programs import CXX_FLAGS, SUITE, compiled, rust

CASE = SUITE / "http_compute"
HANG = 30  # seconds; a guard, far above what anything here takes
PAUSE = 0.5
GOOD = b"POST /digest HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na"
PRIME = 1000000007


def environment(requests=None, rounds=None, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
    for name, value in (("ASSAY_BENCH_SIZE", requests), ("ASSAY_BENCH_STEPS", rounds)):
        if value is not None:
            env[name] = str(value)
    return {**env, **more}


def plain_digest(body, rounds):
    """What the oracle says in closed form, byte by byte."""
    h = 0
    for _ in range(rounds):
        for byte in body:
            h = (33 * h + byte + 1) % PRIME
    return h


def oracle(env, *words):
    done = run([sys.executable, "-B", CASE / "oracle.py", *words], env=env)
    expect_equal((done.returncode, done.stderr), (0, ""), "oracle")
    return done.stdout


@functools.cache
def builds():
    """A folder for programs that more than one check uses, there until the last one is done."""
    return tempfile.TemporaryDirectory(prefix="assay-check-")


def load_program(scratch, compiler="g++", flags=()):
    program = scratch / f"load-{compiler}"
    built = run([compiler, *CXX_FLAGS, *flags, CASE / "load.cpp", "-o", program])
    expect_equal((built.returncode, built.stderr), (0, ""), f"{compiler} load")
    return program


@functools.cache
def servers():
    folder = pathlib.Path(builds().name)
    return compiled("http_compute", folder), rust("http_compute", folder)


@functools.cache
def generator_program():
    return load_program(pathlib.Path(builds().name))


@contextlib.contextmanager
def serving(program, env=None):
    """The started server and its port; it is stopped at the end, whatever happened."""
    child = subprocess.Popen([str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             env=env or environment())
    try:
        yield child, int(child.stdout.readline().split()[1])
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
        child.stdin.close()
        child.stdout.close()


def talk(port, *parts, shut=True, pause=0.0):
    """Everything the server says to these bytes, until it closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=HANG) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        if shut:
            connection.shutdown(socket.SHUT_WR)
        said = b""
        while got := connection.recv(65536):
            said += got
        return said


def statuses(said):
    return [int(part[:3]) for part in said.split(b"HTTP/1.1 ")[1:]]


def post(body, extra=b""):
    return (b"POST /digest HTTP/1.1\r\nHost: h\r\n" + extra +
            b"Content-Length: %d\r\n\r\n" % len(body) + body)


def load(program, *words, env=None, code=0):
    done = run([program, *words], env=env or environment(), timeout=120)
    expect_equal(done.returncode, code, f"exit code of {words}: {done.stdout} {done.stderr}")
    return json.loads(done.stdout)


# ---- the server ----------------------------------------------------------------------------------


@check
def the_oracle_agrees_with_a_plain_simulation(_options, scratch):
    for requests, rounds in ((1, 1), (3, 2), (64, 3), (65, 1), (200, 7)):
        env = environment(requests, rounds)
        oracle(env, scratch / "table")
        table = [line.split(" ") for line in (scratch / "table").read_text().splitlines()]
        total = 0
        for body, value in table:
            expect_equal(int(value), plain_digest(bytes.fromhex(body), rounds), body)
        for i in range(requests):
            total = (65599 * total + int(table[i % len(table)][1])) % PRIME
        expect_equal(oracle(env), f"requests {requests}\ncompleted {requests} wrong 0 errors 0 "
                     f"timeouts 0\nTOTAL {total}\n", f"{requests} {rounds}")


@check
def both_servers_answer_as_the_oracle_predicts_and_repeat_it(_options, scratch):
    (scratch / "sanitized").mkdir()
    flags = ["-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    programs = (*servers(), compiled("http_compute", scratch, "clang++"),
                compiled("http_compute", scratch / "sanitized", flags=flags))
    loads = (generator_program(), load_program(scratch / "sanitized", flags=flags))
    for requests, rounds, repeated in ((1, 1, 1), (63, 2, 1), (65, 3, 3), (700, 64, 2)):
        env = environment(requests, rounds, ASSAY_BENCH_ITERATIONS=str(repeated))
        oracle(env, scratch / "table")
        for program in programs:
            for mode, generator in (("throughput", loads[0]), ("latency", loads[1])):
                done = run([generator, mode, "--table", scratch / "table", "--serve", program,
                            "--metrics", scratch / "metrics", "--slip-us", 100000000], env=env)
                expect_equal((done.returncode, done.stdout, done.stderr), (0, oracle(env), ""),
                             f"{program} {mode} {requests} {rounds}")
                figures = json.loads((scratch / "metrics").read_text())
                expect_equal(figures["sent"], requests * repeated, "sent")


@check
def both_servers_digest_bodies_of_every_border_size(_options, scratch):
    for program in servers():
        with serving(program, environment(rounds=2)) as (_, port):
            for size in (0, 1, 4095, 4096, 4097, 16384, 65535, 65536):
                body = bytes(i * 7 % 256 for i in range(size))
                said = talk(port, post(body))
                expect_equal((statuses(said), said.rsplit(b"\r\n\r\n", 1)[1]),
                             ([200], b"%d" % plain_digest(body, 2)), f"{program} {size}")


REFUSED = {
    b"": [],
    b"\r\n\r\n": [400],
    b"POST /digest HTTP/1.1\r\nHost: h\r\nContent-Le": [400],
    GOOD[:-1]: [400],  # less than it announced, and no more
    b"POST /digest\r\nHost: h\r\n\r\n": [400],
    b"POST  /digest HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n": [400],
    b"POST /digest HTTP/1.0\r\nHost: h\r\nContent-Length: 0\r\n\r\n": [400],
    b"POST /digest HTTP/1.1 \r\nHost: h\r\nContent-Length: 0\r\n\r\n": [400],
    b"P(ST /digest HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n": [400],
    b"POST digest HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n": [400],
    b"POST /digest HTTP/1.1\r\nContent-Length: 0\r\n\r\n": [400],
    b"POST /digest HTTP/1.1\r\nHost: h\r\nHost: h\r\nContent-Length: 0\r\n\r\n": [400],
    b"POST /digest HTTP/1.1\nHost: h\nContent-Length: 0\n\n": [400],
    b"POST /digest HTTP/1.1\r\nHost: h\nContent-Length: 0\r\n\r\n": [400],
    b"POST /digest HTTP/1.1\r\nHost: h\r\n x: folded\r\nContent-Length: 0\r\n\r\n": [400],
    b"POST /digest HTTP/1.1\r\nHost : h\r\nContent-Length: 0\r\n\r\n": [400],
    b"POST /digest HTTP/1.1\r\nHost: h\r\nx: \0\r\nContent-Length: 0\r\n\r\n": [400],
    b"POST /digest HTTP/1.1\r\nHost: h\r\nx\0: 1\r\nContent-Length: 0\r\n\r\n": [400],
    b"POST /digest HTTP/1.1\r\nHost: h\r\nnocolon\r\nContent-Length: 0\r\n\r\n": [400],
    b"POST /digest HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na": [400],
    b"POST /digest HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n": [400],
    b"POST /digest HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n": [400],
    **{b"POST /digest HTTP/1.1\r\nHost: h\r\nContent-Length: " + length + b"\r\n\r\n": [status]
       for length, status in ((b"", 400), (b"-1", 400), (b"+1", 400), (b"1x", 400), (b"1, 1", 400),
                              (b"0x1", 400), (b"65537", 413), (b"9" * 400, 413),
                              (b"18446744073709551616", 413))},
    b"POST /digest HTTP/1.1\r\nHost: h\r\n\r\n": [411],
    b"GET /ready HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na": [400],
    b"GET /digest HTTP/1.1\r\nHost: h\r\n\r\n": [405],
    b"POST /ready HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n": [405],
    b"post /digest HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n": [405],
    b"GET / HTTP/1.1\r\nHost: h\r\n\r\n": [404],
    b"GET /ready?x HTTP/1.1\r\nHost: h\r\n\r\n": [404],
    b"GET /ready HTTP/1.1\r\nx: " + b"y" * 5000 + b"\r\nHost: h\r\n\r\n": [431],
    b"x" * 4096: [431],
    b"x" * 100000: [431],
    GOOD + b"nonsense\r\n\r\n" + GOOD: [200, 400],  # nothing after what was refused
    GOOD + GOOD[:40]: [200, 400],
}


@check
def both_servers_refuse_what_is_malformed_and_say_which_way(_options, scratch):
    for program in servers():
        with serving(program) as (child, port):
            for request, wanted in REFUSED.items():
                expect_equal(statuses(talk(port, request)), wanted, f"{program} {request[:90]!r}")
            said = talk(port, post(b"x" * 65537))
            expect_equal(statuses(said), [413], "a body that is one byte too long")
            expect(b"Connection: close" in said, f"{said!r}")
            expect_equal(statuses(talk(port, GOOD)), [200], "after all that")
            expect_equal(child.poll(), None, "the server")


@check
def connections_are_kept_pipelines_answered_in_order_and_half_closed_ones_served(
        _options, scratch):
    for program in servers():
        with serving(program, environment(rounds=1)) as (_, port):
            with socket.create_connection(("127.0.0.1", port), timeout=HANG) as connection:
                for body in (b"a", b"bc", b""):
                    connection.sendall(post(body))
                    said = connection.recv(4096)
                    expect(said.endswith(b"\r\n\r\n%d" % plain_digest(body, 1)), f"{said!r}")
            bodies = [b"%d" % i for i in range(300)]
            said = talk(port, b"".join(map(post, bodies)))
            answers = [part.rsplit(b"\r\n\r\n", 1)[1] for part in said.split(b"HTTP/1.1 ")[1:]]
            expect_equal(answers, [b"%d" % plain_digest(body, 1) for body in bodies], "a pipeline")
            said = talk(port, post(b"a", b"Connection: CLOSE\r\n") + GOOD, shut=False)
            expect_equal(statuses(said), [200], "after Connection: close")


@check
def a_slow_client_is_served_and_does_not_hold_up_another(_options, scratch):
    for program in servers():
        with serving(program) as (_, port):
            said = []
            slow = threading.Thread(target=lambda: said.append(
                talk(port, *(bytes([byte]) for byte in GOOD), pause=0.005)))
            slow.start()
            for _ in range(20):
                expect_equal(statuses(talk(port, GOOD)), [200], "another client")
            expect(slow.is_alive(), "the slow client was not slow enough for this check")
            slow.join()
            expect_equal(statuses(said[0]), [200], "the slow client")


@check
def a_port_that_is_taken_is_named_with_what_to_do(_options, scratch):
    generator, table = generator_program(), scratch / "table"
    oracle(environment(), table)
    for program in servers():
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            text = (f"127.0.0.1:{port}: address in use; stop what listens there, or give port 0 "
                    "for a free one\n")
            done = run([program, port])
            expect_equal((done.returncode, done.stdout, done.stderr), (2, "", text), str(program))
            done = run([generator, "latency", "--table", table, "--serve", program, "--port", port])
            expect_equal((done.returncode, done.stdout), (2, ""), "load")
            expect(done.stderr.startswith(text) and "did not start" in done.stderr, done.stderr)
        for words in (["x"], ["65536"], [""], ["1", "2"]):
            expect_equal(run([program, *words]).returncode, 2, f"{program} {words}")


@check
def a_server_ends_on_sigterm_and_when_its_harness_is_gone(_options, scratch):
    for program in servers():
        with serving(program) as (child, _):
            child.send_signal(signal.SIGTERM)
            expect_equal(child.wait(HANG), 0, "SIGTERM")
        with serving(program) as (child, port), socket.create_connection(("127.0.0.1", port)):
            child.stdin.close()
            expect_equal(child.wait(HANG), 0, "the end of standard input")


def expanded(words, places, lists):
    """A command of the manifest with its placeholders replaced."""
    out = []
    for word in words:
        if word in lists:
            out += lists[word]
            continue
        for name, path in places.items():
            word = word.replace("{" + name + "}", str(path))
        out.append(word)
    return out


@check
def a_run_as_the_manifest_has_it_prints_what_the_oracle_does_on_both_sides(_options, scratch):
    manifest = json.loads((SUITE / "cases.json").read_text())
    case = manifest["cases"]["http_compute"]
    for side in ("candidate", "reference"):
        toolchain = manifest["toolchains"][case[side]["toolchain"]]
        build = scratch / side
        (build / "scratch").mkdir(parents=True)
        places = {"source": SUITE / case[side]["source"], "program": build / "program",
                  "build": build, "case": CASE, "input": build / "input",
                  "scratch": build / "scratch"}
        lists = {"{flags}": [], "{arguments}": expanded(case["arguments"], places, {})}
        env = {**environment(), **toolchain["environment"], **case["presets"]["test"]}
        for command in (*toolchain["build"], case["input"]["generator"]):
            done = run(expanded(command, places, lists), env=env)
            expect_equal((done.returncode, done.stderr), (0, ""), f"{command}")
        done = run(expanded(toolchain["run"], places, lists), env=env)
        wanted = run(expanded(case["oracle"]["command"], places, lists), env=env)
        expect_equal((done.returncode, done.stdout, done.stderr), (0, wanted.stdout, ""), side)


# ---- the load generator --------------------------------------------------------------------------


def wait_for_work(pid, seconds):
    """Until a process has computed for so long, as a sign that the run is on its way."""
    for _ in range(HANG * 200):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        if (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") >= seconds:
            return
        time.sleep(0.005)
    raise AssertionError("the run did not begin")


def paused_run(generator, table, program, mode, *words):
    """A run in the middle of which the server stands still for half a second."""
    with serving(program) as (child, port):
        whole = {}
        thread = threading.Thread(target=lambda: whole.update(json.loads(run(
            [generator, mode, "--table", table, "--port", port, "--slip-us", 100000000, *words],
            env=environment(1500, 64), timeout=120).stdout)))
        thread.start()
        wait_for_work(child.pid, 0.05)
        child.send_signal(signal.SIGSTOP)
        time.sleep(PAUSE)
        child.send_signal(signal.SIGCONT)
        thread.join()
        return whole


def closed_loop(table, program):
    """The p99 of a client that waits for each answer, with the same pause."""
    lines = [line.split(" ") for line in table.read_text().splitlines()]
    latencies = []
    with serving(program) as (child, port), socket.create_connection(
            ("127.0.0.1", port), timeout=HANG) as connection:
        def stop_and_go():
            child.send_signal(signal.SIGSTOP)
            time.sleep(PAUSE)
            child.send_signal(signal.SIGCONT)

        for i in range(1500):
            if i == 700:
                thread = threading.Thread(target=stop_and_go)
                thread.start()
            start = time.monotonic()
            connection.sendall(post(bytes.fromhex(lines[i % len(lines)][0])))
            connection.recv(4096)
            latencies.append(time.monotonic() - start)
        thread.join()
    return sorted(latencies)


@check
def a_pause_of_the_server_shows_in_p99_and_delays_no_request(_options, scratch):
    generator, table = generator_program(), scratch / "table"
    oracle(environment(), table)
    for program in servers():
        for words in (("--connections", 500, "--seed", 7), ("--connections", 8)):
            figures = paused_run(generator, table, program, "latency", "--rate", 500, *words)
            expect_equal((figures["scheduled"], figures["completed"], figures["wrong"]),
                         (1500, 1500, 0), str(words))
            expect(figures["p99_ns"] >= 400e6, f"{program} {words}: {figures}")
            expect(figures["sent"] >= 0.99 * 1500, f"{program} {words}: {figures}")
            if words[1] == 8:  # too few connections for the pause: queued, and counted from then
                expect(figures["queued"] > 100, f"{figures}")
        latencies = closed_loop(table, program)
        expect(latencies[-1] >= 0.4, f"the pause was not seen at all: {latencies[-1]}")
        expect(latencies[len(latencies) * 99 // 100 - 1] < 0.4,
               "a client that waits saw the pause in its p99: this check shows nothing")


def bad_server(scratch, every):
    """A server in which request 100 is answered wrongly, or ends it."""
    program = scratch / f"bad-{'wrong' if 'output' in every else 'dead'}"
    source = (CASE / "http_compute.cpp").read_text()
    mark = "  const Request request = parse(input_);\n"
    expect_equal(source.count(mark), 1, "where to break the server")
    source = source.replace('"../common/bench.h"', f'"{SUITE}/common/bench.h"')
    (scratch / "bad.cpp").write_text(source.replace(
        mark, mark + "  static int count = 0;\n"
        f"  if (request.kind == Kind::digest && ++count == 100) {{ {every} }}\n"))
    built = run(["g++", "-std=c++20", "-O1", scratch / "bad.cpp", "-o", program])
    expect_equal(built.returncode, 0, built.stderr)
    return program


@check
def a_single_wrong_answer_and_a_server_that_dies_are_seen(_options, scratch):
    generator, table = generator_program(), scratch / "table"
    oracle(environment(), table)
    wrong = bad_server(scratch, 'answer(200, "1", false, &output_); '
                       'input_.erase(0, request.head + request.body); return;')
    dead = bad_server(scratch, "std::_Exit(0);")
    for mode in ("throughput", "latency"):
        words = (mode, "--table", table, "--serve")
        figures = load(generator, *words, wrong, env=environment(1500), code=1)
        expect_equal([figures[key] for key in ("completed", "wrong", "errors", "timeouts")],
                     [1500, 1, 0, 0], mode)
        figures = load(generator, *words, dead, env=environment(1500), code=1)
        expect_equal((figures["completed"], figures["completed"] + figures["errors"]), (99, 1500),
                     f"{figures}")
        expect(figures["p99_ns"] >= 5e9, f"failures made it look fast: {figures}")
    done = run([generator, "throughput", "--table", table, "--serve", wrong, "--metrics",
                scratch / "metrics"], env=environment(1500))
    expect(done.returncode == 1 and "wrong 1 " in done.stdout, f"{done}")
    expect(done.stdout != oracle(environment(1500)), "the result of a wrong run")


@check
def a_server_that_says_nothing_makes_timeouts(_options, scratch):
    generator, table = generator_program(), scratch / "table"
    oracle(environment(), table)
    mute = bad_server(scratch, "std::signal(SIGTERM, SIG_DFL); for (;;) ::pause();")
    figures = load(generator, "latency", "--table", table, "--serve", mute, "--timeout-ms", 300,
                   "--connections", 200, env=environment(1000), code=1)
    expect_equal(figures["scheduled"],
                 figures["completed"] + figures["errors"] + figures["timeouts"], "all counted")
    expect(figures["timeouts"] > 100, f"{figures}")


@check
def a_generator_that_is_late_says_so_and_its_run_does_not_count(_options, scratch):
    generator, table = generator_program(), scratch / "table"
    oracle(environment(), table)
    child = subprocess.Popen([str(generator), "latency", "--table", str(table), "--serve",
                              str(servers()[0])], stdout=subprocess.PIPE,
                             env=environment(3000), text=True)
    wait_for_work(child.pid, 0.03)
    child.send_signal(signal.SIGSTOP)
    time.sleep(0.3)
    child.send_signal(signal.SIGCONT)
    figures = json.loads(child.communicate(timeout=HANG)[0])
    expect_equal((child.returncode, figures["valid"], figures["completed"]), (3, False, 3000),
                 f"{figures}")
    expect(figures["slip_p99_ns"] >= 200e6, f"{figures}")


@check
def the_capacity_lies_between_what_was_sustained_and_what_was_not(_options, scratch):
    generator, table = generator_program(), scratch / "table"
    env = environment(rounds=300)  # slow enough for the server, not the generator, to give way
    oracle(env, table)
    found = load(generator, "capacity", "--table", table, "--serve", servers()[0],
                 "--rate", 1000, "--step-ms", 200, "--slip-us", 100000000, env=env)
    steps = found["steps"]
    good = [step["rate_rps"] for step in steps if step["sustained"]]
    bad = [step["rate_rps"] for step in steps if not step["sustained"]]
    expect_equal(found["capacity_rps"], max(good), f"{found}")
    expect(any(max(good) < rate <= 1.03 * max(good) for rate in bad), f"{good} {bad}")
    expect(all(step["scheduled"] >= 1000 for step in steps), "steps of at least 1,000 requests")


@check
def what_the_generator_cannot_use_is_refused(_options, scratch):
    generator, table = generator_program(), scratch / "table"
    oracle(environment(), table)
    server = servers()[0]
    good = ["latency", "--table", table, "--serve", server]
    for words in ([], ["latency"], ["fast", *good[1:]], good[:-1], good[:3], [*good, "--rate"],
                  [*good, "--rate", "0"], [*good, "--rate", "x"], [*good, "--connections", "1001"],
                  [*good, "--port", "65536"], [*good, "--nothing", "1"]):
        done = run([generator, *words])
        expect(done.returncode == 2 and done.stderr.startswith("usage: "), f"{words}: {done}")
    (scratch / "bad").write_text("xyz\n")
    for words in (["latency", "--table", scratch / "none", "--serve", server],
                  ["latency", "--table", scratch / "bad", "--serve", server],
                  ["latency", "--table", table, "--serve", scratch / "none"],
                  ["latency", "--table", table, "--serve", "/bin/true"]):
        done = run([generator, *words])
        expect(done.returncode == 2 and done.stdout == "" and done.stderr, f"{words}: {done}")


run_checks()
