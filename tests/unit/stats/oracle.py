"""The rules of docs/reference/statistics.md once more, with the Python standard library only.

Written from the rules, not from the C++: brute force where the product is clever (pairwise means,
integer convolution, sorting for every trial value), CPython's own generator for the bootstrap,
finite series for the t distribution. Slow and plain on purpose.
"""

import math
import random
from fractions import Fraction
from statistics import median


# ---- Student's t for whole degrees of freedom: the finite trigonometric series.


def t_centre(t, df):
    """P(-t < T < t), t >= 0."""
    theta = math.atan2(t, math.sqrt(df))
    sine, cosine = math.sin(theta), math.cos(theta)
    if df % 2 == 1:
        term, total = cosine, 0.0
        for k in range(1, (df - 1) // 2 + 1):
            total += term
            term *= cosine * cosine * (2 * k) / (2 * k + 1)
        return 2 / math.pi * (theta + sine * total)
    term, total = 1.0, 0.0
    for k in range(1, df // 2 + 1):
        total += term
        term *= cosine * cosine * (2 * k - 1) / (2 * k)
    return sine * total


def t_cdf(t, df):
    half = t_centre(abs(t), df) / 2
    return 0.5 + half if t >= 0 else 0.5 - half


def t_quantile(p, df):
    low, high = -1e7, 1e7
    for _ in range(200):
        middle = (low + high) / 2
        if t_cdf(middle, df) < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


# ---- Clustered signed rank.


def by_batch(values, batch):
    groups = {}
    for value, b in zip(values, batch):
        groups.setdefault(b, []).append(value)
    return [groups[b] for b in sorted(groups)]


TIE = 1e-14


def rank_sums(x, batch, c, tie=TIE):
    """Per batch: sum of sign(x - c) times twice the mid-rank of |x - c| over all pairs."""
    distance = [abs(v - c) for v in x]
    ties, start, group_of = [], 0.0, {}
    for place, d in enumerate(sorted(distance), 1):
        # Mirrored ratios differ in the last bit of their logarithms.
        if ties and d <= start + tie:
            ties[-1][1] = place
        else:
            ties.append([place, place])
            start = d
        group_of[d] = ties[-1]
    sums = {}
    for v, d, b in zip(x, distance, batch):
        sign = 0 if d <= tie else (v > c) - (v < c)
        sums[b] = sums.get(b, 0) + sign * sum(group_of[d])
    return [sums[b] for b in sorted(sums)]


def t_of(values):
    n = len(values)
    mean = sum(values) / n
    sd = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
    if sd == 0:
        return 1e9 if mean > 0 else -1e9 if mean < 0 else 0.0
    return mean / (sd / math.sqrt(n))


def sign_flip(sums):
    """(P(sum* > seen), P(sum* == seen)) as exact fractions."""
    counts = {0: 1}
    for s in sums:
        following = {}
        for value, count in counts.items():
            following[value + s] = following.get(value + s, 0) + count
            following[value - s] = following.get(value - s, 0) + count
        counts = following
    seen, total = sum(sums), 2 ** len(sums)
    greater = sum(count for value, count in counts.items() if value > seen)
    return Fraction(greater, total), Fraction(counts[seen], total)


def hodges_lehmann(x):
    return median((x[i] + x[j]) / 2 for i in range(len(x)) for j in range(i, len(x)))


def interval(x, batch, level):
    estimate = hodges_lehmann(x)
    batches = len(set(batch))
    if batches < 2:
        return estimate, -math.inf, math.inf
    limit = t_quantile((1 + level) / 2, batches - 1)

    def bisect(outside, rejected):
        if not rejected(outside):
            return math.copysign(math.inf, outside - estimate)
        inside = estimate
        for _ in range(40):
            middle = (inside + outside) / 2
            if rejected(middle):
                outside = middle
            else:
                inside = middle
        return min(max(outside, min(x)), max(x))

    lower = bisect(math.nextafter(min(x), -math.inf),
                   lambda c: t_of(rank_sums(x, batch, c, 0)) > limit)
    upper = bisect(math.nextafter(max(x), math.inf),
                   lambda c: t_of(rank_sums(x, batch, c, 0)) < -limit)
    return estimate, lower, upper


def tests_from(t, sums):
    greater, equal = sign_flip(sums)
    result = {"t": 0.0, "t_up": 1.0, "t_down": 1.0,
              "flip_up": float(greater + equal), "flip_down": float(1 - greater)}
    if len(sums) >= 2:
        df = len(sums) - 1
        result.update(t=t, t_up=1 - t_cdf(t, df), t_down=t_cdf(t, df))
    return result


def tests_at(x, batch, c):
    sums = rank_sums(x, batch, c)
    return tests_from(t_of(sums) if len(sums) >= 2 else 0.0, sums)


def decide(tests, alpha, worse_is_up):
    up = tests["t_up"] < alpha and tests["flip_up"] <= alpha
    down = tests["t_down"] < alpha and tests["flip_down"] <= alpha
    if not up and not down:
        return "INCONCLUSIVE"
    return "FAIL" if up == worse_is_up else "PASS"


def gate(x, batch, cap, alpha, worse_is_up):
    tests = tests_at(x, batch, math.log(cap))
    sums = rank_sums(x, batch, math.log(cap))
    reasons = []
    verdict = "INCONCLUSIVE"
    if len(sums) < 8:
        reasons.append("too_few_batches")
    else:
        verdict = decide(tests, alpha, worse_is_up)
        names = sorted(set(batch))
        heaviest = names[max(range(len(sums)), key=lambda b: (abs(sums[b]), -b))]
        kept = [(v, b) for v, b in zip(x, batch) if b != heaviest]
        rest = tests_at([v for v, _ in kept], [b for _, b in kept], math.log(cap))
        if decide(rest, alpha, worse_is_up) != verdict:
            reasons.append("one_batch_decides")
    if (tests["t_up"] < alpha) != (tests["flip_up"] <= alpha) or \
            (tests["t_down"] < alpha) != (tests["flip_down"] <= alpha):
        reasons.append("tests_disagree")
    return verdict, reasons, tests


# ---- hierarchical-percentile-v1.


def percentile(values, q):
    ordered = sorted(values)
    position = (len(ordered) - 1) * q
    low = math.floor(position)
    high = math.ceil(position)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def bootstrap(cases, draws, seed, level):
    """cases: {name: [ratios of a batch, ...]}. {name or None: (estimate, lower, upper)}."""
    generator = random.Random(seed)
    names = sorted(cases)
    batches = range(len(cases[names[0]]))
    medians = {name: [] for name in names}
    means = []
    for _ in range(draws):
        chosen = generator.choices(batches, k=len(batches))
        logs = []
        for name in names:
            drawn = []
            for b in chosen:
                drawn += generator.choices(cases[name][b], k=len(cases[name][b]))
            medians[name].append(median(drawn))
            logs.append(math.log(medians[name][-1]))
        means.append(math.exp(sum(logs) / len(logs)))
    low, high = (1 - level) / 2, (1 + level) / 2
    result = {}
    estimates = []
    for name in names:
        estimates.append(median(r for ratios in cases[name] for r in ratios))
        result[name] = (estimates[-1], percentile(medians[name], low), percentile(medians[name], high))
    overall = math.exp(sum(math.log(e) for e in estimates) / len(estimates))
    result[None] = (overall, percentile(means, low), percentile(means, high))
    return result


# ---- Tail.


def half_up(value):
    return math.copysign(math.floor(abs(value) + 0.5), value)


def tail(reference, candidate, batch):
    batches = sorted(set(batch))
    if len(batches) < 6:
        return {"verdict": "INCONCLUSIVE", "reasons": ["too_few_batches"]}
    if min(batch.count(b) for b in batches) < 4:
        return {"verdict": "INCONCLUSIVE", "reasons": ["tail_needs_more_pairs"]}

    def excess(times):
        return math.log(sum(times) / len(times)) - median(math.log(t) for t in times)

    z = [excess(c) - excess(r)
         for r, c in zip(by_batch(reference, batch), by_batch(candidate, batch))]
    z = [0.0 if abs(v) < 1e-12 else v for v in z]
    largest = max(map(abs, z))
    p = 1.0
    if largest > 0:
        greater, equal = sign_flip([int(half_up(512 * (v / largest))) for v in z])
        p = float(greater + equal / 2)
    n = len(batch)
    slow_c = [t > 1.1 * median(candidate) for t in candidate]
    slow_r = [t > 1.1 * median(reference) for t in reference]
    share = (sum(slow_c) + sum(slow_r)) / (2 * n)
    b = sum(c and not r for c, r in zip(slow_c, slow_r))
    c = sum(r and not c for c, r in zip(slow_c, slow_r))
    delta = 0.05
    qa, qb, qc = 2 * n, -b - c + (2 * n - b + c) * delta, -c * delta * (1 - delta)
    w = (math.sqrt(qb * qb - 4 * qa * qc) - qb) / (2 * qa)
    score = (b - c - n * delta) / math.sqrt(n * (2 * w + delta * (1 - delta)))
    effect = 1.0
    if b + c > 0:
        differences = by_batch([int(x) - int(y) for x, y in zip(slow_c, slow_r)], batch)
        d = [sum(group) for group in differences]
        mean = sum(d) / len(d)
        expected = b + c - (b - c) ** 2 / n
        if expected > 0:
            spread = sum((v - mean) ** 2 for v in d) * len(d) / (len(d) - 1)
            effect = max(1.0, spread / expected)
    statistic = score / math.sqrt(effect)
    limit = -t_quantile(0.95, len(batches) - 1)
    reasons = []
    if p <= 0.05:
        verdict = "FAIL"
    elif n >= 72 and share <= 0.10 and statistic <= limit:
        verdict = "PASS"
    else:
        verdict = "INCONCLUSIVE"
        reasons = ["tail_not_resolvable" if share > 0.10 else "tail_needs_more_pairs"]
    return {"verdict": verdict, "reasons": reasons, "p": p, "slow_share": share,
            "excess": math.exp(sum(z) / len(z)) - 1, "statistic": statistic, "limit": limit,
            "candidate_slow": sum(slow_c), "reference_slow": sum(slow_r)}


# ---- Geometric mean, families, predictions.


def geomean(cases, batches, level, cap, alpha):
    """cases: [(x, batch, weight)]. None below two complete batches."""
    z = []
    for b in range(batches):
        values = [[v for v, label in zip(x, labels) if label == b] for x, labels, _ in cases]
        if all(values):
            weights = [w for _, _, w in cases]
            z.append(sum(w * hodges_lehmann(v) for w, v in zip(weights, values)) / sum(weights))
    if len(z) < 2:
        return None
    n = len(z)
    mean = sum(z) / n
    sd = math.sqrt(sum((v - mean) ** 2 for v in z) / (n - 1))
    half = t_quantile((1 + level) / 2, n - 1) * sd / math.sqrt(n)
    centred = [v - math.log(cap) for v in z]
    largest = max(map(abs, centred))
    steps = [int(half_up(2 ** 20 * (v / largest))) if largest > 0 else 0 for v in centred]
    tests = tests_from(t_of(centred), steps)
    verdict = "INCONCLUSIVE" if n < 8 else decide(tests, alpha, True)
    return {"estimate": math.exp(mean), "lower": math.exp(mean - half),
            "upper": math.exp(mean + half), "used": n, "verdict": verdict, "tests": tests}


def holm(p):
    """The smallest family level at which each hypothesis is rejected, step by step."""
    adjusted = [0.0] * len(p)
    remaining, level = list(range(len(p))), 0.0
    while remaining:
        best = min(remaining, key=lambda i: p[i])
        level = min(1.0, max(level, len(remaining) * p[best]))
        adjusted[best] = level
        remaining.remove(best)
    return adjusted


def benjamini_hochberg(p):
    ordered = sorted(p)
    m = len(p)
    return [min([1.0] + [m * ordered[k] / (k + 1) for k in range(m) if ordered[k] >= value])
            for value in p]


def decision_probability(r, b0, b):
    u = b0 / b
    t = t_quantile(0.975, b - 1)
    s = math.sqrt(1 - u)
    return t_cdf((r - t * math.sqrt(u)) / s, b0 - 1) + t_cdf((-r - t * math.sqrt(u)) / s, b0 - 1)


def half_width(hw0, b0, b, level):
    q = (1 + level) / 2
    s1 = hw0 * math.sqrt(b0) / t_quantile(q, b0 - 1)
    return t_quantile(q, b - 1) * s1 / math.sqrt(b)
