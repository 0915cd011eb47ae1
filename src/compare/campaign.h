// The state of a campaign that runs.
#pragma once

#include "watched_files.h"

#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/compare/campaign.h"
#include "assay/host/host.h"
#include "assay/process/launcher.h"
#include "assay/verdict/report.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::compare {

class Campaign {
 public:
  // All references must outlive the object.
  Campaign(const std::vector<PreparedCase>& cases, const RunSettings& settings,
           process::Launcher& launcher, CampaignEvidence& evidence);

  Result<CampaignEnd> run(const std::function<void(const Progress&)>& progress);

 private:
  // The adjacent runs of one pair: [first, last) in plan order.
  struct Unit {
    std::size_t first = 0, last = 0;
  };
  // One finished run of the current pair.
  struct Finished {
    const verdict::PlannedRun* planned = nullptr;
    process::RunResult result;
    verdict::Sample sample;
  };

  Unit unit_at(std::size_t first) const;
  bool running() const { return end_.ending.type == "finished" && end_.ending.reason.empty(); }

  Result<void> run_plan(const std::function<void(const Progress&)>& progress);
  Result<void> enter_group(const verdict::PlannedRun& next);
  void leave_group();
  Result<void> leave_batch(std::int64_t batch);
  Result<void> run_unit(const Unit& unit);
  Result<void> record(std::vector<Finished>& finished);
  Result<void> judge(const std::vector<Finished>& finished);

  verdict::Sample sample_of(const Finished& run);
  void name_lost_run(Finished& run);
  void name_failure(const Finished& run, std::string_view why);
  void note_built_programs();

  // False when the campaign must stop; the ending says why.
  bool run_hook(const Argv& argv, const char* flag, const PreparedCase& one, verdict::Side side);
  std::optional<process::RunResult> run_one(const verdict::PlannedRun& planned);
  bool stopped_by(const Error& error);
  bool stop_requested();
  void watch_files();
  void check_files();
  void equalise_gap();
  process::RunRequest request_for(const Argv& argv, const PreparedCase& one) const;
  const host::LoadMeter::Reading& load();

  const PreparedCase& case_of(const verdict::PlannedRun& planned) const {
    return cases_[static_cast<std::size_t>(planned.case_index)];
  }

  const std::vector<PreparedCase>& cases_;
  const RunSettings& settings_;
  process::Launcher& launcher_;
  CampaignEvidence& evidence_;
  const verdict::Plan& plan_;
  std::vector<verdict::Expectation> expectations_;  // by case
  CampaignEnd end_;
  WatchedFiles watched_;

  const verdict::PlannedRun* group_ = nullptr;  // a run of the batch and case that are set up
  std::int64_t batch_ = -1;
  std::string padding_;
  bool built_noted_ = false;
  bool failure_named_ = false;  // of a run
  std::int64_t iteration_ = 0;
  host::LoadMeter meter_;
  host::LoadMeter::Reading reading_;
  std::optional<Nanoseconds> last_reading_;
  std::optional<Nanoseconds> last_run_end_;
  Nanoseconds widest_gap_{};
};

}  // namespace assay::compare
