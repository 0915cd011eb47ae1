#!/usr/bin/env python3
"""The programs of the native suite against their oracles, the oracles against plain simulations, and
both against the published outputs of the workloads that they restate."""
import collections
import json
import os
import pathlib
import sys

import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from checks import check, expect, expect_equal, real_data, run, run_checks
from native_programs import RUSTC, SUITE, compiled, rust, sha256

CARGO = "/usr/bin/cargo"
COMPUTED = ("fib", "buffer_scan", "hashmap_churn", "particle_update", "tree_walk")

# What the workloads print at their published sizes.
PUBLISHED = {
    "fib": "102334155\n",
    "buffer_scan": "624855046\n33\n16\n",
    "hashmap_churn": "29562214\n29562214\n3793\n3793\n",
    "particle_update": "745944226\n10000\n32768\n",
    "tree_walk": "85785962\n16777200\n16\n",
}
PUBLISHED_SHA256 = {
    "fib": "a9c936c441fe6280cabd79ab1abac782a93ac7ad3495f87b8040d653a046ff36",
    "tree_walk": "f530738204d3a33435bc70d43f8baf8f52de013107a036f8791f7a89f46cfffd",
}
RECORDS_SHA256 = "d9bc7f096f0663f8f1edef2bb71e509668551b59c2b24c76cc08d799b5f031e4"
TRANSFORMED_SHA256 = "203d25f2ffd910c9e3b3846891962b5cf75924dac3b9721fe3180a683145e554"
TOKENS_SHA256 = "c832b02e8f7d0fcbd53f3953fde4838def71a17980f67c71b55e19d86ef3edc2"

# Sizes and steps at which a wrong edge shows, per program.
BOUNDARIES = {
    "fib": [(1,), (2,), (3,), (20,)],
    "buffer_scan": [(1,), (2,), (255,), (256,), (257,), (513,), (1025,)],
    "hashmap_churn": [(1,), (2,), (7,), (8,), (4096,), (50000,)],
    "particle_update": [(1, 1), (2, 3), (100, 1), (50, 512)],
    "tree_walk": [(1, 1), (2, 3), (10, 2)],
}


