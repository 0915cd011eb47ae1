"""The right output of sqlite without a database: rows in a dictionary, transactions as dictionaries
that are merged or dropped."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import bench

OWNERS = 97

transactions = bench.size(120, 100_000)
inserts = bench.steps(500, 100_000)
jobs, state = {}, 7
outcomes = {"committed": 0, "conflicts": 0, "rolled_back": 0}
for t in range(transactions):
    added = {}
    for i in range(inserts):
        state = state * 48271 % 2147483647
        added[t * inserts + 1 + i] = [state % OWNERS, state // OWNERS % 10007,
                                      f"job {state % 9973} of {t}"]
    if t % 5 == 4:
        outcomes["conflicts"] += 1
    elif t % 7 == 6:
        outcomes["rolled_back"] += 1
    else:
        outcomes["committed"] += 1
        jobs.update(added)
        owner, emptied = t % OWNERS, (t % OWNERS + 1) % OWNERS
        for job in jobs.values():
            job[1] += job[0] == owner
        jobs = {key: job for key, job in jobs.items() if job[0] != emptied or job[1] % 11 != 0}

print("journal_mode wal", "synchronous 1", "cache_size -8000", "temp_store 2", "page_size 4096",
      sep="\n")
print(" ".join(f"{name} {count}" for name, count in outcomes.items()))
for owner in range(OWNERS):
    scores = [job[1] for job in jobs.values() if job[0] == owner]
    if scores:
        print("group", owner, len(scores), sum(scores), min(scores), max(scores))
digest = 0
for rank, (key, job) in enumerate(sorted(jobs.items(), key=lambda item: (-item[1][1], item[0]))):
    row = f"{key} {job[0]} {job[1]} {job[2]}"
    for byte in row.encode():
        digest = (33 * digest + byte) % 1000000007
    if rank < 20:
        print("row", row)
print("TOTAL", len(jobs), digest)
