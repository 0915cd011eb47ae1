"""Builds the programs of suites/native, as strictly as their compilers can."""
import hashlib

from checks import ROOT, expect_equal, run

SUITE = ROOT / "suites" / "native"
RUSTC = "/usr/bin/rustc"  # Debian's: another one may come first on PATH
CXX_FLAGS = ["-std=c++20", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow",
             "-Wold-style-cast", "-Werror"]
LIBRARIES = {"json_transform": ["-lsimdjson"], "sqlite": ["-lsqlite3"]}


def sha256(data):
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def compiled(case, scratch, compiler="g++", flags=()):
    program = scratch / f"{case}-{compiler}"
    built = run([compiler, *CXX_FLAGS, *flags, SUITE / case / f"{case}.cpp", "-o", program,
                 *LIBRARIES.get(case, [])])
    expect_equal((built.returncode, built.stderr), (0, ""), f"{compiler} {case}")
    return program


def rust(case, scratch):
    program = scratch / f"{case}-rust"
    built = run([RUSTC, "--edition", "2021", "-C", "opt-level=2", "-D", "warnings",
                 SUITE / case / f"{case}.rs", "-o", program])
    expect_equal((built.returncode, built.stderr), (0, ""), f"rustc {case}")
    return program