def environment(parameters=(), iterations=None):
    """Our own environment without stray parameters, and with these: (size, steps)."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_BENCH_")}
    env.update(zip(("ASSAY_BENCH_SIZE", "ASSAY_BENCH_STEPS"), map(str, parameters)))
    if iterations is not None:
        env["ASSAY_BENCH_ITERATIONS"] = str(iterations)
    return env


def output(command, env):
    done = run(command, env=env)
    expect_equal((done.returncode, done.stderr), (0, ""), f"exit and stderr of {command}")
    return done.stdout


def oracle(case, env, *words):
    return output([sys.executable, "-B", SUITE / case / "oracle.py", *words], env)


def rust_with_crates(case, scratch):
    """Built as a copy: cargo writes a lock file beside the sources."""
    copy = scratch / "sources"
    for source in [*(SUITE / case).rglob("*"), *(SUITE / "common").glob("*.rs")]:
        if source.is_file():
            target = copy / source.relative_to(SUITE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    built = run([CARGO, "build", "--release", "--offline", "--message-format=json",
                 "--target-dir", scratch / "target"], cwd=copy / case,
                env={**environment(), "RUSTC": RUSTC, "RUSTFLAGS": "-D warnings"})
    expect_equal(built.returncode, 0, f"cargo build {case}: {built.stderr}")
    made = [message["executable"] for message in map(json.loads, built.stdout.splitlines())
            if message.get("executable")]
    expect_equal(len(made), 1, "executables in cargo's messages")
    return made[0]


# ---- plain simulations ---------------------------------------------------------------------------


def plain_fib(n):
    return [n if n < 2 else plain_fib(n - 1)[0] + plain_fib(n - 2)[0]]


def plain_buffer_scan(size):
    values, h = [(17 * i + 23) % 256 for i in range(size)], 0
    for passed in range(4):
        for i, value in enumerate(values):
            values[i] = (value + passed + 1) % 256
            h = (33 * h + values[i]) % 1000000007
    return [h, values[0], values[-1]]


def plain_hashmap_churn(operations):
    numbers, names, state = collections.Counter(), collections.Counter(), 7
    for i in range(operations):
        state = (state * 1103515245 + 12345) % 2**31
        key = state % 4096
        numbers[key] += 1
        names[f"k{key}"] += 1
        if i % 7 == 0:
            numbers.pop((key + 17) % 4096, None)
            names.pop(f"k{(key + 17) % 4096}", None)
    return [sum((key + 1) * count for key, count in numbers.items()),
            sum((int(key[1:]) + 1) * count for key, count in names.items()),
            len(numbers), len(names)]


def plain_particle_update(size, steps):
    state, particles = 7, []
    for _ in range(size):
        one = []
        for _ in range(6):
            state = state * 48271 % 2147483647
            one.append((state % 2048 - 1024) / 1024)
        particles.append(one)
    h = 0
    for x, y, vx, vy, ax, ay in particles:
        for _ in range(steps):
            vx, vy = vx + ax, vy + ay
            x, y = x + vx / 64, y + vy / 64
        for value in (x, y, vx, vy, ax, ay):
            h = (33 * h + int(value * 65536)) % 1000000007
    return [h, size, steps]


def plain_tree_walk(depth, rounds):
    nodes = 0

    def tree_hash(seed, left):
        nonlocal nodes
        nodes += 1
        value = seed % 1000
        if left == 0:
            return value
        a = tree_hash((seed * 48271 + 17) % 2147483647, left - 1)
        b = tree_hash((seed * 69621 + 31) % 2147483647, left - 1)
        return (33 * a + 17 * value + 97 * b) % 1000000007

    digest = 0
    for index in range(rounds):
        digest = (65599 * digest + tree_hash(7 + 7919 * index, depth)) % 1000000007
    return [digest, nodes, rounds]


# ---- checks --------------------------------------------------------------------------------------


@check
def the_oracles_agree_with_plain_simulations_where_edges_show(_options, _scratch):
    for case, boundaries in BOUNDARIES.items():
        for parameters in boundaries:
            plain = globals()[f"plain_{case}"](*parameters)
            expect_equal(oracle(case, environment(parameters)),
                         "".join(f"{value}\n" for value in plain), f"{case} {parameters}")


@check
def the_oracles_print_the_published_outputs(_options, _scratch):
    for case, wanted in PUBLISHED.items():
        expect_equal(oracle(case, environment()), wanted, case)
    for case, wanted in PUBLISHED_SHA256.items():
        expect_equal(sha256(PUBLISHED[case]), wanted, case)


@check
def every_program_prints_the_published_output_and_repeats_it(_options, scratch):
    for case in COMPUTED:
        for program in (compiled(case, scratch), compiled(case, scratch, "clang++"),
                        rust(case, scratch)):
            expect_equal(output([program], environment()), PUBLISHED[case], str(program))
            small = environment(BOUNDARIES[case][-1], iterations=3)
            expect_equal(output([program], small), oracle(case, small), f"{program}, 3 times")


@check
def every_program_agrees_with_its_oracle_at_the_edges_under_sanitizers(_options, scratch):
    flags = ["-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    for case in COMPUTED:
        program = compiled(case, scratch, flags=flags)
        checked = rust(case, scratch)
        for parameters in BOUNDARIES[case]:
            env = environment(parameters)
            expect_equal(output([program], env), oracle(case, env), f"{case} {parameters}")
            expect_equal(output([checked], env), oracle(case, env), f"{case}.rs {parameters}")


def programs_with_input(case, scratch):
    flags = ["-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    other = rust_with_crates(case, scratch) if case == "json_transform" else rust(case, scratch)
    (scratch / "sanitized").mkdir()
    return (compiled(case, scratch), compiled(case, scratch, "clang++"), other), compiled(
        case, scratch / "sanitized", flags=flags)


@check
def string_tokens_counts_our_corpus_and_a_stranger_one(_options, scratch):
    programs, sanitized = programs_with_input("string_tokens", scratch)
    emoji = scratch / "emoji"
    emoji.write_text("a|\U0001f468\u200d\U0001f469\u200d\U0001f467| a \u2014INFO:\n|\n\n"
                     "\u2014\u2014|WARN:INFO:WARN|\u00e9\u0301\n", encoding="utf-8")
    for corpus in (SUITE / "string_tokens" / "corpus.txt", emoji):
        for visits in (1, 7, 8, 9, 4099):
            env = environment()
            env["ASSAY_BENCH_STEPS"] = str(visits)
            wanted = oracle("string_tokens", env, corpus)
            for program in (*programs, sanitized):
                expect_equal(output([program, corpus], env), wanted, f"{program} {visits}")


@check
def string_tokens_gives_the_published_digest_on_the_published_corpus(_options, scratch):
    corpus = real_data("turbo", "string_tokens_corpus.txt")
    for program in (compiled("string_tokens", scratch), rust("string_tokens", scratch)):
        expect_equal(sha256(output([program, corpus], environment())), TOKENS_SHA256, str(program))
    expect_equal(sha256(oracle("string_tokens", environment(), corpus)), TOKENS_SHA256, "oracle")


@check
def json_transform_gives_the_published_digest_and_its_oracle_agrees(_options, scratch):
    records = scratch / "records"
    output([sys.executable, "-B", SUITE / "json_transform" / "generate.py", records], environment())
    expect_equal(sha256(records.read_bytes()), RECORDS_SHA256, "records")
    programs, sanitized = programs_with_input("json_transform", scratch)
    wanted = oracle("json_transform", environment(), records)
    expect_equal(sha256(wanted), TRANSFORMED_SHA256, "oracle")
    for program in programs:
        expect_equal(output([program, records], environment()), wanted, str(program))
    env = environment()
    env["ASSAY_BENCH_STEPS"] = "2"
    for program in (*programs, sanitized):
        expect_equal(output([program, records], env), oracle("json_transform", env, records),
                     f"{program}, 2 rounds")


@check
def sqlite_ends_with_the_rows_and_outcomes_that_its_oracle_predicts(_options, scratch):
    programs, sanitized = programs_with_input("sqlite", scratch)
    for parameters in ((1, 1), (5, 3), (7, 2), (36, 40), (100, 7)):
        env = environment(parameters)
        for program in (*programs, sanitized):
            expect_equal(output([program, scratch], env), oracle("sqlite", env),
                         f"{program} {parameters}")
    twice = environment(iterations=2)
    for program in programs:
        expect_equal(output([program, scratch], twice), oracle("sqlite", twice), str(program))


@check
def the_json_schema_accepts_our_manifest_and_refuses_what_it_can_see(_options, _scratch):
    schema = json.loads((SUITE / "manifest.schema.json").read_text())
    manifest = json.loads((SUITE / "cases.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    expect_equal([error.message for error in validator.iter_errors(manifest)], [], "our manifest")
    fib = manifest["cases"]["fib"]
    for change, spoiled in {
            "unknown key": {**manifest, "extra": 1},
            "seed as text": {**manifest, "seed": "7"},
            "no cases": {**manifest, "cases": {}},
            "blank blocker": {**manifest, "cases": {"x": {**fib, "qualification_blockers": [" "]}}},
            "contract as number": {**manifest, "cases": {"x": {**fib, "require_zero_live": 1}}},
            "case name": {**manifest, "cases": {"Fib": fib}},
            "status": {**manifest, "cases": {"x": {**fib, "status": "done"}}},
            "path upwards": {**manifest, "cases": {"x": {**fib, "source_sha256": {"../x": "0" * 64}}}},
            "absolute path": {**manifest, "cases": {"x": {**fib, "source_sha256": {"/x": "0" * 64}}}},
            "parameter": {**manifest, "cases": {"x": {**fib, "bounds": {"HOME": [1, 2]}}}},
            "two oracles": {**manifest, "cases": {
                "x": {**fib, "oracle": {"text": "", "command": ["true"]}}}},
            "no full preset": {**manifest, "protocols": {}}}.items():
        expect(not validator.is_valid(spoiled), f"accepted: {change}")


@check
def a_parameter_out_of_its_bounds_is_named_with_its_bounds(_options, scratch):
    bad = ("0", "-1", "", "1x", " 1", "+1", "1.5", "99999999999999999999", "1\u0663")
    for program in ([compiled("tree_walk", scratch)], [rust("tree_walk", scratch)],
                    [sys.executable, "-B", SUITE / "tree_walk" / "oracle.py"]):
        for name, most in (("ASSAY_BENCH_SIZE", 20), ("ASSAY_BENCH_STEPS", 64)):
            for value in (*bad, str(most + 1)):
                done = run(program, env={**environment(), name: value})
                expect_equal((done.returncode, done.stdout, done.stderr),
                             (2, "", f"{name} must be 1 to {most}\n"), f"{program} {name}={value}")


@check
def a_missing_input_is_named(_options, scratch):
    for program in ([compiled("string_tokens", scratch)], [rust("string_tokens", scratch)],
                    [sys.executable, "-B", SUITE / "string_tokens" / "oracle.py"]):
        done = run([*program, scratch / "none"])
        expect_equal(done.returncode, 2, str(program))
        expect(str(scratch / "none") in done.stderr, f"{program}: {done.stderr}")
        expect_equal(run(program).returncode, 2, f"{program} without a file")
        expect_equal(run([*program, scratch]).returncode, 2, f"{program} with a directory")


run_checks()
