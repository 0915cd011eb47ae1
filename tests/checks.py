"""A few lines of test harness for checks written in Python.

A check is a function decorated with @check whose name is a sentence; it raises to fail, or calls
skip(reason). run_checks() prints "PASS name", "FAIL name: text" or "SKIP name: reason" for each, as
tools/test_runner.py expects.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHECKS = []


class Skip(Exception):
    pass


def skip(reason):
    raise Skip(reason)


def check(function):
    CHECKS.append(function)
    return function


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def expect_equal(actual, wanted, what="value"):
    expect(actual == wanted, f"{what}: got {actual!r}, wanted {wanted!r}")


def run(command, **options):
    """Runs a command to its end; stdout and stderr are text. Killed after ten minutes."""
    options.setdefault("timeout", 600)
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, text=True,
                          errors="replace", capture_output=True, check=False, **options)


def real_data(*parts):
    """A file of the real-data folder; skips the check where there is none."""
    folder = pathlib.Path(os.environ.get("ASSAY_REAL_DATA", ROOT.parent / "shared" / "data"))
    path = folder.joinpath(*parts)
    if not path.is_file():
        skip(f"no such file: ASSAY_REAL_DATA={folder} has no {'/'.join(parts)}")
    return path


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "test",
                        help="the build directory that holds the assay to test")
    parser.add_argument("--long", action="store_true")
    return parser.parse_args()


def run_checks():
    """Runs every check with (options, scratch directory) and exits 1 if one failed."""
    options = arguments()
    failed = 0
    for function in CHECKS:
        name = function.__name__
        with tempfile.TemporaryDirectory(prefix="assay-check-") as scratch:
            try:
                function(options, pathlib.Path(scratch))
                print(f"PASS {name}", flush=True)
            except Skip as reason:
                print(f"SKIP {name}: {reason}", flush=True)
            except Exception as error:  # pylint: disable=broad-except
                failed += 1
                text = str(error) if isinstance(error, AssertionError) else traceback.format_exc()
                print(f"FAIL {name}: {text}", flush=True)
    sys.exit(1 if failed else 0)
