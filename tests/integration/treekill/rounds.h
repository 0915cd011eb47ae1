// Rounds of "start the worst tenant, kill somebody, count who is left", for whoever started it.
#pragma once

#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace assay::process::testing {

constexpr int kHangGuardMs = 20000;

// 5, or 50 with ASSAY_LONG=1.
int rounds();

// Leaves a clean machine whatever the verdict: as a subreaper this process inherits what all the
// others have let escape.
void clean_up();

void wait_for_payload(const std::string& token);

// Kills them in that order; up to a millisecond passes in between, so that whoever is left is
// acting already.
void kill_in_turn(const std::vector<pid_t>& victims);

struct Tally {
  int rounds = 0;
  int rounds_with_survivors = 0;
  int survivors = 0;
  bool cgroup = false;
};

// Plays the rounds; `kill_once` returns how many processes of the payload outlive its kill.
Tally play(const std::function<std::size_t(Tally* tally)>& kill_once);
void print(const char* name, const Tally& tally);

}  // namespace assay::process::testing
