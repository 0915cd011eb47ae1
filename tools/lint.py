"""clang-tidy-16 over src/, one translation unit per layer.

Most of clang-tidy's time goes into the headers that every file shares, so the files of a layer are
checked as one unit; if they can't be compiled together, each is checked alone. A layer that passed
and has not changed since (nor any header, nor .clang-tidy) is not checked again.
"""
import concurrent.futures
import hashlib
import json
import pathlib
import shlex

from test_runner import ROOT, run

# g++ knows these, clang doesn't.
DROPPED_FLAGS = ("-fno-fat-lto-objects",)


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
        for flag in flags_of(entry):
            if flag not in flags:
                flags.append(flag)
    return {layer: (sorted(files), flags) for layer, (files, flags) in sorted(found.items())}


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


def fingerprint(layer):
    digest = hashlib.sha256()
    headers = sorted((ROOT / "include").rglob("*.h"))
    own = sorted(path for path in (ROOT / "src" / layer).rglob("*") if path.is_file())
    for path in [ROOT / ".clang-tidy", pathlib.Path(__file__), *headers, *own]:
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def tidy(file, flags):
    code, output = run(["clang-tidy-16", "--quiet", f"--config-file={ROOT / '.clang-tidy'}", file,
                        "--", *flags, "-Wno-unknown-warning-option"], timeout=1800)
    kept = [row for row in output.splitlines()
            if "warnings generated" not in row and not row.startswith(("Suppressed ", "Use -"))]
    return code, "\n".join(kept)


def lint_layer(layer, files, flags, scratch):
    """Returns (exit code, output, was it taken from the last run)."""
    stamp = scratch / f"{layer}.ok"
    key = fingerprint(layer)
    if stamp.is_file() and stamp.read_text() == key:
        return 0, "", True
    unit = scratch / f"{layer}.cpp"
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
    found = layers(build)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        pending = {layer: pool.submit(lint_layer, layer, files, flags, scratch)
                   for layer, (files, flags) in found.items()}
        for layer, future in pending.items():
            code, output, unchanged = future.result()
            if code == 0:
                results.ok(len(found[layer][0]))
                print(f"  {layer}: {'unchanged since it passed' if unchanged else 'clean'}",
                      flush=True)
            else:
                results.fail(f"clang-tidy-16: {layer}", output)
