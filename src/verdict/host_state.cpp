#include "host_state.h"

namespace assay::verdict {
namespace {

std::optional<double> load_before(const Json& host) {
  if (!host.is_object() || !host.contains("load1") || !host.at("load1").is_object())
    return std::nullopt;
  const Json value = host.at("load1").value("value", Json(nullptr));
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

// Over the runs, which lie evenly over a campaign: a single reading spans few ticks.
std::optional<double> mean_steal(const std::vector<Sample>& samples) {
  double sum = 0, count = 0;
  for (const Sample& sample : samples)
    if (sample.steal_share) {
      sum += *sample.steal_share;
      ++count;
    }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

}  // namespace

std::set<std::string> host_disturbances(const std::optional<HostBounds>& bounds, const Json& host,
                                        const std::vector<Sample>& samples) {
  std::set<std::string> codes;
  if (!bounds)
    return codes;
  if (const auto load = load_before(host); load && *load > bounds->load1)
    codes.insert("load_high");
  if (const auto steal = mean_steal(samples); steal && *steal > bounds->steal_share)
    codes.insert("steal_high");
  return codes;
}

}  // namespace assay::verdict
