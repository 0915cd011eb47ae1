#!/usr/bin/env python3
"""Checks that the layers of src/ and include/assay/ point only downwards.

The arrows are those of docs/design/overview.md. A file may include public headers of its own layer
and of the layers that ALLOWED names, and private headers of its own folder. Some powers belong to
one layer only (starting processes, reading clocks): POWERS names them.

    tools/check_includes.py [ROOT]

Prints one line per violation and exits 1 when there is any.
"""
import pathlib
import re
import sys

ALLOWED = {
    "base": set(),
    "stats": {"base"},
    "verdict": {"stats", "base"},
    "evidence": {"base"},
    "process": {"base"},
    "host": {"base"},
    "report": {"base"},
    "compare": {"verdict", "evidence", "process", "host", "stats", "base"},
    "suite": {"compare", "verdict", "evidence", "process", "host", "stats", "base"},
    "cli": {"suite", "compare", "report", "verdict", "evidence", "process", "host", "stats", "base"},
    # Programs that assay measures, not parts of it.
    "work": set(),
    # The allocation meter: loaded into the measured programs, and its calibration program.
    "alloc": set(),
}

# (what, pattern, layers that must not use it)
PURE = {"stats", "verdict", "report"}
POWERS = [
    ("starts a process (only src/process may)",
     re.compile(r"\b(?:fork|vfork|execve|execv|execvp|execl|execlp|posix_spawnp?|popen)\s*\(|"
                r"\bstd::system\s*\(|\bSYS_clone3?\b"),
     set(ALLOWED) - {"process", "work", "alloc"}),
    ("reads a clock (a pure layer may not)",
     re.compile(r"\bclock_gettime\s*\(|_clock::now\s*\(|\bgettimeofday\s*\(|\btime\s*\(\s*nullptr"),
     PURE),
    ("does input or output (a pure layer may not)",
     re.compile(r"#include\s*<(?:fstream|filesystem|fcntl\.h|unistd\.h)>|\bfopen\s*\("),
     PURE),
    ("includes a JSON library directly (use assay/base/json.h)",
     re.compile(r"#include\s*<(?:nlohmann|simdjson)"),
     set(ALLOWED) - {"base"}),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
COMMENT = re.compile(r"//.*$")
SOURCES = {".h", ".hpp", ".c", ".cc", ".cpp"}


def layer_files(root):
    """Yields (layer, path) of every source file below src/ and include/assay/."""
    for top in (root / "src", root / "include" / "assay"):
        for path in sorted(top.rglob("*")):
            if path.suffix in SOURCES and path.is_file():
                yield path.relative_to(top).parts[0], path


def check_include(layer, path, quote, target):
    """Returns what is wrong with one include, or None."""
    parts = pathlib.PurePosixPath(target).parts
    if parts[0] == "assay" and len(parts) > 2:
        other = parts[1]
        if other == layer or other in ALLOWED[layer]:
            return None
        return f"layer '{layer}' may not include layer '{other}' ({target})"
    if quote == "<":
        return None
    folder = parts[1:] if parts[0] == "src" else parts
    if ".." in parts or folder[0] in ALLOWED or parts[0] in ("src", "include", "tests"):
        own = folder[0] == layer and ".." not in parts
        return None if own else f"a private header of another folder ({target})"
    # A program in a subfolder of a layer (the launcher) shares the layer's private headers.
    shared = [folder for folder in path.parents if folder.name == layer or folder == path.parent]
    if not any((folder / target).is_file() for folder in shared):
        return f"{target} is neither in this folder nor a public header 'assay/LAYER/...'"
    return None


def check_file(layer, path):
    """Yields (line number, message) for every violation in one file."""
    if layer not in ALLOWED:
        yield 1, f"unknown layer '{layer}': name it in tools/check_includes.py"
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        found = INCLUDE.match(line)
        if found:
            message = check_include(layer, path, found.group(1), found.group(2))
            if message:
                yield number, message
        code = COMMENT.sub("", line)
        for what, pattern, forbidden in POWERS:
            if layer in forbidden and pattern.search(code):
                yield number, f"layer '{layer}' {what}"


def violations(root):
    return [f"{path.relative_to(root)}:{number}: {message}"
            for layer, path in layer_files(root) for number, message in check_file(layer, path)]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    if root.is_file():
        root = root.parent.parent
    found = violations(root)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
