#include "assay/base/ids.h"

#include "assay/base/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

using ::testing::MatchesRegex;

TEST(Ids, uuids_are_version_4_lower_case_and_distinct) {
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) {
    const std::string id = uuid_v4();
    ASSERT_THAT(id, MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                                 "[0-9a-f]{12}"));
    seen.insert(id);
  }
  EXPECT_EQ(seen.size(), 200U);
}

TEST(Ids, seeds_stay_below_two_to_the_53_and_differ) {
  std::set<std::int64_t> seen;
  for (int i = 0; i < 200; ++i) {
    const std::int64_t seed = random_seed();
    ASSERT_GE(seed, 0);
    ASSERT_LT(seed, INT64_C(1) << 53);
    seen.insert(seed);
  }
  EXPECT_EQ(seen.size(), 200U);
}

TEST(Ids, utc_has_nanoseconds_and_a_basic_form) {
  EXPECT_THAT(utc_now(), MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\."
                                      "[0-9]{9}Z"));
  EXPECT_EQ(utc_basic("2026-09-06T01:02:03.000000004Z"), "20260906T010203Z");
}

TEST(Ids, monotonic_time_does_not_go_back) {
  const Nanoseconds first = monotonic_now();
  EXPECT_GE(monotonic_now(), first);
}

TEST(Ids, the_boot_id_is_a_uuid_without_a_newline) {
  EXPECT_THAT(boot_id(), MatchesRegex("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));
}

TEST(Error, shows_the_place_before_the_reason) {
  EXPECT_EQ((Error{ErrorCode::io, "cannot read", "a.json"}.message()), "a.json: cannot read");
  EXPECT_EQ((Error{ErrorCode::io, "cannot read"}.message()), "cannot read");
  EXPECT_EQ(system_error(ErrorCode::io, "cannot read", ENOENT, "x").what,
            "cannot read: No such file or directory");
}

TEST(Error, every_code_has_its_own_name) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::interrupted); ++code)
    names.insert(error_code_name(static_cast<ErrorCode>(code)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(ErrorCode::interrupted) + 1);
  EXPECT_EQ(names.count("unknown"), 0U);
  EXPECT_EQ(error_code_name(ErrorCode::not_persisted), "not_persisted");
}

TEST(ErrorDeathTest, a_broken_invariant_aborts_with_its_place) {
  EXPECT_DEATH(ASSAY_CHECK(1 == 2, "one is not two"), "ids_test.cpp:[0-9]+: one is not two");
}

Result<int> half(int n) {
  if (n % 2 != 0)
    return fail(ErrorCode::invalid_argument, "odd");
  return n / 2;
}

Result<void> halve_twice(int n, int* out) {
  ASSAY_TRY(const int once, half(n));
  ASSAY_TRY(*out, half(once));
  return {};
}

TEST(Result, try_hands_on_the_first_error) {
  int out = 0;
  EXPECT_TRUE(halve_twice(12, &out));
  EXPECT_EQ(out, 3);
  EXPECT_EQ(halve_twice(6, &out).error().what, "odd");
}

}  // namespace
}  // namespace assay
