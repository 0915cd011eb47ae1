"""The right output of fib by doubling, not by its recursion: F(2k) and F(2k+1) from F(k), F(k+1)."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import bench


def pair(n):
    """(F(n), F(n + 1))"""
    if n == 0:
        return 0, 1
    a, b = pair(n // 2)
    even, odd = a * (2 * b - a), a * a + b * b
    return (odd, even + odd) if n % 2 else (even, odd)


print(pair(bench.size(40, 50))[0])
