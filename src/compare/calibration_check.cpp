#include "calibration_check.h"

#include "assay/stats/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace assay::compare {
namespace {

using State = stats::CalibrationState;

constexpr std::array kStates = {State::direct, State::by_design, State::by_design_provisional,
                                State::failed, State::incomplete};

Result<std::int64_t> count(ObjectReader& reader, const std::string& key) {
  return reader.integer(key, 0, INT64_MAX);
}

Result<double> share(ObjectReader& reader, const std::string& key) {
  ASSAY_TRY(const double value, reader.number(key));
  if (!(value >= 0 && value <= 1))
    return tl::unexpected(reader.error(key, "a number from 0 to 1"));
  return value;
}

Result<void> check_rate(ObjectReader rate) {
  ASSAY_TRY(const std::int64_t campaigns, count(rate, "campaigns"));
  ASSAY_TRY(const std::int64_t alarms, count(rate, "alarms"));
  ASSAY_TRY(const double rated, share(rate, "rate"));
  ASSAY_TRY(const double lower, share(rate, "lower95"));
  ASSAY_TRY(const double upper, share(rate, "upper95"));
  if (alarms > campaigns)
    return tl::unexpected(rate.error("alarms", "at most as many as campaigns"));
  const double counted =
      campaigns == 0 ? 0 : static_cast<double>(alarms) / static_cast<double>(campaigns);
  if (std::fabs(rated - counted) > 1e-9)
    return tl::unexpected(rate.error("rate", "alarms / campaigns"));
  if (!(lower <= rated && rated <= upper))
    return tl::unexpected(rate.error("upper95", "limits around the rate"));
  return {};
}

Result<void> check_metric(ObjectReader metric) {
  ASSAY_TRY(const std::string state, metric.text("state"));
  const bool known = std::any_of(kStates.begin(), kStates.end(), [&state](State one) {
    return state == stats::calibration_state_name(one);
  });
  if (!known)
    return tl::unexpected(metric.error("state", "a known state"));
  ASSAY_TRY([[maybe_unused]] const Json* reasons, metric.array("reasons"));
  for (const char* key :
       {"batches", "pairs", "pairs_below_resolution", "pairs_rejected", "batches_still_needed"}) {
    ASSAY_TRY_VOID(count(metric, key));
  }
  // Below the smallest pool there is nothing but the counts.
  if (metric.optional("direct") == nullptr &&
      state == stats::calibration_state_name(State::incomplete))
    return {};
  for (const char* key : {"direct", "relabelled_pairs", "relabelled_batches"}) {
    ASSAY_TRY(ObjectReader rate, metric.child(key));
    ASSAY_TRY_VOID(check_rate(std::move(rate)));
  }
  ASSAY_TRY(ObjectReader tail, metric.child("tail_p"));
  for (const char* key : {"up", "down"}) {
    ASSAY_TRY_VOID(share(tail, key));
  }
  return {};
}

}  // namespace

Result<void> check_calibration(ObjectReader& top) {
  ASSAY_TRY([[maybe_unused]] const Json* limits, top.array("limits"));
  ASSAY_TRY(ObjectReader metrics, top.child("calibration"));
  for (const char* name : {"wall", "cpu"}) {
    ASSAY_TRY(ObjectReader metric, metrics.child(name));
    ASSAY_TRY_VOID(check_metric(std::move(metric)));
  }
  return {};
}

}  // namespace assay::compare
