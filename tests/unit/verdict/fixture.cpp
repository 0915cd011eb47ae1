#include "fixture.h"

#include "assay/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay::verdict {
namespace {

CommandRecord command(const std::string& name) {
  return {
      .name = name, .argv = {"./" + name, "--input", "f"}, .program_sha256 = std::string(64, 'a')};
}

std::int64_t rounded(double value) {
  return static_cast<std::int64_t>(std::llround(value));
}

void fill_figures(Sample& s, double elapsed) {
  s.status = "ok";
  s.exit_code = 0;
  s.elapsed_ns = rounded(elapsed);
  s.user_ns = rounded(elapsed * 0.9);
  s.system_ns = rounded(elapsed * 0.05);
  s.peak_rss_bytes = rounded(elapsed / 100);
  s.minor_faults = 100;
  s.major_faults = 0;
  s.voluntary_switches = 3;
  s.involuntary_switches = 1;
  s.stdout_sha256 = std::string(64, 'b');
  s.stderr_sha256 = std::string(64, 'c');
  s.stdout_bytes = 12;
  s.stderr_bytes = 0;
  s.load1 = 0.5;
  s.steal_share = 0;
}

}  // namespace

CompareInputs make_inputs(const Knobs& knobs) {
  CompareInputs in;
  in.header = {{"archive_id", "00000000-0000-4000-8000-000000000000"},
               {"created_utc", "2026-01-02T03:04:05.000000000Z"},
               {"tool_version", "0.1.0"}};
  in.policy.gates = knobs.gates;
  in.policy.bootstrap_draws = knobs.draws;
  in.policy.adaptive = !knobs.looks.empty();
  for (const std::string& name : knobs.cases)
    in.policy.cases.push_back(
        {.name = name, .reference = command("old"), .candidate = command("new")});
  in.plan = make_plan({.seed = knobs.seed,
                       .batches = knobs.batches,
                       .pairs = knobs.pairs,
                       .warmups = knobs.warmups,
                       .blocks_order = knobs.blocks_order,
                       .looks = knobs.looks,
                       .cases = knobs.cases});
  in.ending.batches_done = knobs.batches;
  Xoshiro256 random(static_cast<std::uint64_t>(knobs.seed) + 1);
  std::int64_t clock = 1'000'000'000;
  for (const PlannedRun& run : in.plan.runs) {
    Sample s;
    s.seq = run.seq;
    s.batch = run.batch;
    s.pair = run.pair;
    s.case_name = knobs.cases[static_cast<std::size_t>(run.case_index)];
    s.side = run.side;
    s.position = run.position;
    s.phase = run.phase;
    const double noise = 1 + knobs.noise * (2 * random.uniform() - 1);
    fill_figures(s, knobs.base_ns * noise * (run.side == Side::candidate ? knobs.ratio : 1));
    clock += 2'000'000;
    s.start_monotonic_ns = clock;
    clock += *s.elapsed_ns;
    in.samples.push_back(std::move(s));
  }
  return in;
}

void edit(CompareInputs& inputs, const std::function<bool(const Sample&)>& which,
          const std::function<void(Sample&)>& change) {
  int changed = 0;
  for (Sample& s : inputs.samples) {
    if (!which(s))
      continue;
    change(s);
    ++changed;
  }
  EXPECT_GT(changed, 0) << "the edit met no sample";
}

bool is_candidate(const Sample& sample) {
  return sample.side == Side::candidate;
}
bool measured(const Sample& sample) {
  return sample.phase == Phase::measurement;
}

Json derive(const CompareInputs& inputs) {
  auto report = derive_compare_report(inputs);
  EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().message());
  return report ? *report : Json::object();
}

std::string status_of(const Json& report, const std::string& kind) {
  return report.at("verdicts").at(kind).at("status").get<std::string>();
}

bool has(const Json& list, const std::string& code) {
  return std::find(list.begin(), list.end(), Json(code)) != list.end();
}

}  // namespace assay::verdict
