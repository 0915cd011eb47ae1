#!/usr/bin/env python3
"""Writes the present digests of a suite's files into its manifest, and says which changed.

    tools/pin_suite.py [MANIFEST]

Pins what each case lists in source_sha256; a new file is added there by hand, with any text. A change
of a pinned file is a change of the workload: raise suite_version with it.
"""
import hashlib
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "suites/native/cases.json")
    manifest = json.loads(path.read_text(encoding="utf-8"))
    changed = []
    for case in manifest["cases"].values():
        digests = case.get("source_sha256", {})
        for name, old in digests.items():
            new = hashlib.sha256((path.parent / name).read_bytes()).hexdigest()
            if new != old:
                changed.append(name)
                digests[name] = new
    path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print("\n".join(sorted(set(changed))) or "nothing changed")


main()
