#!/usr/bin/env python3
"""The allocation meter: exact counts of known programs, and no record where none is due."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from checks import check, expect, expect_equal, run, run_checks
from native_programs import RUSTC, SUITE, compiled, rust

HERE = pathlib.Path(__file__).resolve().parent
PREFIX = "ASSAY_ALLOC_PROFILE "
NODE_BYTES = 24  # of tree_walk, in both languages
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
# One program without anything of its own in each language: what its runtime leaves behind.
EMPTY_CXX = '#include <cstdio>\nint main() { std::printf("%d\\n", 1); }\n'
EMPTY_RUST = 'fn main() { println!("{}", 1); }\n'


def meter(options):
    return options.build / "libassay_alloc.so"


def environment(options, switch="1", **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
    env["LD_PRELOAD"] = str(meter(options).resolve())
    if switch is not None:
        env["ASSAY_ALLOC_PROFILE"] = switch
    return {**env, **more}


def record_of(done, command):
    """The one record on stderr, its counters as integers."""
    lines = done.stderr.splitlines(keepends=True)
    expect_equal(len(lines), 1, f"lines on stderr of {command}: {done.stderr!r}")
    expect(lines[0].startswith(PREFIX + "{") and lines[0].endswith("}\n"), f"a record: {lines[0]!r}")
    record = json.loads(lines[0][len(PREFIX):])
    for key, value in record.items():
        if isinstance(value, str) and key not in ("coverage", "scope_end"):
            expect_equal(value, str(int(value)), key)
            record[key] = int(value)
    return record


def profile(options, command, exit_code=0, **env):
    done = run(command, env=environment(options, **env))
    expect_equal(done.returncode, exit_code, f"exit code of {command}: {done.stderr}")
    return record_of(done, command)


def valid(record):
    expect_equal((record["schema"], record["coverage"], record["scope_end"], record["valid"],
                  record["reasons"]),
                 ({"name": "assay.alloc_profile", "major": 1, "minor": 0}, "whole_heap",
                  "entry_return", True, []), "head of the record")
    expect_equal((record["errors"], record["unknown_frees"]), (0, 0), "errors and unknown frees")
    expect_equal(record["allocations"], record["heap_frees"] + record["live_allocations"], "balance")
    return record


def invalid(record, *reasons):
    expect_equal((record["valid"], record["reasons"]), (False, list(reasons)), "validity")
    return record


def part(record, *keys):
    return {key: record[key] for key in keys}


def subject(scratch, compiler="gcc"):
    program = scratch / f"subject-{compiler}"
    built = run([compiler, "-std=gnu11", "-O1", "-fno-builtin", *WARNINGS, "-pthread",
                 HERE / "allocation_subject.c", "-o", program])
    expect_equal((built.returncode, built.stderr), (0, ""), compiler)
    return program


def written(scratch, name, text):
    path = scratch / name
    path.write_text(text)
    return path


@check
def the_calibration_program_gives_its_exact_numbers(options, _scratch):
    record = valid(profile(options, [options.build / "assay-alloc-calibration"]))
    usable = part(record, "total_usable_bytes", "live_usable_bytes", "peak_live_usable_bytes")
    expect_equal({k: v for k, v in record.items() if isinstance(v, int) and k not in usable
                  and k != "valid"},
                 {"allocations": 107, "heap_frees": 106, "live_allocations": 1,
                  "peak_live_allocations": 100, "total_requested_bytes": 11897,
                  "live_requested_bytes": 4000, "peak_live_requested_bytes": 5050,
                  "reallocations": 3, "unknown_frees": 0, "errors": 0,
                  "peak_observer_bytes": 98304, "allocations_before_entry": 0,
                  "frees_of_earlier_blocks": 0}, "counters")
    # What malloc hands out on a 64-bit machine: 16 bytes per step, 8 of each are its own.
    usable_of = [max(24, (size + 8 + 15) // 16 * 16 - 8) for size in range(1, 101)]
    expect_equal(usable["peak_live_usable_bytes"], sum(usable_of), "peak usable")
    expect_equal(usable["live_usable_bytes"], 4008, "live usable")


@check
def every_run_gives_the_same_record(options, _scratch):
    command = [options.build / "assay-alloc-calibration"]
    records = [profile(options, command) for _ in range(20)]
    expect(all(record == records[0] for record in records), "20 equal records")


@check
def an_empty_program_has_no_allocations(options, _scratch):
    record = valid(profile(options, [options.build / "assay-alloc-calibration", "empty"]))
    expect_equal(sum(v for k, v in record.items() if isinstance(v, int) and k != "valid"), 0,
                 "all counters together")


@check
def eight_threads_of_ten_thousand_blocks_are_counted_exactly(options, _scratch):
    command = [options.build / "assay-alloc-calibration", "threads"]
    idle = valid(profile(options, [*command, 0]))
    for _ in range(5):
        record = valid(profile(options, [*command, 10000]))
        for key, wanted in (("allocations", 80000), ("heap_frees", 80000), ("live_allocations", 0),
                            ("total_requested_bytes", 80000 * 32), ("live_requested_bytes", 0)):
            expect_equal(record[key] - idle[key], wanted, f"{key} above idle threads")


@check
def a_child_of_fork_is_not_counted_and_writes_nothing(options, _scratch):
    record = valid(profile(options, [options.build / "assay-alloc-calibration", "fork"]))
    expect_equal(part(record, "allocations", "heap_frees", "total_requested_bytes"),
                 {"allocations": 1, "heap_frees": 1, "total_requested_bytes": 100}, "the parent's")


@check
def forks_amid_busy_threads_do_not_hang(options, scratch):
    valid(profile(options, [subject(scratch), "forks"]))


@check
def a_program_that_the_program_runs_is_not_observed(options, scratch):
    for compiler in ("gcc", "clang"):
        record = valid(profile(options, [subject(scratch, compiler), "runs"]))
        expect_equal(record["allocations"], 0, "allocations of the outer program")


@check
def children_see_the_switch_off(options, scratch):
    profile(options, [subject(scratch), "switch"])


@check
def edges_of_the_functions_keep_their_meaning(options, scratch):
    for compiler in ("gcc", "clang"):
        record = valid(profile(options, [subject(scratch, compiler), "edges"]))
        # realloc(NULL), malloc(0), malloc(50), 9 alignments, valloc, pvalloc
        expect_equal(part(record, "allocations", "heap_frees", "live_allocations", "reallocations",
                          "total_requested_bytes"),
                     {"allocations": 14, "heap_frees": 14, "live_allocations": 0,
                      "reallocations": 0,
                      "total_requested_bytes": 10 + 50 + sum(16 << i for i in range(9)) + 200},
                     compiler)


@check
def a_million_live_blocks_are_known(options, scratch):
    record = valid(profile(options, [subject(scratch), "many"]))
    sizes = 8 * 10**6 + sum(16 + i % 32 for i in range(10**6))
    expect_equal(part(record, "allocations", "heap_frees", "live_allocations",
                      "peak_live_allocations", "total_requested_bytes",
                      "peak_live_requested_bytes", "live_usable_bytes"),
                 {"allocations": 10**6 + 1, "heap_frees": 10**6 + 1, "live_allocations": 0,
                  "peak_live_allocations": 10**6 + 1, "total_requested_bytes": sizes,
                  "peak_live_requested_bytes": sizes, "live_usable_bytes": 0}, "counters")
    # 2^21 places of 24 bytes, and the half as many from which they were filled.
    expect_equal(record["peak_observer_bytes"], 24 * (2**21 + 2**20), "observer bytes")


@check
def blocks_from_before_main_are_known_apart(options, scratch):
    record = valid(profile(options, [subject(scratch), "earlier"]))
    expect_equal(part(record, "allocations", "heap_frees", "live_allocations", "reallocations",
                      "total_requested_bytes", "allocations_before_entry",
                      "frees_of_earlier_blocks"),
                 {"allocations": 1, "heap_frees": 1, "live_allocations": 0, "reallocations": 0,
                  "total_requested_bytes": 300, "allocations_before_entry": 2,
                  "frees_of_earlier_blocks": 1}, "counters")


@check
def threads_that_ended_are_covered(options, scratch):
    valid(profile(options, [subject(scratch), "ends"]))


@check
def a_thread_that_still_runs_is_not_covered(options, scratch):
    program = subject(scratch)
    for name in ("detached", "detached_thrd"):
        record = invalid(profile(options, [program, name]), "threads_alive")
        expect_equal(record["coverage"], "scope_not_covered", f"coverage of {name}")


@check
def a_scope_within_the_scope_invalidates_the_record(options, scratch):
    invalid(profile(options, [subject(scratch), "overlap"]), "overlapping_scopes")


@check
def foreign_pointers_invalidate_the_record(options, scratch):
    record = invalid(profile(options, [subject(scratch), "foreign"]), "unknown_frees")
    expect_equal(part(record, "unknown_frees", "allocations", "heap_frees"),
                 {"unknown_frees": 2, "allocations": 1, "heap_frees": 1}, "counters")


@check
def a_block_that_was_freed_behind_the_meter_invalidates_the_record(options, scratch):
    record = invalid(profile(options, [subject(scratch), "freed_behind"]), "duplicate_registration")
    expect_equal(record["errors"], 1, "errors")


@check
def a_double_free_ends_in_the_c_library_and_gives_no_record(options, scratch):
    done = run([subject(scratch), "twice"], env=environment(options))
    expect_equal(done.returncode, -signal.SIGABRT, "exit code")
    expect(PREFIX not in done.stderr and "double free" in done.stderr, f"stderr: {done.stderr!r}")


@check
def only_a_return_of_main_gives_a_record(options, scratch):
    program = subject(scratch)
    valid(profile(options, [program, "returns"], exit_code=7))
    for name, code in (("exit", 0), ("_exit", 0), ("pthread_exit", 0), ("abort", -signal.SIGABRT),
                       ("kill", -signal.SIGKILL), ("trap", -signal.SIGSEGV)):
        done = run([program, name], env=environment(options))
        expect_equal((done.returncode, done.stderr), (code, ""), name)


@check
def without_the_switch_there_is_no_record(options, scratch):
    program = subject(scratch)
    for switch in (None, "", "0", "2", "11", "true"):
        done = run([program, "edges"], env=environment(options, switch=switch))
        expect_equal((done.returncode, done.stderr), (0, ""), f"ASSAY_ALLOC_PROFILE={switch}")
    done = run([program, "forks"], env=environment(options, switch=None))
    expect_equal((done.returncode, done.stderr), (0, ""), "forks without the switch")


@check
def a_static_program_gives_no_record(options, scratch):
    source = written(scratch, "static.c", "int main(void) { return 0; }\n")
    built = run(["gcc", "-static", source, "-o", scratch / "static"])
    expect_equal(built.returncode, 0, built.stderr)
    done = run([scratch / "static"], env=environment(options))
    expect_equal((done.returncode, done.stderr), (0, ""), "a static program")


@check
def a_program_with_its_own_malloc_is_told(options, scratch):
    source = written(scratch, "own.c", (
        "#include <stddef.h>\nstatic char arena[1 << 20];\nstatic size_t used;\n"
        "void* malloc(size_t n) { void* p = arena + used; used += (n + 15) / 16 * 16; return p; }\n"
        "void free(void* p) { (void)p; }\nint main(void) { free(malloc(5)); return 0; }\n"))
    built = run(["gcc", "-fno-builtin", "-rdynamic", source, "-o", scratch / "own"])
    expect_equal(built.returncode, 0, built.stderr)
    invalid(profile(options, [scratch / "own"]), "other_allocator")


@check
def cxx_operators_and_containers_are_counted(options, scratch):
    source = written(scratch, "new.cpp", (
        "#include <memory>\n#include <new>\n#include <string>\n#include <vector>\n"
        "struct alignas(128) Wide { char bytes[256]; };\n"
        "int main() {\n  std::vector<int> numbers;\n"
        "  for (int i = 0; i < 1000; ++i) numbers.push_back(i);\n"
        "  auto* wide = new Wide;\n  delete wide;\n"
        "  int* array = new (std::nothrow) int[10];\n  delete[] array;\n"
        "  std::string text(100, 'x');\n  return numbers.size() == 1000 ? 0 : 1;\n}\n"))
    for flags in ([], ["-static-libstdc++"]):
        for compiler in ("g++", "clang++"):
            program = scratch / "new"
            built = run([compiler, "-std=c++20", "-O0", *flags, source, "-o", program])
            expect_equal(built.returncode, 0, built.stderr)
            record = valid(profile(options, [program]))
            # The vector's 11 arrays (1 to 1,024 numbers), and one of each other.
            expect_equal(part(record, "allocations", "live_allocations", "total_requested_bytes"),
                         {"allocations": 14, "live_allocations": 0,
                          "total_requested_bytes": 4 * 2047 + 256 + 40 + 101},
                         f"{compiler} {flags}")
            expect_equal(record["allocations_before_entry"], 1, "libstdc++'s emergency pool")


@check
def a_rust_program_is_counted(options, scratch):
    source = written(scratch, "counts.rs", (
        "fn main() {\n  let boxes: Vec<Box<u64>> = (0..1000).map(Box::new).collect();\n"
        "  let sum: u64 = boxes.iter().map(|b| **b).sum();\n  drop(boxes);\n"
        "  println!(\"{}\", sum);\n}\n"))
    for name, text in (("counts", source), ("empty", written(scratch, "empty.rs", EMPTY_RUST))):
        built = run([RUSTC, "--edition", "2021", text, "-o", scratch / name])
        expect_equal((built.returncode, built.stderr), (0, ""), name)
    empty = valid(profile(options, [scratch / "empty"]))
    record = valid(profile(options, [scratch / "counts"]))
    for key, wanted in (("allocations", 1001), ("heap_frees", 1001), ("live_allocations", 0),
                        ("total_requested_bytes", 16000), ("live_requested_bytes", 0)):
        expect_equal(record[key] - empty[key], wanted, f"{key} above an empty program")


@check
def threads_of_a_rust_program_are_covered_once_joined(options, scratch):
    source = written(scratch, "threads.rs", (
        "fn main() {\n  let all: Vec<_> = (0..4u64).map(|t| std::thread::spawn(move || {\n"
        "    (0..1000u64).map(|i| *Box::new(i + t)).sum::<u64>()\n"
        "  })).collect();\n"
        "  let sum: u64 = all.into_iter().map(|t| t.join().unwrap()).sum();\n"
        "  assert_eq!(sum, 4 * 499500 + 6000);\n}\n"))
    # Not optimised: a box that nobody keeps would not be allocated.
    built = run([RUSTC, "--edition", "2021", source, "-o", scratch / "threads"])
    expect_equal((built.returncode, built.stderr), (0, ""), "rustc")
    record = valid(profile(options, [scratch / "threads"]))
    beside = record["allocations"] - 4000
    # A handle, a name, a packet, a closure, and the C library's table, of each thread; and main's.
    expect(0 < beside < 60, f"{beside} allocations beside the 4,000")


@check
def the_record_is_one_write(options, _scratch):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with ours, theirs:
        ours.settimeout(60)
        subprocess.run([options.build / "assay-alloc-calibration"], env=environment(options),
                       stderr=theirs, check=True, timeout=60)
        line = ours.recv(65536)  # a datagram is what one write wrote
        ours.setblocking(False)
        expect(line.startswith(PREFIX.encode()) and line.endswith(b"}\n"), f"the line: {line}")
        try:
            expect(False, f"a second write: {ours.recv(65536)}")
        except BlockingIOError:
            pass


@check
def a_closed_stderr_is_survived(options, scratch):
    done = run(["sh", "-c", 'LD_PRELOAD="$1" ASSAY_ALLOC_PROFILE=1 exec "$2" returns 2>&-', "sh",
                meter(options).resolve(), subject(scratch)])
    expect_equal((done.returncode, done.stdout, done.stderr), (7, "", ""), "without stderr")


def tree(options, program, depth, rounds):
    return valid(profile(options, [program], ASSAY_BENCH_SIZE=str(depth),
                         ASSAY_BENCH_STEPS=str(rounds)))


@check
def tree_walk_allocates_its_nodes_and_nothing_else(options, scratch):
    depth = 12
    nodes = 2 ** (depth + 1) - 1
    # The oracle's second line is the number of nodes of all rounds.
    oracle = run([sys.executable, "-B", SUITE / "tree_walk" / "oracle.py"],
                 env={**os.environ, "ASSAY_BENCH_SIZE": str(depth), "ASSAY_BENCH_STEPS": "4"})
    expect_equal(int(oracle.stdout.split()[1]), 4 * nodes, "the oracle's nodes")
    empty_cxx = scratch / "empty-cxx"
    built = run(["g++", "-O2", written(scratch, "empty.cpp", EMPTY_CXX), "-o", empty_cxx])
    expect_equal(built.returncode, 0, built.stderr)
    empty_rust = scratch / "empty-rust"
    built = run([RUSTC, written(scratch, "empty.rs", EMPTY_RUST), "-o", empty_rust])
    expect_equal(built.returncode, 0, built.stderr)
    # Rust copies the names of the three parameters, and the values of the two that are set.
    names = [len(f"ASSAY_BENCH_{name}") + 1 for name in ("SIZE", "STEPS", "ITERATIONS")]
    rust_extra = (5, sum(names) + len(f"{depth}4"))
    for program, empty, extra in ((compiled("tree_walk", scratch), empty_cxx, (0, 0)),
                                  (compiled("tree_walk", scratch, "clang++"), empty_cxx, (0, 0)),
                                  (rust("tree_walk", scratch), empty_rust, rust_extra)):
        base = valid(profile(options, [empty]))
        one, four = tree(options, program, depth, 1), tree(options, program, depth, 4)
        for rounds, record in ((1, one), (4, four)):
            for key, wanted in (("allocations", rounds * nodes + extra[0]),
                                ("heap_frees", rounds * nodes + extra[0]),
                                ("total_requested_bytes", rounds * nodes * NODE_BYTES + extra[1]),
                                ("live_allocations", 0), ("live_requested_bytes", 0),
                                ("live_usable_bytes", 0)):
                expect_equal(record[key] - base[key], wanted, f"{program.name} {key}")
            # Beside the nodes no more than the empty program has at its end.
            beside = record["peak_live_allocations"] - nodes
            expect(0 <= beside <= base["live_allocations"],
                   f"{program.name}: {beside} blocks beside {nodes} nodes at the peak")
        for key in ("peak_live_allocations", "peak_live_requested_bytes", "peak_live_usable_bytes"):
            expect_equal(four[key], one[key], f"{program.name} {key} after four rounds and one")


@check
def the_meter_exports_nothing_but_what_it_stands_before(options, _scratch):
    listed = run(["nm", "-D", "--defined-only", meter(options)])
    names = {line.split()[-1] for line in listed.stdout.splitlines()}
    expect_equal(names, {"__libc_start_main", "aligned_alloc", "calloc", "free", "malloc",
                         "malloc_usable_size", "memalign", "posix_memalign", "pthread_create",
                         "pvalloc", "realloc", "reallocarray", "valloc"}, "exported names")
    needs = [line.split("[")[1].rstrip("]") for line in
             run(["readelf", "-d", meter(options)]).stdout.splitlines() if "(NEEDED)" in line]
    expect_equal([name for name in needs if not name.startswith("ld-linux")], ["libc.so.6"],
                 "needed libraries")


run_checks()
