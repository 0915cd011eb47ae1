#!/usr/bin/env python3
"""Do the tests notice changed code? Applies one-line mutants and counts those that a test catches.

    tools/mutate.py [--layer LAYER]... [--file FILE]... [--sample N] [--seed N] [--jobs N] [--list]

Each mutant changes one line of src/ (a comparison, an operator, a constant, a condition, a dropped
statement), rebuilds the tests of its layer in a copy of the tree below build/mutants, and runs them.
It is caught if a test fails, crashes or hangs; a mutant that doesn't compile does not count. The tests
must pass unchanged first. Survivors are printed; those that tools/mutants_equivalent.txt lists with a
reason (no input can tell them from the original) are left out of the share. Exit code 1 if less than
90 % are caught.
"""
import argparse
import concurrent.futures
import os
import pathlib
import queue
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutants"
EQUIVALENT = ROOT / "tools" / "mutants_equivalent.txt"
WANTED_SHARE = 0.90
MEMORY_BYTES = 8 << 30

# The test programs that judge a mutant of a layer, the quickest first.
JUDGES = {
    "base": ["test_base", "test_evidence"],
    "stats": ["test_stats", "test_stats_math", "test_verdict", "test_calibration"],
    "verdict": ["test_verdict", "test_calibration"],
    "evidence": ["test_evidence", "test_evidence_faults"],
}
# Check scripts that judge too, and the programs that they need.
SCRIPTS = {"stats": ("tests/unit/stats/check_oracle.py", ["stats_driver", "stats_digest"])}

# Each operator: (name, pattern, replacements). A mutant replaces one match.
OPERATORS = [
    ("comparison", r"(?<![<>=!\-+*/&|^%])(<=|>=|==|!=)(?!=)",
     {"<=": ["<", ">"], ">=": [">", "<"], "==": ["!="], "!=": ["=="]}),
    ("comparison", r"(?<= )(<|>)(?= )", {"<": ["<=", ">="], ">": [">=", "<="]}),
    ("logic", r"(&&|\|\|)", {"&&": ["||"], "||": ["&&"]}),
    ("arithmetic", r"(?<= )([+\-*/%])(?= )",
     {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"]}),
    ("assignment", r"(?<= )(\+=|-=|\*=|/=)(?= )", {"+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="]}),
    ("step", r"(\+\+|--)(?=\w)", {"++": ["--"], "--": ["++"]}),
    ("truth", r"\b(true|false)\b", {"true": ["false"], "false": ["true"]}),
    ("extreme", r"\bstd::(min|max)\(", {"min": ["max"], "max": ["min"]}),
    ("jump", r"^\s*(break|continue);", {"break": ["continue"], "continue": ["break"]}),
]
NUMBER = re.compile(r"(?<![\w.\"'])(\d+)(?![\w.'\"])")
CONDITION = re.compile(r"^(\s*(?:\} else )?if )\((.*)\)( \{)?$")
STATEMENT = re.compile(r"^\s*[a-z_][\w.:\->\[\]]*(?:\(.*\)| [+\-*/]?= .*);$")
NOT_STATEMENTS = ("return", "break", "continue", "using", "case", "default", "throw", "goto", "static",
                  "const", "constexpr", "auto", "double", "int", "bool", "char", "std::", "unsigned")


class Mutant:
    def __init__(self, path, number, original, mutated, kind):
        self.path, self.number, self.kind = path, number, kind
        self.original, self.mutated = original, mutated

    def layer(self):
        return self.path.relative_to(ROOT / "src").parts[0]

    def name(self):
        return f"{self.path.relative_to(ROOT)}:{self.number}"

    def key(self):
        """What tools/mutants_equivalent.txt lists; line numbers would not last."""
        return (f"{self.path.relative_to(ROOT)}: {self.original.strip()} => "
                f"{self.mutated.strip() or '(nothing)'}")


def code_part(line):
    """The line with string and character literals and comments blanked, same length."""
    blank = re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'', lambda m: "\0" * len(m.group()), line)
    at = blank.find("//")
    return blank if at < 0 else blank[:at] + "\0" * (len(blank) - at)


def variants(line):
    """Yields (kind, mutated line) of one line of code."""
    code = code_part(line)
    for kind, pattern, table in OPERATORS:
        for found in re.finditer(pattern, code):
            for replacement in table[found.group(1)]:
                yield kind, line[:found.start(1)] + replacement + line[found.end(1):]
    for found in NUMBER.finditer(code):
        value = int(found.group(1))
        yield "constant", line[:found.start(1)] + str(value + 1) + line[found.end(1):]
    condition = CONDITION.match(code)
    if condition and ";" not in condition.group(2):
        at = condition.end(1)
        end = condition.end(2) + 1
        yield "condition", f"{line[:at]}(!({line[at + 1:end - 1]})){line[end:]}"
    if STATEMENT.match(code) and not code.strip().startswith(NOT_STATEMENTS):
        yield "dropped", ""


def mutants_of(path):
    in_comment = False
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        text = line.strip()
        in_comment = in_comment or text.startswith("/*")
        if in_comment or not text or text.startswith(("//", "#", "static_assert", "template", "ASSAY_CHECK")):
            in_comment = in_comment and "*/" not in text
            continue
        for kind, mutated in variants(line):
            yield Mutant(path, number, line, mutated, kind)


def equivalents():
    if not EQUIVALENT.is_file():
        return {}
    pairs = {}
    reason = ""
    for line in EQUIVALENT.read_text().splitlines():
        if line.startswith("#"):
            reason = line.lstrip("# ")
        elif line.strip():
            pairs[line.strip()] = reason
    return pairs


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def quiet(command, cwd, timeout, limited=True):
    """The exit code; None if it ran longer than `timeout` seconds. Nothing that it started stays."""
    child = subprocess.Popen([str(word) for word in command], cwd=cwd, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             start_new_session=True, preexec_fn=limits if limited else None)
    try:
        return child.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()


