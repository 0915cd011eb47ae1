#include "fixture.h"

#include <gmock/gmock.h>

namespace assay::host {
namespace {

class Fingerprint : public HostTree {
 protected:
  Json take(const std::string& salt = "salt") {
    return fingerprint(collect(roots()), salt, roots());
  }
};

TEST_F(Fingerprint, holds_the_settings_and_nothing_that_moves_by_itself) {
  put_good_host();
  const Json taken = take();
  EXPECT_EQ(taken.at("kernel_release"), "6.1.0-example");
  EXPECT_EQ(taken.at("governor"), "performance");
  EXPECT_EQ(taken.at("turbo"), false);
  for (const char* key : {"load1", "boot_id", "usable_cpus", "frequency_current_hz", "steal_ticks",
                          "memory_available_bytes"})
    EXPECT_FALSE(taken.contains(key)) << key;
}

TEST_F(Fingerprint, is_equal_while_only_the_load_changes_and_differs_with_a_setting) {
  put_good_host();
  const Json before = take();
  put("proc/loadavg", "9.00 8.00 7.00 5/500 12345\n");
  EXPECT_EQ(take(), before);
  put("sys/devices/system/cpu/smt/active", "1\n");
  EXPECT_NE(take(), before);
}

TEST_F(Fingerprint, names_the_machine_by_a_salted_digest_only) {
  put_good_host();
  put("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
  const Json a = take("a");
  EXPECT_EQ(a.at("machine").get<std::string>().size(), 64U);
  EXPECT_THAT(a.dump(), testing::Not(testing::HasSubstr("0123456789abcdef0123456789abcdef")));
  EXPECT_EQ(take("a"), a);
  EXPECT_NE(take("b").at("machine"), a.at("machine"));
  put("etc/machine-id", "1123456789abcdef0123456789abcdef\n");
  EXPECT_NE(take("a").at("machine"), a.at("machine"));
}

TEST_F(Fingerprint, without_a_machine_id_or_any_fact_holds_nulls) {
  EXPECT_EQ(fingerprint(Json::object(), "a", roots()).at("machine"), nullptr);
  EXPECT_EQ(fingerprint(Json::object(), "a", roots()).at("kernel_release"), nullptr);
  put("etc/machine-id", "uninitialized\n");
  EXPECT_EQ(fingerprint(Json::object(), "a", roots()).at("machine"), nullptr);
}

}  // namespace
}  // namespace assay::host
