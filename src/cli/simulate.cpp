// assay calibrate --simulate: the rules on the noise grid, as text, JSON or
// docs/reference/error-rates.md.
#include "assay/stats/simulate.h"

#include "calibrate_text.h"

#include "assay/process/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

namespace assay::cli {
namespace {

using stats::SimulatedLayout;

// At these layouts the coverage grid is run; 3 x 20 is the paired evaluator's original one.
constexpr SimulatedLayout kLayouts[] = {{10, 6}, {20, 6}, {8, 6}, {3, 20}};

struct Grid {
  stats::SimulationOptions options;
  std::vector<std::pair<SimulatedLayout, std::vector<stats::CoverageCell>>> coverage;
  std::vector<stats::CoverageCell> drift;
  std::vector<stats::SuiteCell> suite;
  std::vector<stats::AdaptiveCell> adaptive;
  std::vector<stats::TailCell> tail_alarms, tail_power;
  std::vector<stats::PredictionCell> prediction;
};

Grid run_grid(const stats::SimulationOptions& options, const Style& style) {
  Grid grid;
  grid.options = options;
  ProgressLine line(style);
  const auto begin = [&](int step, const char* what) {
    if (!style.silent)
      line.update({step, 9, 0, 0, what, 0, "steps"});
  };
  int step = 0;
  for (const SimulatedLayout& layout : kLayouts) {
    begin(step++, "coverage");
    stats::CoveragePlan plan;
    plan.layout = layout;
    grid.coverage.emplace_back(layout, stats::simulate_coverage(options, plan));
  }
  begin(step++, "drift of the ratio");
  grid.drift = stats::simulate_coverage(options, {.ratio_drift = true});
  begin(step++, "suites");
  grid.suite = stats::simulate_suite(options, {10, 6});
  begin(step++, "adaptive stopping");
  grid.adaptive = stats::simulate_adaptive(options);
  begin(step++, "tails");
  grid.tail_alarms = stats::simulate_tail_alarms(options, {{20, 6}});
  grid.tail_power = stats::simulate_tail_power(options, {{10, 6}, {20, 6}});
  begin(step, "predictions");
  grid.prediction = stats::simulate_prediction(options);
  line.finish();
  return grid;
}

std::string percent(double share) {
  return fmt::format("{:.1f}", share * 100);
}

std::string layout_text(const SimulatedLayout& layout) {
  return fmt::format("{} x {}", layout.batches, layout.pairs);
}

// A Markdown table; the terminal shows the same.
class Table {
 public:
  explicit Table(const std::vector<std::string>& header) {
    row(header);
    std::string rule = "|";
    for (std::size_t i = 0; i < header.size(); ++i)
      rule += "---|";
    text_ += rule + "\n";
  }
  void row(const std::vector<std::string>& cells) {
    text_ += fmt::format("| {} |\n", fmt::join(cells, " | "));
  }
  std::string text() const { return text_ + "\n"; }

