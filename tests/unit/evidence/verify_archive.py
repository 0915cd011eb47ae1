"""Checks a finished archive from docs/reference/archive.md alone, with Python's standard library."""
import hashlib
import json
import os
import stat
import sys


def sha(data):
    return hashlib.sha256(data).hexdigest()


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), "duplicate key"
    return dict(pairs)


def canonical(data):
    value = json.loads(data.decode("utf-8"), object_pairs_hook=no_duplicates)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert text.encode("utf-8") == data, "not canonical"
    return value


def tree(leaves):
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    k = 1
    while 2 * k < len(leaves):
        k *= 2
    return hashlib.sha256(b"\1" + tree(leaves[:k]) + tree(leaves[k:])).digest()


def walk(root):
    own = {"inventory.json", "SHA256SUMS", "seal.dsse.json"}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.relpath(os.path.join(folder, name), root)
            if path in own:
                continue
            status = os.lstat(os.path.join(root, path))
            mode = "%04o" % stat.S_IMODE(status.st_mode)
            if stat.S_ISDIR(status.st_mode):
                yield {"mode": mode, "path": path, "type": "directory"}
            else:
                assert stat.S_ISREG(status.st_mode) and status.st_nlink == 1
                data = open(os.path.join(root, path), "rb").read()
                yield {"mode": mode, "path": path, "type": "file", "size": len(data),
                       "sha256": sha(data)}


def main(root):
    def read(name):
        with open(os.path.join(root, name), "rb") as file:
            return file.read()

    def document(name):
        data = read(name)
        assert data.endswith(b"\n"), name
        return canonical(data[:-1])

    inventory = document("inventory.json")
    entries = sorted(walk(root), key=lambda entry: entry["path"].encode("utf-8"))
    assert inventory["entries"] == entries, "inventory"
    leaves = [json.dumps(e, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
              for e in entries]
    assert inventory["merkle_root"] == tree(leaves).hex(), "merkle root"
    sums = [(e["path"], e["sha256"]) for e in entries if e["type"] == "file"]
    sums.append(("inventory.json", sha(read("inventory.json"))))
    sums.sort(key=lambda pair: pair[0].encode("utf-8"))
    assert read("SHA256SUMS").decode() == "".join("%s  %s\n" % (d, p) for p, d in sums), "sums"

    header = document("header.json")
    for name, digest in header["digests"].items():
        assert sha(read(name)) == digest, name
    document("report.json")

    samples = read("samples.jsonl")
    events = read("events.jsonl")
    assert events.endswith(b"\n")
    previous, anchored, types = "0" * 64, 0, []
    for seq, line in enumerate(events[:-1].split(b"\n")):
        event = canonical(line)
        assert event["seq"] == seq and event["prev"] == previous, "chain at %d" % seq
        previous = sha(line)
        types.append(event["type"])
        if event["type"] == "pair_end":
            assert event["samples_bytes"] > anchored, "anchor"
            anchored = event["samples_bytes"]
            assert sha(samples[:anchored]) == event["samples_sha256"], "anchor"
            assert canonical(samples[:anchored - 1].split(b"\n")[-1])["seq"] == event["last_seq"]
    assert anchored == len(samples), "samples beyond the last anchor"
    first = canonical(events.split(b"\n")[0])
    assert first["type"] == "archive_created" and first["archive_id"] == header["archive_id"]
    assert first["header_sha256"] == sha(read("header.json"))
    assert types[-1] in ("finished", "interrupted", "failed")
    assert "archive_created" not in types[1:]


main(sys.argv[1])
