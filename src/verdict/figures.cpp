#include "verdicts.h"

#include "assay/stats/gate.h"
#include "assay/stats/math.h"
#include "assay/stats/signed_rank.h"

#include <algorithm>
#include <cmath>

namespace assay::verdict {
namespace {

std::optional<std::int64_t> figure(const Sample& s, Kind kind, std::string* key) {
  switch (kind) {
    case Kind::rss:
      *key = "peak_rss_bytes";
      return s.peak_rss_bytes;
    case Kind::cpu:
      *key = s.user_ns ? "system_ns" : "user_ns";
      if (!s.user_ns || !s.system_ns)
        return std::nullopt;
      return *s.user_ns + *s.system_ns;
    case Kind::wall:
    case Kind::tail:
      break;
  }
  *key = "elapsed_ns";
  return s.elapsed_ns;
}

std::string reason_of(const Sample& s, const std::string& key) {
  const auto reason = s.reasons.find(key);
  return reason == s.reasons.end() ? "not_available" : reason->second;
}

double percent(double log_ratio) {
  return (stats::exp(log_ratio) - 1) * 100;
}

// The figure of one run where it can be compared. Otherwise says in `f` why not.
std::optional<double> usable_figure(const Sample& sample, Kind kind, Figures& f) {
  std::string key;
  const auto value = figure(sample, kind, &key);
  if (value && *value > 0)
    return static_cast<double>(*value);
  const std::string code = value ? "" : reason_of(sample, key);
  if (!code.empty())
    f.codes.insert(code);
  // A peak of 0 is a kernel that rounded it away: absent, never a small number. A time that the
  // runner could not tell from 0 is the same as a recorded 0.
  const bool too_small = value || code == "below_resolution";
  if (kind == Kind::rss && too_small)
    f.codes.insert("rss_quantised");
  if (kind != Kind::rss && too_small)
    ++f.zero;
  else
    ++f.missing;
  return std::nullopt;
}

}  // namespace

Figures figures_of(const CaseData& data, Kind kind) {
  Figures f;
  for (const CompletePair& pair : data.pairs) {
    const auto reference = usable_figure(*pair.reference, kind, f);
    const auto candidate = usable_figure(*pair.candidate, kind, f);
    if (!reference || !candidate)
      continue;
    f.reference.push_back(*reference);
    f.candidate.push_back(*candidate);
    f.batch.push_back(pair.batch);
    f.candidate_first.push_back(pair.candidate_first);
  }
  return f;
}

Finding find_difference(const stats::Pairs& pairs, double level) {
  Finding f;
  f.estimate = stats::hodges_lehmann(pairs.x);
  if (pairs.batches < stats::kMinGateBatches)
    f.reasons.insert("too_few_batches");
  const auto [low, high] = std::minmax_element(pairs.x.begin(), pairs.x.end());
  if (*low >= *high)
    f.reasons.insert("zero_spread");
  if (pairs.batches < 2) {
    f.reasons.insert("single_batch");
    return f;
  }
  const stats::SignedRankInterval interval = stats::signed_rank_interval(pairs, level);
  if (std::isfinite(interval.lower))
    f.lower = interval.lower;
  if (std::isfinite(interval.upper))
    f.upper = interval.upper;
  if (!f.lower || !f.upper)
    f.reasons.insert("interval_unbounded");
  const double alpha = (1 - level) / 2;
  const auto direction = [&](const stats::CapTest& test) -> std::string {
    if (test.p_t_up < alpha && test.p_flip_up <= alpha)
      return "up";
    if (test.p_t_down < alpha && test.p_flip_down <= alpha)
      return "down";
    return "no_difference";
  };
  // Where even the smallest flip p is above alpha nothing could be found: that is no "no
  // difference".
  if (std::ldexp(1.0, -pairs.batches) > alpha)
    return f;
  f.finding = direction(stats::test_at(pairs, 0.0));
  if (f.finding != "no_difference") {
    if (pairs.batches > 2 && direction(stats::test_without_heaviest_batch(pairs, 0.0)) != f.finding)
      f.reasons.insert("one_batch_decides");
    return f;
  }
  if (f.lower && f.upper) {
    if (*f.lower > 0 || *f.upper < 0)
      f.reasons.insert("tests_disagree");
    f.ruled_out_above_percent =
        std::max(std::fabs(percent(*f.lower)), std::fabs(percent(*f.upper)));
  }
  return f;
}

}  // namespace assay::verdict