 private:
  std::string text_;
};

struct Summary {
  double mean_coverage = 0, worst_coverage = 1, worst_one_sided = 0;
  double worst_both_agree = 1, worst_gate_error = 0, mean_power = 0;
  double bootstrap_mean = 0, bootstrap_worst = 1;
};

Summary summarise(const std::vector<stats::CoverageCell>& cells) {
  Summary s;
  const auto n = static_cast<double>(cells.size());
  for (const auto& cell : cells) {
    s.mean_coverage += cell.coverage / n;
    s.mean_power += cell.power / n;
    s.worst_coverage = std::min(s.worst_coverage, cell.coverage);
    s.worst_one_sided = std::max({s.worst_one_sided, cell.error_up, cell.error_down});
    s.worst_both_agree = std::min(s.worst_both_agree, cell.both_agree_coverage);
    s.worst_gate_error = std::max({s.worst_gate_error, cell.false_fail, cell.false_pass});
    s.bootstrap_mean += cell.bootstrap_coverage.value_or(0) / n;
    s.bootstrap_worst = std::min(s.bootstrap_worst, cell.bootstrap_coverage.value_or(0));
  }
  return s;
}

std::string coverage_summary(const Grid& grid) {
  Table table({"batches x pairs", "coverage: mean", "worst cell", "one-sided error, worst",
               "gate: coverage, worst", "gate: false verdict at the cap, worst",
               "method 1 (bootstrap): mean", "worst"});
  for (const auto& [layout, cells] : grid.coverage) {
    const Summary s = summarise(cells);
    table.row({layout_text(layout), percent(s.mean_coverage), percent(s.worst_coverage),
               percent(s.worst_one_sided), percent(s.worst_both_agree), percent(s.worst_gate_error),
               percent(s.bootstrap_mean), percent(s.bootstrap_worst)});
  }
  return table.text();
}

std::string coverage_cells(const std::vector<stats::CoverageCell>& cells) {
  Table table({"noise", "batch sd", "coverage", "error up / down", "gate coverage",
               "false FAIL / PASS", "power at +0.52 %", "method 1 coverage"});
  for (const auto& c : cells) {
    table.row({std::string(stats::noise_name(c.noise)), percent(c.batch_sd), percent(c.coverage),
               percent(c.error_up) + " / " + percent(c.error_down), percent(c.both_agree_coverage),
               percent(c.false_fail) + " / " + percent(c.false_pass), percent(c.power),
               c.bootstrap_coverage ? percent(*c.bootstrap_coverage) : "not run"});
  }
  return table.text();
}

std::string suite_table(const Grid& grid) {
  Table table({"batch sd", "batch effect", "some case FAILs, uncorrected", "after Holm",
               "mean FAILs", "tail FAILs", "anything FAILs", "suite PASS, all 3 % below"});
  for (const auto& c : grid.suite) {
    table.row({percent(c.batch_sd), c.shared_batches ? "shared" : "per case",
               percent(c.any_case_fail_raw), percent(c.any_case_fail), percent(c.mean_fail),
               percent(c.any_tail_fail), percent(c.any_fail), percent(c.suite_pass_below)});
  }
  return table.text();
}

std::string adaptive_table(const Grid& grid) {
  Table table(
      {"noise", "batch sd", "true change", "says slower", "says faster", "pairs used (mean)"});
  for (const auto& c : grid.adaptive) {
    table.row({std::string(stats::noise_name(c.noise)), percent(c.batch_sd), percent(c.effect),
               percent(c.fail), percent(c.pass),
               fmt::format("{:.0f} of {}", c.mean_pairs, c.max_pairs)});
  }
  return table.text();
}

std::string tail_tables(const Grid& grid) {
  double mean = 0;
  double worst = 0;
  for (const auto& c : grid.tail_alarms) {
    mean += c.fail / static_cast<double>(grid.tail_alarms.size());
    worst = std::max(worst, c.fail);
  }
  std::string out = fmt::format(
      "Equal tails on both sides, 20 x 6, {} cells: false FAIL {} % on average, {} % in the worst "
      "cell (nominal 5 %).\n\n",
      grid.tail_alarms.size(), percent(mean), percent(worst));
  Table table({"batches x pairs", "only the candidate has", "FAIL", "unqualified PASS"});
  for (const auto& c : grid.tail_power)
    table.row({layout_text(c.layout), std::string(stats::tail_shape_name(c.candidate)),
               percent(c.fail), percent(c.pass)});
  return out + table.text();
}

std::string prediction_table(const Grid& grid) {
  Table table({"noise", "batch sd", "INCONCLUSIVE runs", "decided at B80 (nominal 80)",
               "wrong direction", "at 40 batches: predicted / real"});
  for (const auto& c : grid.prediction) {
    table.row({std::string(stats::noise_name(c.noise)), percent(c.batch_sd),
               std::to_string(c.inconclusive), percent(c.decided), percent(c.wrong),
               percent(c.predicted_at_40) + " / " + percent(c.decided_at_40)});
  }
  return table.text();
}

std::string document(const Grid& grid) {
  std::string out =
      "# Error rates\n\nGenerated by `assay calibrate --simulate --markdown`; do not edit.\n\n";
  out += fmt::format(
      "Seed {}, {} replications per cell. All figures are percent of replications; the "
      "sampling error of a share near 5 % is {:.1f} points.\n\n",
      grid.options.seed, grid.options.replications,
      100 * std::sqrt(0.05 * 0.95 / grid.options.replications));
  out +=
      "The true ratio sits exactly at the cap in every cell, so each PASS and each FAIL is a false "
      "one. The grid crosses 6 kinds of noise (within-pair sd 1 %) with 5 between-batch sds.\n\n";
  out += "## Intervals and gates\n\n" + coverage_summary(grid);
  out += "A gate needs 8 batches: the 3 x 20 row shows why.\n\n";
  out += "### Every cell at 10 x 6\n\n" + coverage_cells(grid.coverage.front().second);
  out +=
      "## What no interval survives\n\nDrift of the ratio itself (AR(1), sd 1 %, rho 0.9), 10 x "
      "6:\n\n" +
      coverage_cells(grid.drift);
  out +=
      "The defence is the plan: random order inside pairs, batches apart in time, cases "
      "interleaved.\n\n";
  out += "## Suites of 11 cases, all at their caps\n\n" + suite_table(grid);
  out += "## Adaptive stopping (looks at 8, 12, 16 and 20 batches)\n\n" + adaptive_table(grid);
  out += "## Tail gate\n\n" + tail_tables(grid);
  out += "## Predictions after INCONCLUSIVE\n\n" + prediction_table(grid);
  return out;
}

Json coverage_json(const std::vector<stats::CoverageCell>& cells) {
  Json out = Json::array();
  for (const auto& c : cells) {
    out.push_back({{"noise", stats::noise_name(c.noise)},
                   {"batch_sd", c.batch_sd},
                   {"coverage", c.coverage},
                   {"error_up", c.error_up},
                   {"error_down", c.error_down},
                   {"both_agree_coverage", c.both_agree_coverage},
                   {"false_fail", c.false_fail},
                   {"false_pass", c.false_pass},
                   {"power", c.power},
                   {"bootstrap_coverage",
                    c.bootstrap_coverage ? Json(*c.bootstrap_coverage) : Json(nullptr)}});
  }
  return out;
}

Json grid_json(const Grid& grid) {
  Json out = {{"schema", {{"name", "assay.simulation"}, {"major", 1}, {"minor", 0}}},
              {"seed", grid.options.seed},
              {"replications", grid.options.replications}};
  for (const auto& [layout, cells] : grid.coverage)
    out["coverage"].push_back(
        {{"batches", layout.batches}, {"pairs", layout.pairs}, {"cells", coverage_json(cells)}});
  out["ratio_drift"] = coverage_json(grid.drift);
  for (const auto& c : grid.suite)
    out["suite"].push_back({{"batch_sd", c.batch_sd},
                            {"shared_batches", c.shared_batches},
                            {"any_case_fail_raw", c.any_case_fail_raw},
                            {"any_case_fail", c.any_case_fail},
                            {"mean_fail", c.mean_fail},
                            {"any_tail_fail", c.any_tail_fail},
                            {"any_fail", c.any_fail},
                            {"suite_pass_below", c.suite_pass_below}});
  for (const auto& c : grid.adaptive)
    out["adaptive"].push_back({{"noise", stats::noise_name(c.noise)},
                               {"batch_sd", c.batch_sd},
                               {"effect", c.effect},
                               {"fail", c.fail},
                               {"pass", c.pass},
                               {"mean_pairs", c.mean_pairs},
                               {"max_pairs", c.max_pairs}});
  const auto tails = [](const std::vector<stats::TailCell>& cells) {
    Json rows = Json::array();
    for (const auto& c : cells)
      rows.push_back({{"batches", c.layout.batches},
                      {"pairs", c.layout.pairs},
                      {"noise", stats::noise_name(c.noise)},
                      {"candidate", stats::tail_shape_name(c.candidate)},
                      {"reference", stats::tail_shape_name(c.reference)},
                      {"batch_sd", c.batch_sd},
                      {"fail", c.fail},
                      {"pass", c.pass}});
    return rows;
  };
  out["tail_alarms"] = tails(grid.tail_alarms);
  out["tail_power"] = tails(grid.tail_power);
  for (const auto& c : grid.prediction)
    out["prediction"].push_back({{"noise", stats::noise_name(c.noise)},
                                 {"batch_sd", c.batch_sd},
                                 {"inconclusive", c.inconclusive},
                                 {"beyond_limit", c.beyond_limit},
                                 {"decided", c.decided},
                                 {"wrong", c.wrong},
                                 {"predicted_at_40", c.predicted_at_40},
                                 {"decided_at_40", c.decided_at_40}});
  return out;
}

std::string terminal_text(const Grid& grid) {
  return fmt::format("simulated, seed {}, {} replications per cell; percent of replications\n\n",
                     grid.options.seed, grid.options.replications) +
         "Intervals and gates (truth at the cap)\n" + coverage_summary(grid) +
         "Suites of 11 cases\n" + suite_table(grid) + "Adaptive stopping\n" + adaptive_table(grid) +
         "Tail gate\n" + tail_tables(grid) + "Predictions\n" + prediction_table(grid);
}

}  // namespace

int simulate_main(const SimulateFlags& flags, const Style& style) {
  stats::SimulationOptions options;
  options.seed = static_cast<std::uint64_t>(flags.seed);
  options.replications = flags.replications.value_or(1000);
  // Counts do not depend on the number of threads, so all cores may be used.
  options.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  options.stop = [] { return process::stop_signal() != 0; };
  const Grid grid = run_grid(options, style);
  if (const int signal = process::stop_signal(); signal != 0) {
    write_stderr("assay: stopped: a part of the grid shows nothing, so none of it is printed\n");
    return interrupted_exit_code(signal);
  }
  const std::string text = flags.json       ? canonical_json(grid_json(grid)) + "\n"
                           : flags.markdown ? document(grid)
                                            : terminal_text(grid);
  if (const auto written = write_stdout(text); !written)
    return report_error(written.error());
  return kExitDone;
}

}  // namespace assay::cli
