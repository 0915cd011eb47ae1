"""The right output of tree_walk without nodes or recursion: the seeds of a whole level at a time,
top down, then the hashes of a whole level at a time, bottom up."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import bench

MODULUS = 1_000_000_007
SEED_MODULUS = 2_147_483_647


def root_hash(seed, depth):
    levels = [[seed]]
    for _ in range(depth):
        level = [0] * (2 * len(levels[-1]))
        level[0::2] = [(s * 48271 + 17) % SEED_MODULUS for s in levels[-1]]
        level[1::2] = [(s * 69621 + 31) % SEED_MODULUS for s in levels[-1]]
        levels.append(level)
    hashes = [s % 1000 for s in levels.pop()]
    while levels:
        hashes = [(33 * left + 17 * (s % 1000) + 97 * right) % MODULUS
                  for s, left, right in zip(levels.pop(), hashes[0::2], hashes[1::2])]
    return hashes[0]


depth = bench.size(19, 20)
rounds = bench.steps(16, 64)
digest = 0
for index in range(rounds):
    digest = (65599 * digest + root_hash(7 + 7919 * index, depth)) % MODULUS
print(digest, rounds * (2 ** (depth + 1) - 1), rounds, sep="\n")
