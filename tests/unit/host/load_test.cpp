#include "fixture.h"

namespace assay::host {
namespace {

class Load : public HostTree {
 protected:
  void SetUp() override { put_good_host(); }
};

TEST_F(Load, has_no_steal_share_before_the_second_reading) {
  LoadMeter meter(roots());
  const auto first = meter.read();
  EXPECT_EQ(first.load1, 0.25);
  EXPECT_FALSE(first.steal_share.has_value());
}

TEST_F(Load, divides_stolen_by_passed_ticks_since_the_previous_reading) {
  LoadMeter meter(roots());
  meter.read();
  put("proc/stat", "cpu  150 0 50 835 20 0 25 20 7 7\ncpu0 0\n");  // 100 ticks, 15 of them stolen
  EXPECT_EQ(meter.read().steal_share, 0.15);
  put("proc/stat", "cpu  250 0 50 835 20 0 25 20 7 7\ncpu0 0\n");
  EXPECT_EQ(meter.read().steal_share, 0.0);
  put("proc/stat", "cpu  250 0 50 835 20 0 25 60 7 7\ncpu0 0\n");
  EXPECT_EQ(meter.read().steal_share, 1.0);
}

TEST_F(Load, has_no_share_when_no_tick_passed_or_a_counter_stepped_back) {
  LoadMeter meter(roots());
  meter.read();
  EXPECT_FALSE(meter.read().steal_share.has_value());
  put("proc/stat", "cpu  100 0 50 700 20 0 25 5 0 0\n");
  EXPECT_FALSE(meter.read().steal_share.has_value());
  put("proc/stat", "cpu  900 0 50 800 20 0 25 4 0 0\n");
  EXPECT_FALSE(meter.read().steal_share.has_value());
}

TEST_F(Load, forgets_the_previous_reading_when_the_file_goes_bad) {
  LoadMeter meter(roots());
  meter.read();
  for (const char* bad :
       {"", "cpu\n", "cpu  1 2 3\n", "cpu  1 2 3 4 5 6 7 x\n", "cpu  1 2 3 4 5 6 7 8x\n",
        "cpu  1 2 3 4 5 6 7 8", "cpu0 1 2 3 4 5 6 7 8\n",
        "cpu  18446744073709551615 1 0 0 0 0 0 0\n", "cpu  -1 2 3 4 5 6 7 8\n"}) {
    put("proc/stat", bad);
    EXPECT_FALSE(meter.read().steal_share.has_value()) << bad;
    put("proc/stat", "cpu  500 0 50 835 20 0 25 20 0 0\n");
    EXPECT_FALSE(meter.read().steal_share.has_value()) << bad;
  }
}

TEST_F(Load, is_absent_when_the_file_is_missing_or_garbage) {
  for (const char* bad : {"", "high", "-1.0 0 0 1/2 3\n", "nan 0 0 1/2 3\n", "inf 0 0 1/2 3\n"}) {
    put("proc/loadavg", bad);
    EXPECT_FALSE(LoadMeter(roots()).read().load1.has_value()) << bad;
  }
  drop("proc/loadavg");
  EXPECT_FALSE(LoadMeter(roots()).read().load1.has_value());
}

TEST(LoadHere, reads_this_machine) {
  EXPECT_TRUE(LoadMeter().read().load1.has_value());
}

}  // namespace
}  // namespace assay::host
