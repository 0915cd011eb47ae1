"""The stages of ./test, in the order in which they run. tools/test_runner.py runs them."""
import contextlib
import dataclasses
import fcntl
import json
import os
import pathlib
import subprocess
import sys
import typing

import lint
from test_runner import ROOT, Results, run, run_gtest, run_script

JOBS = max(1, min(os.cpu_count() or 1, 8))
BUILD = ROOT / "build" / "test"
CPP = (".cpp", ".cc", ".h", ".hpp", ".c")
# Layers whose tests run under AddressSanitizer and UBSan: those that parse, compute and write. The
# ones that start processes link a static helper, which a sanitizer can't be linked into.
SANITIZED_LAYERS = "base;stats;verdict;evidence;suite;report"
FUZZ_SECONDS = 60


@dataclasses.dataclass(frozen=True)
class Stage:
    name: str
    title: str
    function: typing.Callable[[Results, typing.Any], None]
    needs: tuple = ()
    long: bool = False


def tracked(*patterns):
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--",
         *patterns], check=True, capture_output=True).stdout.decode()
    return [name for name in sorted(set(listed.split("\0")) - {""}) if (ROOT / name).is_file()]


# ---- Checks of the source ------------------------------------------------------------------------


def check_with(tool):
    """A stage that is one tool without arguments, judged by its exit code."""
    def stage(results, _options):
        code, output = run([sys.executable, ROOT / "tools" / tool])
        if code == 0:
            results.ok()
        else:
            results.fail(tool, output)
    return stage


def check_shell(results, _options):
    scripts = [name for name in tracked("run", "test", ".ci/run", "*.sh")]
    code, output = run(["shellcheck", "-x", *scripts])
    if code == 0:
        results.ok(len(scripts))
    else:
        results.fail("shellcheck", output)


def check_format(results, _options):
    files = [name for name in tracked() if name.endswith(CPP)]
    code, output = run(["clang-format-16", "--dry-run", "-Werror", "--ferror-limit=3", *files])
    if code == 0:
        results.ok(len(files))
    else:
        wrong = sorted({row.split(":")[0] for row in output.splitlines() if "violations" in row})
        results.fail("clang-format-16",
                     f"mend with: clang-format-16 -i {' '.join(wrong)}" if wrong else output)


def check_lint(results, _options):
    lint.run_all(results, BUILD, JOBS)


# ---- Builds --------------------------------------------------------------------------------------


