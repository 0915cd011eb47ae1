// Alone in its program, so that the peak is that of the rules.
#include "assay/base/random.h"
#include "assay/stats/gate.h"
#include "assay/stats/math.h"
#include "assay/stats/signed_rank.h"

#include <gtest/gtest.h>

#include <sys/resource.h>

namespace assay::stats {
namespace {

TEST(Memory, five_thousand_pairs_in_fifty_batches_stay_under_40_mib) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer multiplies the memory";
#endif
  Xoshiro256 random(61);
  for (const double shift : {0.0, 0.0005, 0.05}) {
    Pairs pairs;
    pairs.batches = 50;
    for (int i = 0; i < 5000; ++i) {
      pairs.x.push_back(shift + 0.02 * (random.uniform() - 0.5));
      pairs.batch.push_back(i / 100);
    }
    const GateResult gate = judge_gate(pairs, {.cap = 1.0});
    EXPECT_EQ(gate.verdict, shift > 0.01 ? Verdict::fail : gate.verdict);
    const SignedRankInterval interval = signed_rank_interval(pairs, 0.95);
    EXPECT_NEAR(interval.estimate, shift, 0.001);
  }
  // Sums as large as 5,000 pairs can make them, in the middle of their distribution: the worst
  // case.
  std::vector<std::int64_t> sums;
  for (int b = 0; b < 50; ++b)
    sums.push_back((b % 2 == 0 ? 1 : -1) * (499999 - 7 * b));
  const FlipResult flip = sign_flip(sums);
  EXPECT_NEAR(flip.p_up(), 0.5, 0.2);
  rusage usage{};
  ASSERT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  EXPECT_LT(usage.ru_maxrss, 40 * 1024) << "KiB";
}

}  // namespace
}  // namespace assay::stats
