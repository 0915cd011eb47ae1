"""The right output of json_transform: every record is transformed once and counted for all rounds."""
import collections
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import bench

data = bench.read_input()
rounds = bench.steps(256, 512)
counts = collections.Counter()
for line in data.decode().removesuffix("\n").split("\n"):
    value = json.loads(line)
    if value["active"] and value["id"] % 5 != 0:
        result = {"id": value["id"], "score": value["score"] * 3 + value["id"],
                  "title": "task:" + value["title"]}
        counts[json.dumps(result, ensure_ascii=False, separators=(",", ":"))] += rounds
rows = sorted((record.encode(), count) for record, count in counts.items())
processed = sum(len(record) * count for record, count in rows)
out = b"".join(record + b"\t%d\n" % count for record, count in rows)
sys.stdout.buffer.write(out + b"TOTAL %d %d %d\n" % (sum(counts.values()), processed,
                                                      rounds * data.count(b"\n")))