@contextlib.contextmanager
def locked(directory):
    """One build of a directory at a time: ./run takes the same lock."""
    directory.mkdir(parents=True, exist_ok=True)
    with open(directory / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(results, preset, defines=()):
    """Configures and builds build/PRESET. Returns whether it worked."""
    directory = ROOT / "build" / preset
    with locked(directory):
        code, output = run(["cmake", "--preset", preset, *(f"-D{d}" for d in defines)])
        if code == 0:
            code, output = run(["ninja", "-C", directory, "-j", str(JOBS), "-k", "0"],
                               timeout=2 * 3600, progress=True)
    if code != 0:
        wanted = [row for row in output.splitlines() if "error" in row or "FAILED" in row]
        results.fail(f"build of preset {preset}", "\n".join(wanted[:40]) + "\n" + output[-3000:])
        return False
    warnings = output.count("warning:")
    print(f"  preset {preset}: built{f', {warnings} warnings' if warnings else ''}", flush=True)
    results.ok()
    return True


def build_gcc(results, _options):
    build(results, "test")


def build_clang(results, options):
    # The test programs a second time would cost more minutes than they are worth on every change.
    build(results, "clang", [f"ASSAY_TESTS={'ON' if options.long else 'OFF'}"])


# ---- Test programs -------------------------------------------------------------------------------


def gtests(directory):
    """The test programs that CMake declares in a build directory, by path."""
    listed = subprocess.run(["ctest", "--test-dir", directory, "--show-only=json-v1"], check=True,
                            capture_output=True).stdout
    tests = json.loads(listed)["tests"]
    return sorted({pathlib.Path(test["command"][0]) for test in tests if test.get("command")})


def layer_tests():
    return {f"test_{path.name}" for path in (ROOT / "tests" / "unit").iterdir() if path.is_dir()}


def run_programs(results, programs):
    if not programs:
        results.fail("discovery", "CMake declares no such test program")
    for program in programs:
        run_gtest(results, program)


def unit_tests(results, _options):
    run_programs(results, [p for p in gtests(BUILD) if p.name in layer_tests()])


def other_tests(results, _options):
    run_programs(results, [p for p in gtests(BUILD) if p.name.startswith("test_")
                           and p.name not in layer_tests() and "fault" not in p.name])


def fault_tests(results, _options):
    run_programs(results, [p for p in gtests(BUILD) if "fault" in p.name])


def long_tests(results, _options):
    for program in gtests(BUILD):
        if program.name.startswith("long_"):
            run_gtest(results, program, timeout=6 * 3600)
    for script in sorted((ROOT / "tests").rglob("long_*.py")):
        run_script(results, script, ["--build", BUILD], timeout=6 * 3600)


def scripts_in(*folders):
    """A stage that runs every check_*.py and check_*.sh below the given folders of tests/."""
    def stage(results, options):
        found = [path for folder in folders for path in sorted((ROOT / "tests" / folder).rglob("check_*"))
                 if path.suffix in (".py", ".sh")]
        if not found:
            results.fail("discovery", f"no check_* script below tests/{{{','.join(folders)}}}")
        for script in found:
            run_script(results, script,
                       ["--build", BUILD, *(["--long"] if options.long else [])])
    return stage


def tool_script(tool, *arguments):
    def stage(results, _options):
        run_script(results, ROOT / "tools" / tool, arguments, timeout=6 * 3600)
    return stage


# ---- Sanitizers and fuzzing ----------------------------------------------------------------------


def sanitizers(results, _options):
    if not build(results, "asan-ubsan", [f"ASSAY_LAYERS={SANITIZED_LAYERS}"]):
        return
    names = {f"test_{layer}" for layer in SANITIZED_LAYERS.split(";")}
    run_programs(results, [p for p in gtests(ROOT / "build" / "asan-ubsan") if p.name in names])


def fuzz_one(target, seconds):
    directory = ROOT / "build" / "fuzz"
    corpus = directory / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = ROOT / "tests" / "fuzz" / "corpus" / target
    command = [directory / "fuzz" / target, f"-max_total_time={seconds}", "-seed=1", "-timeout=20",
               "-max_len=4096", "-rss_limit_mb=2048", f"-artifact_prefix={directory}/{target}-",
               corpus, *([seeds] if seeds.is_dir() else [])]
    return run(command, timeout=10 * seconds + 300)


def fuzz(results, options):
    if not build(results, "fuzz"):
        return
    targets = sorted(path.stem for path in (ROOT / "tests" / "fuzz").glob("fuzz_*.cpp"))
    total = FUZZ_SECONDS * (10 if options.long else 1)
    seconds = max(2, total // max(1, len(targets)))
    for target in targets:
        code, output = fuzz_one(target, seconds)
        done = [row for row in output.splitlines() if row.startswith("Done ")]
        if code != 0 or not done:
            results.fail(target, output)
        else:
            results.ok()
            print(f"  {target}: {done[0]}", flush=True)


STAGES = [
    Stage("includes", "layers point only downwards", check_with("check_includes.py")),
    Stage("hygiene", "no machine paths, foreign hosts or left-overs", check_with("check_hygiene.py")),
    Stage("shell", "shellcheck on the scripts", check_shell),
    Stage("format", "clang-format-16", check_format),
    Stage("build", "g++, warnings are errors", build_gcc),
    Stage("lint", "clang-tidy-16 over src/", check_lint, needs=("build",)),
    Stage("clang", "clang++, warnings are errors", build_clang),
    Stage("unit", "unit tests of every layer", unit_tests, needs=("build",)),
    Stage("integration", "tests with real processes and archives", other_tests, needs=("build",)),
    Stage("oracle", "independent re-implementations", scripts_in("unit"), needs=("build",)),
    Stage("determinism", "the same bytes from the same evidence",
          tool_script("check_determinism.sh"), needs=("build",)),
    Stage("faults", "disk full, kill -9, lost helpers", fault_tests, needs=("build",)),
    Stage("scripts", "./run, the tools and the word count", scripts_in("scripts"), needs=("build",)),
    Stage("docs", "every command that the documentation shows", scripts_in("docs"), needs=("build",)),
    Stage("sanitizers", "unit tests under AddressSanitizer and UBSan", sanitizers),
    Stage("fuzz", "the parsers under libFuzzer", fuzz),
    Stage("long", "error rates on real noise", long_tests, needs=("build",), long=True),
    Stage("mutants", "the tests notice changed code", tool_script("mutate.py", "--sample", "60"),
          needs=("build",), long=True),
]
