#!/usr/bin/env python3
"""check_oracle.py DRIVER | --build DIRECTORY: the product's statistics against oracle.py on random data sets.

Exit code 1 on any difference above 1e-12; the last line counts the data sets.
"""

import json
import math
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle  # noqa: E402

TOLERANCE = 1e-12
PAIR_SETS, FLIP_SETS, BOOTSTRAP_SETS, GEOMEAN_SETS, FAMILY_SETS, PREDICTION_SETS = \
    320, 80, 60, 60, 60, 40


def close(a, b):
    if a in ("inf", "-inf"):
        a = float(a)
    if math.isinf(a) or math.isinf(b):
        return a == b
    return abs(a - b) <= TOLERANCE * max(abs(a), abs(b)) or abs(a - b) <= 1e-14


class Mismatch(Exception):
    pass


def expect(name, got, wanted):
    if isinstance(wanted, float):
        good = isinstance(got, (int, float, str)) and close(got, wanted)
    elif isinstance(wanted, (list, tuple)):
        if len(got) != len(wanted):
            raise Mismatch(f"{name}: got {got}, expected {wanted}")
        for i, (g, w) in enumerate(zip(got, wanted)):
            expect(f"{name}[{i}]", g, w)
        return
    else:
        good = got == wanted
    if not good:
        raise Mismatch(f"{name}: got {got!r}, expected {wanted!r}")


# ---- Random data sets: ties, unequal batches, tiny sizes, tails, whole-number times.


def random_pairs(rng, index):
    batches = rng.choice([1, 2, 3, 5, 7, 8, 9, 10, 12, 20])
    kind = index % 6
    reference, candidate, batch = [], [], []
    shift = rng.choice([0.0, 0.0, 0.01, 0.05, -0.03, 0.3])
    for b in range(batches):
        effect = rng.gauss(0, 0.005)
        for _ in range(rng.randint(1, 8) if kind in (0, 1) else rng.choice([4, 6])):
            r, c = math.exp(rng.gauss(0, 0.01)), math.exp(rng.gauss(shift + effect, 0.01))
            if kind == 2 and rng.random() < 0.1:
                c *= 2
            if kind == 3:
                r, c = rng.randint(1, 4), rng.randint(1, 4)
            elif kind == 4:
                r, c = round(r * 40), round(c * 40)
            elif kind == 5 and index % 12 == 5:
                r, c = 3.0, 3.0 * (1 + (index % 5) / 50)
            reference.append(float(r))
            candidate.append(float(c))
            batch.append(b * 3 - 2)
    order = list(range(len(batch)))
    if index % 7 == 0:
        rng.shuffle(order)
    return {"kind": "pairs", "reference": [reference[i] for i in order],
            "candidate": [candidate[i] for i in order], "batch": [batch[i] for i in order],
            "cap": rng.choice([1.0, 1.0, 1.01, 1.1, 0.9]), "level": rng.choice([0.95, 0.9, 0.9818]),
            "alpha": rng.choice([0.025, 0.0091])}


