#!/usr/bin/env python3
"""Checks that no tracked file holds what belongs to one machine or one person.

Refused: absolute paths of a particular machine, addresses of hosts that are not on the list below,
unfinished-work markers, and words that are not about the product. A line that must hold one anyway
(a test of the redaction, say) ends in `hygiene: allow` with a reason.

    tools/check_hygiene.py [ROOT]
"""
import pathlib
import re
import subprocess
import sys

# Hosts that documentation and licences may point at.
HOSTS = re.compile(
    r"^(?:www\.)?(?:apache\.org|github\.com|debian\.org|cmake\.org|json-schema\.org|w3\.org|"
    r"rfc-editor\.org|doi\.org|man7\.org|kernel\.org|example\.(?:com|org|net)|localhost|"
    r"127\.0\.0\.1)$")
URL = re.compile(r"\b(?:https?|ftp|git|ssh)://([^/\s:\"'<>)\]]+)")

# The patterns are written so that they don't match themselves.
REFUSED = [
    ("a path of one machine", re.compile(r"(?<![\w.])/(?:wor[k]|hom[e]/(?!alice|ada|bob|someone|user)\w|roo[t]/(?!x\b)\w|User[s]/\w)")),
    ("an unfinished-work marker", re.compile(r"\b(?:TOD[O]|FIXM[E]|XX[X]|HAC[K])\b")),
    ("a seed letter (say what it is)", re.compile(r"\b[sS]eed [ABC]\b")),
    ("a word that is not about the product",
     re.compile(r"\b(?:chatgp[t]|claud[e]|anthropi[c]|opena[i]|copilo[t]|LL[M]s?|A[I]|"
                r"language mode[l]s?|sub-?agen[t]s?|(?:coding|code|autonomous) agen[t]s?|"
                r"the lea[d] commits|co-authored-b[y])\b", re.IGNORECASE)),
    ("a mail address", re.compile(r"\b[\w.+-]+@(?!example\.)[\w-]+\.(?:com|org|net|io|dev|de)\b")),
    ("a private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KE[Y]-----")),
]
ALLOW = "hygiene: allow"


def tracked_files(root):
    """What git tracks or would add; every file where there is no git."""
    try:
        listed = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            check=True, capture_output=True).stdout
        names = sorted(set(listed.decode().split("\0")) - {""})
        return [root / name for name in names if (root / name).is_file()]
    except (OSError, subprocess.CalledProcessError):
        return [path for path in sorted(root.rglob("*"))
                if path.is_file() and "build" not in path.relative_to(root).parts]


def check_line(line):
    """Yields what is wrong with one line."""
    for what, pattern in REFUSED:
        found = pattern.search(line)
        if found:
            yield f"{what}: {found.group(0)!r}"
    for host in URL.findall(line):
        if not HOSTS.match(host):
            yield f"the address of a host that is not on the list: {host!r}"


def check_file(root, path):
    name = path.relative_to(root)
    data = path.read_bytes()
    if b"\0" in data:
        return
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        if ALLOW in line:
            continue
        for message in check_line(line):
            yield f"{name}:{number}: {message}"


def violations(root):
    return [line for path in tracked_files(root) for line in check_file(root, path)]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    if root.is_file():
        root = root.parent.parent
    found = violations(root)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
