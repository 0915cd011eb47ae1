#!/usr/bin/env python3
"""./run and ./test as a user meets them. The tree that ./test has built stands in for build/release."""
import os
import pathlib
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from checks import ROOT, check, expect, expect_equal, run, run_checks, skip

PAIRS = "batch,pair,reference_ns,candidate_ns\n" + "".join(
    f"{b},{p},{1000 + b + p},{1010 + 2 * b + p}\n" for b in range(10) for p in range(6))


def environment(options, **more):
    return {**os.environ, "ASSAY_BUILD_PRESET": options.build.name, **more}


def checkout_without_build(scratch):
    """Just the scripts, in a tree where nothing was ever installed or built."""
    tree = scratch / "fresh checkout"
    (tree / "tools").mkdir(parents=True)
    for name in ("run", "test", "tools/setup.sh"):
        shutil.copy(ROOT / name, tree / name)
    return tree


def stand_ins(scratch, **programs):
    """A PATH whose first folder holds the given shell scripts."""
    folder = scratch / "bin"
    folder.mkdir()
    for name, text in programs.items():
        path = folder / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


@check
def run_passes_its_arguments_on_in_the_callers_directory(options, scratch):
    (scratch / "my pairs.csv").write_text(PAIRS)
    done = run([ROOT / "run", "analyze", "my pairs.csv", "--json"], cwd=scratch,
               env=environment(options))
    expect_equal(done.returncode, 0, f"exit code ({done.stderr})")
    expect(done.stdout.startswith("{"), f"stdout is not the command's own: {done.stdout[:200]!r}")


@check
def run_works_through_a_symbolic_link(options, scratch):
    (scratch / "link").symlink_to(ROOT / "run")
    done = run([scratch / "link", "--version"], cwd="/", env=environment(options))
    expect_equal(done.returncode, 0, f"exit code ({done.stderr})")


@check
def run_hands_the_commands_exit_code_back(options, scratch):
    done = run([ROOT / "run", "compare", "no-such-command-anywhere", "true"], cwd=scratch,
               env=environment(options))
    expect_equal(done.returncode, 2, f"exit code ({done.stderr})")
    expect("no-such-command-anywhere" in done.stderr, done.stderr)


@check
def an_up_to_date_tree_is_quiet_and_quick(options, scratch):
    command = [ROOT / "run", "--version"]
    run(command, cwd=scratch, env=environment(options))
    started = time.monotonic()
    done = run(command, cwd=scratch, env=environment(options))
    seconds = time.monotonic() - started
    print(f"  ./run --version took {seconds:.3f} s")
    expect_equal((done.returncode, done.stderr), (0, ""), "exit code and stderr")
    # A hang guard: the goal is one second.
    expect(seconds < 10, f"an up-to-date ./run took {seconds:.1f} s")


@check
def without_root_missing_packages_are_named_and_nothing_is_installed(_options, scratch):
    env = stand_ins(scratch, dpkg_query="exit 1", id="echo 1000",
                    apt_get=f"touch '{scratch}/called'")
    for script in ("run", "test"):
        shutil.rmtree(scratch / "fresh checkout", ignore_errors=True)
        done = run([checkout_without_build(scratch) / script], env=env)
        expect_equal(done.returncode, 2, f"exit code of {script}")
        expect("sudo apt-get install" in done.stderr and " cmake " in done.stderr, done.stderr)
        expect(not (scratch / "called").exists(), "apt-get was called")


@check
def with_root_exactly_the_missing_packages_are_installed(_options, scratch):
    env = stand_ins(
        scratch, id="echo 0", apt_get=f"echo \"$@\" >>'{scratch}/calls'; [ \"$1\" = update ]",
        dpkg_query='for p; do :; done; [ "$p" = libfmt-dev ] || [ "$p" = git ] || echo "ii "')
    done = run([checkout_without_build(scratch) / "run"], env=env)
    expect_equal(done.returncode, 2, "exit code when apt-get fails")
    calls = (scratch / "calls").read_text()
    expect("Lock::Timeout=300" in calls, calls)
    expect(calls.rstrip().endswith(" libfmt-dev git"), f"asked for: {calls}")
    expect("installing Debian packages: libfmt-dev git" in done.stderr, done.stderr)


@check
def a_failed_build_says_where_its_log_is(_options, scratch):
    tree = checkout_without_build(scratch)
    (tree / "CMakePresets.json").write_text((ROOT / "CMakePresets.json").read_text())
    (tree / "CMakeLists.txt").write_text("message(FATAL_ERROR \"error: broken on purpose\")\n")
    env = stand_ins(scratch, dpkg_query="echo 'ii '")
    done = run([tree / "run", "--version"], env=env)
    expect_equal(done.returncode, 2, "exit code")
    expect("broken on purpose" in done.stderr and "build.log" in done.stderr, done.stderr)


@check
def a_fresh_clone_builds_and_compares(options, scratch):
    if not options.long:
        skip("needs minutes: --long")
    cloned = run(["git", "clone", "--quiet", ROOT, scratch / "clone"])
    expect_equal(cloned.returncode, 0, cloned.stderr)
    started = time.monotonic()
    done = run([scratch / "clone" / "run", "--version"], cwd=scratch, timeout=3600)
    expect_equal(done.returncode, 0, f"exit code ({done.stderr})")
    print(f"  clone to first answer: {time.monotonic() - started:.0f} s")
    done = run([scratch / "clone" / "run", "compare", "-r", "16", "true", "true"], cwd=scratch)
    expect_equal(done.returncode, 0, f"exit code ({done.stderr})")


run_checks()
