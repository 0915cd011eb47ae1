"""The right output of worker without a queue: what becomes of a job follows from its number
alone, and its digest has a closed form. With a the multiplier, w the weight, s the seed and n
steps, the digest is the sum of w^(n-k) s a^k for k = 1 to n, which is s a (w^n - a^n) / (w - a),
modulo a prime."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import bench

PRIME, A, W = 2147483647, 48271, 69621

jobs = bench.size(512, 100_000)
steps = bench.steps(524_288, 1_000_000_000)
factor = A * (pow(W, steps, PRIME) - pow(A, steps, PRIME)) * pow(W - A, -1, PRIME) % PRIME
counts, digest = [0, 0, 0], 0
for job in range(1, jobs + 1):
    dead = job % 13 == 6
    failures = 3 if dead else 2 if job % 11 == 5 else int(job % 7 == 3)
    counts[2 if dead else min(failures, 1)] += 1
    effect = 0 if dead else (7 + 7919 * job) * factor % PRIME
    for value in (job, int(dead), failures, effect):
        digest = (65599 * digest + value) % 1000000007
print("jobs", jobs)
print("completed {} retried {} dead {}".format(*counts))
print("effects", jobs - counts[2])
print("TOTAL", digest)
