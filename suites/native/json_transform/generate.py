"""Writes the records that json_transform reads: ASSAY_BENCH_SIZE lines of JSON (2,048) that hold what
a parser gets wrong: escapes in keys, control characters, nested keys of the same name, emoji.

    generate.py OUTPUT
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import bench

TITLES = (
    'quote"', "back\\slash", "line\nbreak", "tab\tdata",
    "caf\u00e9 \u6771\u4eac \U0001f642 e\u0301",
    "".join(chr(code) for code in range(1, 32)),
    "'); DROP TABLE jobs; --\u2028", "",
)


def record(i, state):
    value = {
        "meta": {"id": -999, "title": "nested shadow", "ratio": 1.25},
        "id": i - 1024,
        "active": state % 4 != 0,
        "score": state % 2001 - 1000,
        "title": TITLES[i % len(TITLES)],
    }
    text = json.dumps(value, ensure_ascii=i % 2 == 0, separators=(",", ":"))
    return text.replace('"title":', '"ti\\u0074le":') if i % 3 == 0 else text


def records(count):
    state = 7
    for i in range(count):
        state = state * 48271 % 2147483647
        yield record(i, state)


if len(sys.argv) != 2:
    bench.fail(f"usage: {sys.argv[0]} OUTPUT")
lines = "".join(line + "\n" for line in records(bench.size(2048, 4096)))
try:
    with open(sys.argv[1], "wb") as file:
        file.write(lines.encode())
except OSError as error:
    bench.fail(f"{sys.argv[1]}: {error.strerror}")
