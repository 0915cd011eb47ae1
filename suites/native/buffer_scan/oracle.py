"""The right output of buffer_scan without a buffer: the pattern repeats every 256 bytes, so one block
is an affine map of the checksum, and many blocks are a power of that map."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import bench

MODULUS = 1_000_000_007
PERIOD = 256


def byte(i, added):
    return (17 * i + 23 + added) % 256


def compose(first, then):
    """The affine map h -> a h + b that does `first`, then `then`."""
    return first[0] * then[0] % MODULUS, (first[1] * then[0] + then[1]) % MODULUS


def power(one, times):
    result = (1, 0)
    while times:
        if times & 1:
            result = compose(result, one)
        one = compose(one, one)
        times >>= 1
    return result


def block(length, added):
    result = (1, 0)
    for i in range(length):
        result = compose(result, (33, byte(i, added)))
    return result


size = bench.size(33_554_432, 1_073_741_824)
checksum, added = 0, 0
for passed in range(4):
    added += passed + 1
    a, b = compose(power(block(PERIOD, added), size // PERIOD), block(size % PERIOD, added))
    checksum = (a * checksum + b) % MODULUS
print(checksum, byte(0, added), byte(size - 1, added), sep="\n")
