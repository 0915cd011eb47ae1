#include "calibrate_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace assay::cli {
namespace {

std::string share(const Json& rate) {
  return fmt::format("{:5.1f} % of {} campaigns (95 % sure: at most {:.1f} %)",
                     rate.at("rate").get<double>() * 100, rate.at("campaigns").get<int>(),
                     rate.at("upper95").get<double>() * 100);
}

std::string meaning(const std::string& state) {
  if (state == "DIRECT")
    return "counted on this host: the false-alarm rate is at most 8 %";
  if (state.rfind("BY DESIGN", 0) == 0)
    return "re-labelling the measured pairs shows the design's rate here; the direct count is "
           "still too "
           "small to certify it";
  if (state == "FAILED")
    return "gates on this time are withheld on this host until a newer calibration is clean; "
           "repeat "
           "it with a larger --budget: by chance alone about one in thirty ends so";
  return "not enough batches yet";
}

std::string reason_text(const std::string& reason) {
  if (reason == "pool_too_small")
    return "fewer than 20 batches";
  if (reason == "label_effect")
    return "two copies of one file differ: something depends on the label";
  if (reason == "ratio_drift")
    return "the ratio drifts from batch to batch (lag-1 permutation p <= 0.01)";
  if (reason == "tail")
    return "slow runs fall on one copy more than on the other (p <= 0.01)";
  return "the counted alarm rate is above 8 %";
}

std::string metric_text(const std::string& name, const Json& c, double seconds_per_batch) {
  const std::string state = c.at("state").get<std::string>();
  std::string out = fmt::format("{} time: {} - {}\n", name, state, meaning(state));
  for (const auto& reason : c.at("reasons"))
    out += fmt::format("  reason {}: {}\n", reason.get<std::string>(),
                       reason_text(reason.get<std::string>()));
  if (c.contains("direct")) {
    out +=
        fmt::format("  counted alarms       {}; {} slower, {} faster\n", share(c.at("direct")),
                    c.at("direct").at("slower").get<int>(), c.at("direct").at("faster").get<int>());
    out += fmt::format("  re-labelled, pairs   {}\n", share(c.at("relabelled_pairs")));
    out += fmt::format("  re-labelled, batches {}\n", share(c.at("relabelled_batches")));
    const auto percent = [&c](const char* key) {
      return c.at(key).is_number() ? fmt::format("{:.2f} %", c.at(key).get<double>()) : "n/a";
    };
    out += fmt::format(
        "  spread: pairs {}, batches {}; a change of {} is found in 80 % of campaigns of 10 "
        "batches x 6 pairs\n",
        percent("pair_sd_percent"), percent("batch_sd_percent"), percent("detectable_percent"));
  }
  if (const int needed = c.at("batches_still_needed").get<int>(); needed > 0)
    out += fmt::format("  for the next state: {} more batches, about {:.0f} s\n", needed,
                       needed * seconds_per_batch);
  return out;
}

std::string blocks_text(const Json& report) {
  std::string out = "blocks order (30 runs of A, then 30 of B, the same file; nominal 5 %):\n";
  for (const auto& [name, b] : report.at("blocks").items()) {
    const double n = std::max(1, b.at("campaigns").get<int>());
    out += fmt::format(
        "  {} time: Welch {:.1f} %, Mann-Whitney {:.1f} % of {} campaigns declare a "
        "difference\n",
        name, 100 * b.at("welch").get<int>() / n, 100 * b.at("mann_whitney").get<int>() / n,
        b.at("campaigns").get<int>());
  }
  return out;
}

// A rate that was counted on a disturbed host is one of that disturbance.
std::string disturbance_text(const Json& report) {
  std::string out;
  for (const Json& limit : report.at("limits")) {
    if (limit == "load_high")
      out += "load_high: the load before it was above the bound of `assay doctor`";
    else if (limit == "steal_high")
      out += "steal_high: the hypervisor took more CPU time than the bound of `assay doctor`";
    else
      continue;
    out += "; repeat it when the host is quiet\n";
  }
  return out;
}

}  // namespace

std::string calibration_text(const Json& report, double seconds_per_batch) {
  std::string out = disturbance_text(report);
  if (report.at("status") == "interrupted")
    out += "interrupted: the batches measured so far are kept and analysed\n";
  if (report.at("plan_order") == "blocks")
    return out + blocks_text(report);
  for (const auto& [name, c] : report.at("calibration").items())
    out += metric_text(name, c, seconds_per_batch);
  if (report.contains("power")) {
    for (const auto& [name, p] : report.at("power").items()) {
      out += fmt::format(
          "injected +{:g} % work, {} time: found in {} of {} campaigns, called faster in {}\n",
          p.at("inject_percent").get<double>(), name, p.at("found").get<int>(),
          p.at("campaigns").get<int>(), p.at("wrong_direction").get<int>());
    }
  }
  return out;
}

std::string over_budget_text(double budget_seconds, double taken_seconds) {
  constexpr double kMuch = 1.5;
  if (taken_seconds <= kMuch * budget_seconds)
    return "";
  return fmt::format(
      "assay: note: this took {:.0f} s, more than the --budget of {:g} s: the fewest batches that "
      "say anything need that long here\n",
      taken_seconds, budget_seconds);
}

}  // namespace assay::cli
