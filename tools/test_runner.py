#!/usr/bin/env python3
"""Runs assay's whole test suite, stage by stage; ./test calls it after installing what is missing.

    tools/test_runner.py [--long] [--only STAGE...] [--list]

Every failure's text and every skip's reason is printed. The last line is exactly
"N passed, N failed, N skipped"; the exit code is 0 only if something passed and nothing failed.
"""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
REAL_DATA = ROOT.parent / "shared" / "data"
TAIL_LINES = 60
SLOW_SECONDS = 10
# A line of a test's output that is shown although the test passed: "figure: ...".
FIGURE = "figure: "
PROGRESS_SECONDS = 30
# Set by --long: tests then take the counts of the specification instead of quick ones.
LONG = False


class Results:
    """Counts and prints outcomes. A skipped test is never silent, and never counts as passed."""

    def __init__(self):
        self.passed = 0
        self.failures = []
        self.skips = []

    def ok(self, count=1):
        self.passed += count

    def fail(self, name, text):
        self.failures.append(name)
        print(f"FAILED {name}", flush=True)
        for line in tail(text).splitlines():
            print(f"    {line}")

    def skip(self, name, reason):
        # The group that reads real data may be skipped only where there is none.
        if "ASSAY_REAL_DATA" in reason and REAL_DATA.is_dir():
            self.fail(name, f"skipped although {REAL_DATA} exists: {reason}")
            return
        self.skips.append((name, reason))
        print(f"skipped {name}: {reason}", flush=True)

    def count_line(self):
        return f"{self.passed} passed, {len(self.failures)} failed, {len(self.skips)} skipped"


def tail(text, lines=TAIL_LINES):
    rows = text.splitlines()
    if len(rows) <= lines:
        return text
    return "\n".join([f"... ({len(rows) - lines} lines before)"] + rows[-lines:])


def test_environment():
    """What tests see: nothing of the user's own assay settings, one locale, places of their own."""
    env = {key: value for key, value in os.environ.items()
           if not key.startswith("ASSAY_") and key not in ("NO_COLOR", "XDG_STATE_HOME")}
    state = ROOT / "build" / "test" / "state"
    state.mkdir(parents=True, exist_ok=True)
    env.update(LC_ALL="C.UTF-8", XDG_STATE_HOME=str(state))
    if LONG:
        env["ASSAY_LONG"] = "1"
    if os.environ.get("ASSAY_REAL_DATA"):
        env["ASSAY_REAL_DATA"] = os.environ["ASSAY_REAL_DATA"]
    elif REAL_DATA.is_dir():
        env["ASSAY_REAL_DATA"] = str(REAL_DATA)
    return env


