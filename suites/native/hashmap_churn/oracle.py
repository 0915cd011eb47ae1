"""The right output of hashmap_churn without a map: a key's count is the number of its updates since
its last removal, so the operations are walked backwards and what lies before a removal is ignored."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import bench

KEYS = 4096
MULTIPLIER, ADDEND, MODULUS = 1103515245, 12345, 2**31


def backwards(operations):
    """(i, key) from the last operation to the first: the generator run in reverse."""
    # state(n) = a^n 7 + c (a^n - 1) / (a - 1), by repeated squaring of the affine map
    a, b, one, times = 1, 0, (MULTIPLIER, ADDEND), operations
    while times:
        if times & 1:
            a, b = a * one[0] % MODULUS, (b * one[0] + one[1]) % MODULUS
        one = one[0] * one[0] % MODULUS, (one[1] * one[0] + one[1]) % MODULUS
        times >>= 1
    state = (a * 7 + b) % MODULUS
    inverse = pow(MULTIPLIER, -1, MODULUS)
    for i in range(operations - 1, -1, -1):
        yield i, state % KEYS
        state = (state - ADDEND) * inverse % MODULUS


counts = [0] * KEYS
removed = bytearray(KEYS)
for index, key in backwards(bench.size(2_097_152, 1_000_000_000)):
    if index % 7 == 0:  # in time the removal comes after the update, and the keys differ
        removed[(key + 17) % KEYS] = 1
    if not removed[key]:
        counts[key] += 1

weighted = sum((key + 1) * count for key, count in enumerate(counts))
present = sum(1 for count in counts if count)
print(weighted, weighted, present, present, sep="\n")
