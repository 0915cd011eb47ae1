"""The right output of particle_update in integers and in closed form: after S steps, in units of
1/65536, a velocity is 64 (v + S a) and a position 64 x + S v + T a with T = S (S + 1) / 2."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import bench

MODULUS = 1_000_000_007

count = bench.size(10_000, 10_000)
steps = bench.steps(32_768, 65_536)
triangle = steps * (steps + 1) // 2
state, h = 7, 0
for _ in range(count):
    fields = []
    for _ in range(6):
        state = state * 48271 % 2147483647
        fields.append(state % 2048 - 1024)
    x, y, vx, vy, ax, ay = fields
    for value in (64 * x + steps * vx + triangle * ax, 64 * y + steps * vy + triangle * ay,
                  64 * (vx + steps * ax), 64 * (vy + steps * ay), 64 * ax, 64 * ay):
        h = (33 * h + value) % MODULUS
print(h, count, steps, sep="\n")