def run(command, timeout=1800, cwd=ROOT, env=None, progress=False):
    """Runs a command with stdout and stderr merged. Returns (exit code, output); a command that
    outlives `timeout` seconds is killed with its process group and gets exit code -9. With
    `progress`, its last line is shown every half minute."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=subprocess.STDOUT, cwd=cwd,
                                 env=env or test_environment(), start_new_session=True)
        note = ""
        try:
            code = wait(child, timeout, out if progress else None)
            if code is None:
                code, note = -9, f"\nkilled: still running after {timeout} seconds"
        finally:
            kill_group(child)
            child.wait()
        out.seek(0)
        return code, out.read().decode("utf-8", "replace") + note


def wait(child, timeout, out):
    """The exit code, or None after `timeout` seconds. Shows the last line of `out` meanwhile."""
    deadline = time.monotonic() + timeout
    while True:
        left = deadline - time.monotonic()
        try:
            return child.wait(max(0.0, min(PROGRESS_SECONDS, left) if out else left))
        except subprocess.TimeoutExpired:
            if left <= PROGRESS_SECONDS and time.monotonic() >= deadline:
                return None
        if out:
            size = os.fstat(out.fileno()).st_size
            last = os.pread(out.fileno(), 2000, max(0, size - 2000)).decode("utf-8", "replace")
            print(f"  ... {(last.strip().splitlines() or [''])[-1][:90]}", flush=True)


def kill_group(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run_gtest(results, program, arguments=(), timeout=1200):
    """Runs one GoogleTest program and counts each of its tests."""
    name = program.name
    with tempfile.TemporaryDirectory(prefix="assay-gtest-") as scratch:
        report = pathlib.Path(scratch) / "report.xml"
        started = time.monotonic()
        code, output = run([program, f"--gtest_output=xml:{report}", "--gtest_color=no",
                            *arguments], timeout=timeout)
        seconds = time.monotonic() - started
        print_figures(output)
        if not report.is_file():
            running = [row for row in output.splitlines() if row.startswith("[ RUN")]
            where = running[-1].split("] ")[-1] if running else "before its first test"
            results.fail(name, f"{output}\ndied (exit code {code}) in {where}")
            return
        counted = count_gtest_report(results, name, ElementTree.parse(report).getroot())
    failed_in_report = counted["failed"] > 0
    if (code != 0) != failed_in_report:
        results.fail(name, f"{output}\nexit code {code} contradicts its report")
    if counted["passed"] + counted["failed"] + counted["skipped"] == 0:
        results.fail(name, "ran no test at all")
    print(f"  {name}: {counted['passed']} passed, {counted['failed']} failed, "
          f"{counted['skipped']} skipped in {seconds:.1f} s", flush=True)


def print_figures(output):
    for row in output.splitlines():
        if row.startswith(FIGURE):
            print(f"  {row}", flush=True)


def count_gtest_report(results, program, root):
    counted = {"passed": 0, "failed": 0, "skipped": 0}
    for case in root.iter("testcase"):
        name = f"{program}: {case.get('classname')}.{case.get('name')}"
        for figure in case.iter("property"):
            print(f"  figure: {case.get('name')}: {figure.get('name')} {figure.get('value')}")
        failures = case.findall("failure")
        skipped = case.find("skipped")
        if failures:
            counted["failed"] += 1
            results.fail(name, "\n".join(f.get("message", "") for f in failures))
        elif skipped is not None or case.get("status") == "notrun":
            message = "" if skipped is None else skipped.get("message", "")
            lines = [row for row in message.splitlines()[1:] if row.strip()]
            counted["skipped"] += 1
            results.skip(name, " ".join(lines) or "disabled")
        else:
            counted["passed"] += 1
            results.ok()
        if float(case.get("time", "0")) > SLOW_SECONDS:
            print(f"  slow: {name} took {float(case.get('time')):.0f} s")
    return counted


def run_script(results, script, arguments=(), timeout=1200):
    """Runs a check script. It may print one line per check ("PASS name", "FAIL name: text",
    "SKIP name: reason"; further lines belong to the check above them); a script that prints none
    is one check, judged by its exit code."""
    name = str(script.relative_to(ROOT))
    interpreter = [sys.executable] if script.suffix == ".py" else ["bash"]
    started = time.monotonic()
    code, output = run([*interpreter, script, *arguments], timeout=timeout)
    seconds = time.monotonic() - started
    passed = failed = 0
    lines = output.splitlines()
    print_figures(output)
    for at, line in enumerate(lines):
        word, _, rest = line.partition(" ")
        if word == "PASS":
            passed += 1
        elif word == "FAIL":
            failed += 1
            end = next((i for i in range(at + 1, len(lines))
                        if lines[i].split(" ")[0] in ("PASS", "FAIL", "SKIP")), len(lines))
            results.fail(f"{name}: {rest.split(':')[0]}", "\n".join(lines[at:end]))
        elif word == "SKIP":
            title, _, reason = rest.partition(": ")
            results.skip(f"{name}: {title}", reason or "no reason given")
    results.ok(passed)
    if code != 0 and failed == 0:
        results.fail(name, f"{output}\nexit code {code}")
    elif code == 0 and failed > 0:
        results.fail(name, f"printed {failed} failures but exits 0")
    elif code == 0 and "PASS " not in output and "SKIP " not in output:
        results.ok()
    print(f"  {name}: exit code {code} in {seconds:.1f} s", flush=True)


def parse_arguments(stages):
    parser = argparse.ArgumentParser(prog="./test", description="Builds and tests assay.")
    parser.add_argument("--long", action="store_true",
                        help="also the tests that need many minutes: error rates, mutants")
    parser.add_argument("--only", nargs="+", metavar="STAGE", choices=[s.name for s in stages],
                        help="run these stages only (what they stand on is built first)")
    parser.add_argument("--list", action="store_true", help="list the stages and stop")
    return parser.parse_args()


def selected(stages, options):
    """The stages to run, in order, with those that they need."""
    wanted = set(options.only or
                 [s.name for s in stages if options.long or not s.long])
    for stage in reversed(stages):
        if stage.name in wanted:
            wanted.update(stage.needs)
    return [stage for stage in stages if stage.name in wanted]


def main():
    # Imported here: the stages use the functions above.
    import test_stages
    stages = test_stages.STAGES
    options = parse_arguments(stages)
    if options.list:
        for stage in stages:
            print(f"{stage.name:<14}{stage.title}{' (--long)' if stage.long else ''}")
        return 0

    global LONG
    LONG = options.long
    results = Results()
    timings = []
    broken = set()
    chosen = selected(stages, options)
    for number, stage in enumerate(chosen, start=1):
        print(f"\n== [{number}/{len(chosen)}] {stage.name}: {stage.title}", flush=True)
        missing = broken.intersection(stage.needs)
        if missing:
            results.fail(stage.name, f"not run, because stage '{min(missing)}' failed")
            broken.add(stage.name)
            continue
        started = time.monotonic()
        failures_before = len(results.failures)
        stage.function(results, options)
        if len(results.failures) > failures_before:
            broken.add(stage.name)
        timings.append((stage.name, time.monotonic() - started))

    print("\n== summary")
    for name, seconds in timings:
        print(f"  {name:<14}{seconds:7.1f} s")
    print(f"  {'total':<14}{sum(s for _, s in timings):7.1f} s")
    for name, reason in results.skips:
        print(f"  skipped {name}: {reason}")
    for name in results.failures:
        print(f"  FAILED {name}")
    if results.passed == 0:
        results.failures.append("no test passed")
        print("  FAILED: no test passed at all")
    print(results.count_line(), flush=True)
    return 1 if results.failures else 0


if __name__ == "__main__":
    # The stages import this file under its module name; both must be one module.
    sys.modules["test_runner"] = sys.modules["__main__"]
    sys.exit(main())
