#include "assay/stats/gate.h"

#include "gate_rule.h"

#include "assay/base/result.h"
#include "assay/stats/math.h"

#include <algorithm>

namespace assay::stats {
namespace detail {

Verdict decide(const CapTest& test, Direction direction, double alpha) {
  const bool up = test.p_t_up < alpha && test.p_flip_up <= alpha;
  const bool down = test.p_t_down < alpha && test.p_flip_down <= alpha;
  if (!up && !down)
    return Verdict::inconclusive;
  return up == (direction == Direction::up) ? Verdict::fail : Verdict::pass;
}

bool tests_disagree(const CapTest& test, double alpha) {
  const bool up = (test.p_t_up < alpha) != (test.p_flip_up <= alpha);
  const bool down = (test.p_t_down < alpha) != (test.p_flip_down <= alpha);
  return up || down;
}

GateResult conclude(CapTest test, const CapTest& without_heaviest, const GateOptions& options) {
  const double alpha = options.one_sided_alpha;
  GateResult result;
  result.p_fail = options.direction == Direction::up ? std::max(test.p_t_up, test.p_flip_up)
                                                     : std::max(test.p_t_down, test.p_flip_down);
  if (test.sums.size() < static_cast<std::size_t>(kMinGateBatches)) {
    result.reasons.emplace_back("too_few_batches");
  } else {
    result.verdict = decide(test, options.direction, alpha);
    if (result.verdict != decide(without_heaviest, options.direction, alpha))
      result.reasons.emplace_back("one_batch_decides");
  }
  if (tests_disagree(test, alpha))
    result.reasons.emplace_back("tests_disagree");
  result.test = std::move(test);
  return result;
}

}  // namespace detail

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "PASS";
    case Verdict::fail:
      return "FAIL";
    case Verdict::inconclusive:
      return "INCONCLUSIVE";
    case Verdict::incomplete:
      return "INCOMPLETE";
  }
  check_failed("verdict", __FILE__, __LINE__, "an unknown verdict");
}

GateResult judge_gate(const Pairs& pairs, const GateOptions& options) {
  ASSAY_CHECK(options.cap > 0, "a cap is a positive ratio");
  if (pairs.size() == 0) {
    GateResult nothing;
    nothing.verdict = Verdict::incomplete;
    nothing.reasons.emplace_back("no_complete_pairs");
    return nothing;
  }
  const double log_cap = log(options.cap);
  return detail::conclude(test_at(pairs, log_cap), test_without_heaviest_batch(pairs, log_cap),
                          options);
}

}  // namespace assay::stats
