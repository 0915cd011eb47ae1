"""Writes the text that the word count reads: words drawn from a ranked vocabulary with weights 1/rank,
twelve a line, from a fixed 64-bit generator. The same vocabulary gives the same bytes everywhere.

    generate.py VOCABULARY OUTPUT [BYTES]
"""
import bisect
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import bench

WORDS_PER_LINE = 12


def uniforms():
    """The top 53 bits of a linear congruential generator modulo 2^64, as [0, 1)."""
    state = 0x2545F4914F6CDD1D
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (state >> 11) / 2**53


def cumulative_shares(count):
    """[i]: the probability of a word of rank <= i. Sums run in order: the last bits matter."""
    total = 0.0
    for rank in range(1, count + 1):
        total += 1.0 / rank
    shares, so_far = [], 0.0
    for rank in range(1, count + 1):
        so_far += 1.0 / rank
        shares.append(so_far / total)
    return shares


def text(words, size):
    shares, drawn, written = cumulative_shares(len(words)), [], 0
    for uniform in uniforms():
        word = words[min(bisect.bisect_left(shares, uniform), len(words) - 1)]
        drawn.append(word)
        written += len(word) + 1
        if written >= size:
            break
    lines = (drawn[i:i + WORDS_PER_LINE] for i in range(0, len(drawn), WORDS_PER_LINE))
    return b"".join(b" ".join(line) + b"\n" for line in lines)


if len(sys.argv) not in (3, 4) or not (sys.argv[3:] or ["1"])[0].isdigit():
    bench.fail("usage: generate.py VOCABULARY OUTPUT [BYTES]")
try:
    vocabulary = pathlib.Path(sys.argv[1]).read_bytes().split()
except OSError as error:
    bench.fail(f"{sys.argv[1]}: {error.strerror}")
if not vocabulary:
    bench.fail(f"{sys.argv[1]}: no words")
try:
    pathlib.Path(sys.argv[2]).write_bytes(
        text(vocabulary, int(sys.argv[3]) if sys.argv[3:] else 5 * 1024 * 1024))
except OSError as error:
    bench.fail(f"{sys.argv[2]}: could not be written: {error.strerror}")
