// Campaigns by the dozen: false alarms, power against drift, and the cost of 10,000 runs. Counts
// are small unless ASSAY_LONG is set; what is asserted allows for them.
#include "harness.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace assay::testing_compare {
namespace {

bool is_long() {
  return std::getenv("ASSAY_LONG") != nullptr;
}

// One thread that computes for half of each ever longer period: load that ramps up and down.
class RampingLoad {
 public:
  RampingLoad() : thread_([this] { run(); }) {}
  ~RampingLoad() {
    stop_ = true;
    thread_.join();
  }

 private:
  void run() {
    using namespace std::chrono_literals;
    for (int step = 0; !stop_; ++step) {
      const auto busy = std::chrono::milliseconds(5 * (step % 40));
      const auto until = std::chrono::steady_clock::now() + busy;
      while (!stop_ && std::chrono::steady_clock::now() < until) {
      }
      std::this_thread::sleep_for(200ms - busy);
    }
  }
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// PATH is another one while this lives.
class OtherPath {
 public:
  explicit OtherPath(const char* value) : old_(std::getenv("PATH")) { setenv("PATH", value, 1); }
  ~OtherPath() { setenv("PATH", old_.c_str(), 1); }
  OtherPath(const OtherPath&) = delete;
  OtherPath& operator=(const OtherPath&) = delete;

 private:
  std::string old_;
};

class LongCompare : public CompareTest {
 protected:
  struct Alarms {
    int slower = 0, faster = 0, campaigns = 0;
  };
  // A/A campaigns of about 5 ms of work per run.
  Alarms alarms(int campaigns, const char* kind) {
    Alarms found;
    for (int i = 0; i < campaigns; ++i) {
      const std::string work = payload("spin 4000000");
      const Finished done = assay({"compare", "--no-archive", "--json", "--style", "none",
                                   "--batches", "10", "--pairs", "2", work, work});
      EXPECT_EQ(done.exit_code, 0) << done.err;
      const auto made = parse_json(done.out.substr(0, done.out.size() - 1), "stdout");
      if (!made)
        break;
      const Json finding = made->at("verdicts").at(kind).at("finding");
      found.slower += finding == "slower" ? 1 : 0;
      found.faster += finding == "faster" ? 1 : 0;
      ++found.campaigns;
    }
    std::printf("figure: %s: %d campaigns of a program against itself: %d slower, %d faster\n",
                kind, found.campaigns, found.slower, found.faster);
    return found;
  }
};

// P(more than `allowed` alarms) at a true rate of 5 %: 0.1 % at 20 campaigns and 5, 0.4 % at 100
// and 12.
int allowed(int campaigns) {
  return campaigns >= 100 ? 12 : 5;
}

TEST_F(LongCompare, issue_01_a_program_against_itself_under_ramping_load_shows_no_difference) {
  const RampingLoad load;
  const int campaigns = is_long() ? 100 : 20;
  const Alarms found = alarms(campaigns, "wall");
  EXPECT_LE(found.slower + found.faster, allowed(campaigns));
}

TEST_F(LongCompare, issue_24_alarms_of_a_program_against_itself_are_rare_and_symmetric) {
  const int campaigns = is_long() ? 100 : 20;
  const Alarms found = alarms(campaigns, "wall");
  EXPECT_LE(found.slower + found.faster, allowed(campaigns));
  // Twelve fair coins differ by more than 8 in 0.6 %, five by more than 4 in 6 %.
  EXPECT_LE(std::abs(found.slower - found.faster), campaigns >= 100 ? 8 : 4);
}

TEST_F(LongCompare, ten_thousand_short_runs_need_little_memory_and_disk) {
  const int pairs = is_long() ? 500 : 100;
  // Without a PATH: the kernel counts the peak of every reaped child as ours, and compilers that
  // are asked for their versions are larger than assay.
  const OtherPath no_path("/nonexistent");
  const Finished done = compare({"--batches", "10", "--pairs", std::to_string(pairs), "-w", "0",
                                 payload("exit 0"), payload("exit 0")});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path("archive")))
    bytes += entry.is_regular_file() ? entry.file_size() : 0;
  const double runs = 20.0 * pairs;
  // What a campaign of one run would hold as well.
  const double fixed = 48.0 * 1024;
  std::printf("figure: %.0f runs: peak RSS %.1f MiB, %.0f bytes per run\n", runs,
              static_cast<double>(done.peak_rss_kib) / 1024,
              (static_cast<double>(bytes) - fixed) / runs);
  EXPECT_LT(done.peak_rss_kib, 40 * 1024);
  EXPECT_LT((static_cast<double>(bytes) - fixed) / runs, 1024);
}

}  // namespace
}  // namespace assay::testing_compare
