#include "rounds.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "process/tree.h"
#include "unit/process/support.h"

namespace assay::process::testing {

int rounds() {
  const char* wanted = std::getenv("ASSAY_LONG");
  return wanted != nullptr && std::string(wanted) == "1" ? 50 : 5;
}

void clean_up() {
  EXPECT_EQ(end_descendants(Roots::all_children, kHangGuardMs).left, 0);
}

void wait_for_payload(const std::string& token) {
  for (int waited = 0; waited < kHangGuardMs && processes_with(token).size() < 5; ++waited)
    usleep(1000);
  EXPECT_FALSE(processes_with(token).empty()) << "the payload never started";
}

void kill_in_turn(const std::vector<pid_t>& victims) {
  static std::mt19937 generator(20240501);
  usleep(static_cast<useconds_t>(generator() % 3000));  // anywhere in the life of a generation
  for (const pid_t pid : victims) {
    kill_one(pid, SIGKILL);
    usleep(static_cast<useconds_t>(generator() % 1000));
  }
}

Tally play(const std::function<std::size_t(Tally* tally)>& kill_once) {
  Tally tally;
  for (tally.rounds = 0; tally.rounds < rounds(); ++tally.rounds) {
    const std::size_t left = kill_once(&tally);
    tally.survivors += static_cast<int>(left);
    tally.rounds_with_survivors += left > 0 ? 1 : 0;
  }
  return tally;
}

void print(const char* name, const Tally& tally) {
  std::printf("figure: %-36s %-14s rounds %d, with survivors %d, survivors %d\n", name,
              tally.cgroup ? "cgroup v2" : "without cgroup", tally.rounds,
              tally.rounds_with_survivors, tally.survivors);
}

}  // namespace assay::process::testing