def random_flip(rng, index):
    sizes = [1, 2, 5, 10, 20, 30, 50, 51, 120, 200, 600]
    size = sizes[index % len(sizes)]
    top = rng.choice([1, 3, 9] if size > 60 else [1, 3, 40, 2000])
    return {"kind": "flip", "sums": [rng.randint(-top, top + top // 3) for _ in range(size)]}


def random_bootstrap(rng, index):
    batches = rng.randint(1, 6)
    cases = {}
    for k in range(rng.choice([1, 1, 2, 4])):
        cases[f"case{9 - k}"] = [
            [rng.randint(90, 115) / 100 if index % 3 == 0 else math.exp(rng.gauss(0, 0.05))
             for _ in range(rng.randint(1, 9))] for _ in range(batches)]
    return {"kind": "bootstrap", "cases": cases, "draws": 200, "seed": rng.randrange(2 ** 53),
            "level": 0.95}


def random_geomean(rng, _):
    batches = rng.choice([1, 2, 6, 8, 10, 12])
    cases = []
    for _ in range(rng.choice([1, 3, 5])):
        x, labels = [], []
        for b in range(batches):
            for _ in range(rng.choice([0, 1, 4, 6, 6, 6]) if rng.random() < 0.2 else 5):
                x.append(rng.gauss(0.01, 0.01))
                labels.append(b)
        cases.append({"x": x, "batch": labels, "weight": rng.choice([1.0, 1.0, 2.5])})
    return {"kind": "geomean", "cases": cases, "batches": batches, "level": 0.95,
            "cap": rng.choice([1.0, 1.005, 1.02])}


def random_family(rng, _):
    values = [rng.random() ** 3 for _ in range(rng.randint(1, 12))]
    if len(values) > 3:
        values[1] = values[2]
    return {"kind": "family", "p": values}


def random_prediction(rng, _):
    b0 = rng.choice([8, 10, 12, 20])
    return {"kind": "prediction", "r": round(rng.uniform(0.4, 2.2), 3), "b0": b0,
            "b": b0 + rng.randint(1, 90)}


# ---- Comparisons.


def check_tests(name, got, wanted):
    for key in ("t", "t_up", "t_down", "flip_up", "flip_down"):
        if key == "t" and abs(wanted["t"]) > 1e6:
            if got["t"] * wanted["t"] <= 0 or abs(got["t"]) < 1e5:
                raise Mismatch(f"{name}.t: got {got['t']}, expected {wanted['t']}")
            continue
        expect(f"{name}.{key}", got[key], wanted[key])


def check_pairs(q, a):
    labels = sorted(set(q["batch"]))
    dense = [labels.index(b) for b in q["batch"]]
    expect("batch", a["batch"], dense)
    logs = [math.log(c / r) for r, c in zip(q["reference"], q["candidate"])]
    if any(abs(g - w) > 1e-15 * max(1.0, abs(w)) for g, w in zip(a["x"], logs)):
        raise Mismatch("x: a log ratio is off by more than one rounding")
    x = a["x"]  # ranks must not hang on the last bit of a logarithm
    expect("sums", a["sums"], oracle.rank_sums(x, dense, math.log(q["cap"])))
    for name, up in (("gate_up", True), ("gate_down", False)):
        verdict, reasons, tests = oracle.gate(x, dense, q["cap"], q["alpha"], up)
        expect(f"{name}.verdict", a[name]["verdict"], verdict)
        expect(f"{name}.reasons", a[name]["reasons"], reasons)
        check_tests(name, a[name]["tests"], tests)
        side = "up" if up else "down"
        expect(f"{name}.p_fail", a[name]["p_fail"], max(tests[f"t_{side}"], tests[f"flip_{side}"]))
    expect("interval", a["interval"], oracle.interval(x, dense, q["level"]))
    for key, value in oracle.tail(q["reference"], q["candidate"], dense).items():
        expect(f"tail.{key}", a["tail"][key], value)


def check_flip(q, a):
    greater, equal = oracle.sign_flip(q["sums"])
    expect("greater", a["greater"], float(greater))
    expect("equal", a["equal"], float(equal))


def check_bootstrap(q, a):
    wanted = oracle.bootstrap(q["cases"], q["draws"], q["seed"], q["level"])
    expect("geomean", a["geomean"], wanted.pop(None))
    for name, value in wanted.items():
        expect(name, a["cases"][name], value)


def check_geomean(q, a):
    cases = [(c["x"], c["batch"], c["weight"]) for c in q["cases"]]
    wanted = oracle.geomean(cases, q["batches"], q["level"], q["cap"], 0.025)
    if wanted is None or a is None:
        expect("geomean", a, wanted)
        return
    for key in ("estimate", "lower", "upper", "used"):
        expect(key, a[key], wanted[key])
    expect("verdict", a["gate"]["verdict"], wanted["verdict"])
    check_tests("tests", a["gate"]["tests"], wanted["tests"])


def check_family(q, a):
    expect("holm", a["holm"], oracle.holm(q["p"]))
    expect("bh", a["bh"], oracle.benjamini_hochberg(q["p"]))


def check_prediction(q, a):
    r, b0 = q["r"], q["b0"]
    expect("probability", a["probability"], oracle.decision_probability(r, b0, q["b"]))
    expect("half_width", a["half_width"], oracle.half_width(0.01, b0, q["b"], 0.95))
    # The smallest number of batches: reached there, and not one batch before.
    b80, halved = a["b80"], a["halved"]
    if b80 is not None and b80 <= 400:
        reached = [oracle.decision_probability(r, b0, b) >= 0.8 for b in (b80 - 1, b80) if b > b0]
        expect("b80", reached, [False, True][-len(reached):])
    narrow = [oracle.half_width(0.01, b0, b, 0.95) <= 0.005 for b in (halved - 1, halved)]
    expect("halved", narrow, [False, True])


def find_driver(arguments):
    """DRIVER, or --build DIRECTORY as the test runner gives it (--long changes nothing here)."""
    arguments = [word for word in arguments if word != "--long"]
    if len(arguments) == 1 and not arguments[0].startswith("-"):
        return arguments[0]
    if len(arguments) == 2 and arguments[0] == "--build":
        return os.path.join(arguments[1], "helpers", "stats_driver")
    print("usage: check_oracle.py DRIVER | --build DIRECTORY", file=sys.stderr)
    return None


def main():
    driver = find_driver(sys.argv[1:])
    if driver is None:
        return 2
    rng = random.Random(20261130)
    plan = [("pairs", random_pairs, check_pairs, PAIR_SETS),
            ("flip", random_flip, check_flip, FLIP_SETS),
            ("bootstrap", random_bootstrap, check_bootstrap, BOOTSTRAP_SETS),
            ("geomean", random_geomean, check_geomean, GEOMEAN_SETS),
            ("family", random_family, check_family, FAMILY_SETS),
            ("prediction", random_prediction, check_prediction, PREDICTION_SETS)]
    passed = failed = 0
    for kind, make, check, count in plan:
        questions = [make(rng, i) for i in range(count)]
        run = subprocess.run([driver], input=json.dumps(questions), text=True,
                             capture_output=True, check=True)
        wrong = []
        for number, (question, answer) in enumerate(zip(questions, json.loads(run.stdout))):
            try:
                check(question, answer)
            except Mismatch as mismatch:
                wrong.append(f"data set {number}: {mismatch}")
        passed += count - len(wrong)
        failed += len(wrong)
        if wrong:
            print(f"FAIL {kind}: {len(wrong)} of {count} data sets differ")
            print("\n".join(wrong[:5]))
        else:
            print(f"PASS {kind}: {count} data sets")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
