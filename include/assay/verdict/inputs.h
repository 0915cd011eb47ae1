// Numbers for `assay analyze`: pairs CSV, three JSON exports, and assay's own runs. Formats and
// errors: docs/reference/analyze.md. Every function is pure; `where` names the source in errors.
#pragma once

#include "assay/base/result.h"
#include "assay/verdict/report.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::verdict {

struct InputOptions {
  std::string format;  // "" = from the content; csv, hyperfine, google-benchmark, pyperf
  // CSV column or benchmark name, or "#2" for the second benchmark of its file; "" = the default.
  std::string reference;
  std::string candidate;
  std::string batch;  // CSV column; "" = "batch" where there is one
  std::string pair;   // CSV column; "" = "pair" where there is one
};
std::vector<std::string> input_formats();

// Times outside can't be times, and their quotients and sums would leave the range of a double.
constexpr bool in_time_range(double time) {
  return time >= 1e-100 && time <= 1e100;
}
inline constexpr const char* kTimeRange = "expected a time between 1e-100 and 1e100";

struct InputText {
  std::string where;
  std::string_view text;
};

struct AnalyzeInput {
  std::vector<AnalyzeData> cases;
  std::vector<std::string> unmatched;  // names that only one of two files holds
};

// One file, or two JSON files of one format: the first is the reference's, cases are matched by
// name.
Result<AnalyzeInput> parse_analyze_input(const std::vector<InputText>& files,
                                         const InputOptions& options);

// A header row, then one row per pair. Refuses, with line and column name: a missing column, a
// short or long row, an empty, non-numeric, non-positive or infinite time, a repeated (batch,
// pair).
Result<AnalyzeData> parse_pairs_csv(const InputText& file, const InputOptions& options);

// One run of a campaign of our own.
struct CampaignRun {
  std::string case_name;
  std::int64_t batch = 0, pair = 0;
  Side side = Side::reference;
  std::int64_t position = 0;  // 0 = ran first in its pair
  bool usable = true;
  double elapsed_ns = 0;  // > 0 where usable
  std::string where;      // for errors
};
// The pairs of each case, in order of batch and pair; a pair with an unusable run is counted and
// left out. invalid_format for a side that occurs twice in a pair. `runs` holds no warm-ups.
Result<std::vector<AnalyzeData>> pairs_of_runs(const std::vector<CampaignRun>& runs,
                                               const std::string& source);
// Whether the header row is that of `compare --export-csv`.
bool is_samples_csv(const InputText& file);
// The measured runs of such a file. Usable is a run with status ok.
Result<std::vector<CampaignRun>> parse_samples_csv(const InputText& file);
// A line of an archive's samples.jsonl; nullopt for a warm-up. Usable as its policy has it.
Result<std::optional<CampaignRun>> run_of_sample(std::string_view line, const std::string& where,
                                                 const ComparePolicy& policy);

// All repetitions of one benchmark, in file order; every value > 0 and in one unit per format.
struct NamedSeries {
  std::string name;
  std::string unit;
  std::vector<double> values;
};
// hyperfine: results[].times. Google Benchmark: the real_time of iteration entries (aggregates and
// entries with an error are left out), in ns. pyperf: benchmarks[].runs[].values.
Result<std::vector<NamedSeries>> parse_hyperfine(const InputText& file);
Result<std::vector<NamedSeries>> parse_google_benchmark(const InputText& file);
Result<std::vector<NamedSeries>> parse_pyperf(const InputText& file);

}  // namespace assay::verdict
