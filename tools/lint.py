"""clang-tidy-16 over src/, several files of a layer at a time.

Most of clang-tidy's time goes into the headers that every file shares, so files of a layer that
define no private name twice are checked as one translation unit; if they can't be compiled together
after all, each is checked alone. A group that passed and has not changed since (nor any header, nor
.clang-tidy) is not checked again.
"""
import concurrent.futures
import hashlib
import json
import pathlib
import re
import shlex

from test_runner import ROOT, run

# g++ knows these, clang doesn't.
DROPPED_FLAGS = ("-fno-fat-lto-objects",)
# Larger groups would leave one job running alone at the end.
GROUP_SIZE = 6


def layers(build):
    """{layer: ([source files], [compiler flags])} of everything below src/ that CMake compiles."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if ROOT / "src" not in source.parents or source.suffix != ".cpp":
            continue
        layer = source.relative_to(ROOT / "src").parts[0]
        files, flags = found.setdefault(layer, ([], []))
        if source not in files:
            files.append(source)
        known = {macro_of(flag) for flag in flags} - {None}
        flags += [flag for flag in flags_of(entry)
                  if flag not in flags and macro_of(flag) not in known]
    return {layer: (sorted(files), flags) for layer, (files, flags) in sorted(found.items())}


def macro_of(flag):
    """The macro that a flag defines. Programs of one layer give the same macro different values."""
    return flag[2:].split("=")[0] if flag.startswith("-D") else None


def flags_of(entry):
    words = shlex.split(entry["command"])[1:]
    flags = []
    skip_next = False
    for at, word in enumerate(words):
        if skip_next:
            skip_next = False
        elif word in ("-o", "-MF", "-MT", "-include"):
            skip_next = True
        elif word in ("-c", "-MD", "-Werror", "-Winvalid-pch") or word == entry["file"]:
            continue
        elif word == "-isystem":
            flags.append(f"-isystem{words[at + 1]}")
            skip_next = True
        elif word.endswith("ccache") or word in DROPPED_FLAGS or not word.startswith("-"):
            continue
        else:
            flags.append(word)
    return flags


def private_names(file):
    """The names that a file defines in its unnamed namespaces, near enough."""
    names = set()
    inside = False
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("namespace {"):
            inside = True
        elif line.startswith("}  // namespace"):
            inside = False
        elif inside and line[:1] not in ("", " ", "}", "/", "#"):
            names.update(re.findall(r"(\w+)(?:\[\w*\])?\s*(?:[({=;]|:(?!:))", line)[:1])
    return names


def grouped(files):
    """Splits the files of a layer into groups without a common private name."""
    groups = []
    for file in files:
        names = private_names(file)
        for members, taken in groups:
            if len(members) < GROUP_SIZE and not names & taken:
                members.append(file)
                taken |= names
                break
        else:
            groups.append(([file], names))
    return [members for members, _ in groups]


def fingerprint(files, flags):
    digest = hashlib.sha256(repr(flags).encode())
    headers = sorted((ROOT / "include").rglob("*.h")) + sorted(files[0].parent.glob("*.h"))
    for path in [ROOT / ".clang-tidy", pathlib.Path(__file__), *headers, *files]:
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def tidy(file, flags):
    # An inclusion of .cpp files is exactly what a group is.
    code, output = run(["clang-tidy-16", "--quiet", f"--config-file={ROOT / '.clang-tidy'}",
                        "--checks=-bugprone-suspicious-include", file, "--", *flags,
                        "-Wno-unknown-warning-option"], timeout=1800)
    kept = [row for row in output.splitlines()
            if "warnings generated" not in row and not row.startswith(("Suppressed ", "Use -"))]
    return code, "\n".join(kept)


def lint_group(name, files, flags, scratch):
    """Returns (exit code, output, was it taken from the last run)."""
    stamp = scratch / f"{name}.ok"
    key = fingerprint(files, flags)
    if stamp.is_file() and stamp.read_text() == key:
        return 0, "", True
    unit = scratch / f"{name}.cpp"
    unit.write_text("".join(f'#include "{path}"\n' for path in files))
    code, output = tidy(unit, flags)
    if code != 0 and "clang-diagnostic" in output:
        outcomes = [tidy(path, flags) for path in files]
        code = max(outcome[0] for outcome in outcomes)
        output = "\n".join(outcome[1] for outcome in outcomes)
    if code == 0:
        stamp.write_text(key)
    return code, output, False


def run_all(results, build, jobs):
    scratch = ROOT / "build" / "lint"
    scratch.mkdir(parents=True, exist_ok=True)
    pending = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for layer, (files, flags) in layers(build).items():
            for number, group in enumerate(grouped(files), start=1):
                name = f"{layer}-{number}"
                pending.append((name, group,
                                pool.submit(lint_group, name, group, flags, scratch)))
        for name, group, future in pending:
            code, output, unchanged = future.result()
            if code == 0:
                results.ok(len(group))
                print(f"  {name}: {len(group)} files "
                      f"{'unchanged since they passed' if unchanged else 'clean'}", flush=True)
            else:
                results.fail(f"clang-tidy-16: {name}", output)
