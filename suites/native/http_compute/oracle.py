"""What http_compute must answer, without a server and without its rounds.

    oracle.py          the result of a run of ASSAY_BENCH_SIZE requests (4096)
    oracle.py FILE     writes the table of requests: a line "BODY DIGEST" each, the body in hex

A round over a body of n bytes is h -> p h + s, with p = 33^n and s the digest of a single round. So r
rounds from 0 are s (p^r - 1) / (p - 1), modulo a prime. Request i sends body i modulo the table."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import bench

PRIME = 1000000007
# Lengths around the borders of blocks first.
LENGTHS = [0, 1, 2, 15, 16, 17, 255, 256, 257, 1024] + [1 + 37 * i % 512 for i in range(54)]


def bodies():
    state = 7
    for length in LENGTHS:
        body = bytearray()
        for _ in range(length):
            state = state * 48271 % 2147483647
            body.append(state >> 8 & 255)
        yield bytes(body)


def digest(body, rounds):
    n = len(body)
    s = sum((byte + 1) * pow(33, n - 1 - i, PRIME) for i, byte in enumerate(body)) % PRIME
    p = pow(33, n, PRIME)
    if p == 1:
        return s * rounds % PRIME
    return s * (pow(p, rounds, PRIME) - 1) * pow(p - 1, -1, PRIME) % PRIME


def main():
    count, rounds = bench.size(4096, 1_000_000), bench.steps(64, 1_000_000)
    table = [(body, digest(body, rounds)) for body in bodies()]
    if len(sys.argv) > 2:
        bench.fail(f"usage: {sys.argv[0]} [FILE]")
    if len(sys.argv) == 2:
        lines = "".join(f"{body.hex()} {value}\n" for body, value in table)
        pathlib.Path(sys.argv[1]).write_text(lines, encoding="ascii")
        return
    total = 0
    for i in range(count):
        total = (65599 * total + table[i % len(table)][1]) % PRIME
    print("requests", count)
    print("completed", count, "wrong 0 errors 0 timeouts 0")
    print("TOTAL", total)


if __name__ == "__main__":
    main()