class Tree:
    """A copy of the source with a build directory of its own, in which mutants come and go."""

    def __init__(self, number):
        self.source = WORK / str(number) / "source"
        self.build = WORK / str(number) / "build"
        self.seconds = {}  # judge -> duration on unchanged code

    def prepare(self):
        self.source.mkdir(parents=True, exist_ok=True)
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others",
                                 "--exclude-standard"], check=True, capture_output=True)
        names = [n for n in listed.stdout.decode().split("\0") if n and (ROOT / n).is_file()]
        for name in names:
            target = self.source / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.is_file() or target.read_bytes() != (ROOT / name).read_bytes():
                shutil.copy(ROOT / name, target)
        done = subprocess.run(
            ["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
             "-DCMAKE_CXX_FLAGS=-O1"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"mutate: cmake failed:\n{done.stdout}{done.stderr}")

    def targets(self, layer):
        return JUDGES[layer] + SCRIPTS.get(layer, ("", []))[1]

    def compile(self, layer):
        return quiet(["ninja", "-C", self.build, "-j1", *self.targets(layer)], self.source, 1800,
                     limited=False) == 0

    def judges(self, layer):
        for program in JUDGES[layer]:
            yield program, [self.build / "tests" / program, "--gtest_fail_fast"]
        if layer in SCRIPTS:
            script = self.source / SCRIPTS[layer][0]
            yield script.name, [sys.executable, script, "--build", self.build]

    def baseline(self, layer):
        if not self.compile(layer):
            raise SystemExit(f"mutate: the unchanged tests of {layer} don't build in {self.build}")
        for name, command in self.judges(layer):
            started = time.monotonic()
            if quiet(command, self.source, 1800) != 0:
                raise SystemExit(f"mutate: {name} fails on unchanged code: no baseline")
            self.seconds[layer, name] = time.monotonic() - started

    def verdict(self, mutant):
        """caught, survived or invalid (doesn't compile)."""
        path = self.source / mutant.path.relative_to(ROOT)
        original = path.read_text()
        lines = original.splitlines()
        lines[mutant.number - 1] = mutant.mutated
        path.write_text("\n".join(lines) + "\n")
        try:
            layer = mutant.layer()
            if not self.compile(layer):
                return "invalid"
            for name, command in self.judges(layer):
                if quiet(command, self.source, max(60, 10 * self.seconds[layer, name])) != 0:
                    return "caught"
            return "survived"
        finally:
            path.write_text(original)


def parse_arguments():
    parser = argparse.ArgumentParser(description="Mutation tests of the layers that judge.")
    parser.add_argument("--layer", action="append", choices=sorted(JUDGES))
    parser.add_argument("--file", action="append", type=pathlib.Path)
    parser.add_argument("--sample", type=int, help="a random sample of N mutants, spread over the files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=max(1, min(os.cpu_count() or 1, 4)))
    parser.add_argument("--list", action="store_true", help="print the mutants and stop")
    return parser.parse_args()


def chosen(options):
    if options.file:
        files = [path.resolve() for path in options.file]
    else:
        layers = options.layer or ["stats", "verdict", "evidence"]
        files = [path for layer in layers for path in sorted((ROOT / "src" / layer).rglob("*"))
                 if path.suffix in (".cpp", ".h")]
    known = equivalents()
    per_file = [[m for m in mutants_of(path) if m.key() not in known] for path in files]
    total = sum(map(len, per_file))
    if not options.sample or options.sample >= total:
        return [mutant for group in per_file for mutant in group]
    # A file's share of the sample is its share of the mutants.
    everything = [mutant for group in per_file for mutant in group]
    picked = random.Random(options.seed).sample(range(total), options.sample)
    return [everything[index] for index in sorted(picked)]


def judge_all(mutants, jobs):
    """Yields (mutant, outcome) as they come."""
    trees = queue.Queue()
    layers = sorted({mutant.layer() for mutant in mutants})
    for number in range(1, jobs + 1):
        tree = Tree(number)
        tree.prepare()
        trees.put(tree)

    def with_tree(function, *args):
        tree = trees.get()
        try:
            return function(tree, *args)
        finally:
            trees.put(tree)

    def baseline(tree):
        for layer in layers:
            tree.baseline(layer)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        all_trees = [trees.get() for _ in range(jobs)]
        list(pool.map(baseline, all_trees))
        for tree in all_trees:
            trees.put(tree)
        print(f"mutate: the unchanged tests of {', '.join(layers)} pass", flush=True)
        pending = {pool.submit(with_tree, Tree.verdict, mutant): mutant for mutant in mutants}
        for future in concurrent.futures.as_completed(pending):
            yield pending[future], future.result()


def main():
    options = parse_arguments()
    mutants = chosen(options)
    if options.list:
        for mutant in mutants:
            print(f"{mutant.kind:<11}{mutant.key()}")
        return 0
    print(f"mutate: {len(mutants)} mutants, seed {options.seed}", flush=True)
    counts = {"caught": 0, "survived": 0, "invalid": 0}
    for mutant, outcome in judge_all(mutants, options.jobs):
        counts[outcome] += 1
        if outcome == "survived":
            print(f"survived {mutant.name()} ({mutant.kind})\n    {mutant.key()}", flush=True)
    judged = counts["caught"] + counts["survived"]
    share = counts["caught"] / judged if judged else 0
    print(f"mutate: {counts['caught']} of {judged} caught ({100 * share:.1f} %), "
          f"{counts['invalid']} did not compile")
    return 0 if share >= WANTED_SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
