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

// One object of the record, with its place for errors.
class Figures {
 public:
  Figures(const Json& object, std::string where, std::string pointer)
      : reader_(object, where, pointer), where_(std::move(where)), pointer_(std::move(pointer)) {}

  Result<Figures> inner(const std::string& key) {
    ASSAY_TRY(const Json* object, reader_.object(key));
    return Figures(*object, where_, pointer_ + "/" + key);
  }
  Result<std::int64_t> count(const std::string& key) { return reader_.integer(key, 0, INT64_MAX); }
  Result<double> share(const std::string& key) {
    ASSAY_TRY(const double value, reader_.number(key));
    if (!(value >= 0 && value <= 1))
      return tl::unexpected(reader_.error(key, "a number from 0 to 1"));
    return value;
  }
  ObjectReader& reader() { return reader_; }

 private:
  ObjectReader reader_;
  std::string where_, pointer_;
};

Result<void> check_rate(Figures rate) {
  ASSAY_TRY(const std::int64_t campaigns, rate.count("campaigns"));
  ASSAY_TRY(const std::int64_t alarms, rate.count("alarms"));
  ASSAY_TRY(const double share, rate.share("rate"));
  ASSAY_TRY(const double lower, rate.share("lower95"));
  ASSAY_TRY(const double upper, rate.share("upper95"));
  if (alarms > campaigns)
    return tl::unexpected(rate.reader().error("alarms", "at most as many as campaigns"));
  const double counted =
      campaigns == 0 ? 0 : static_cast<double>(alarms) / static_cast<double>(campaigns);
  if (std::fabs(share - counted) > 1e-9)
    return tl::unexpected(rate.reader().error("rate", "alarms / campaigns"));
  if (!(lower <= share && share <= upper))
    return tl::unexpected(rate.reader().error("upper95", "limits around the rate"));
  return {};
}

Result<void> check_metric(Figures metric) {
  ASSAY_TRY(const std::string state, metric.reader().text("state"));
  const bool known = std::any_of(kStates.begin(), kStates.end(), [&state](State one) {
    return state == stats::calibration_state_name(one);
  });
  if (!known)
    return tl::unexpected(metric.reader().error("state", "a known state"));
  ASSAY_TRY([[maybe_unused]] const Json* reasons, metric.reader().array("reasons"));
  for (const char* key :
       {"batches", "pairs", "pairs_below_resolution", "pairs_rejected", "batches_still_needed"}) {
    ASSAY_TRY([[maybe_unused]] const std::int64_t count, metric.count(key));
  }
  // Below the smallest pool there is nothing but the counts.
  if (metric.reader().optional("direct") == nullptr &&
      state == stats::calibration_state_name(State::incomplete))
    return {};
  for (const char* key : {"direct", "relabelled_pairs", "relabelled_batches"}) {
    ASSAY_TRY(Figures rate, metric.inner(key));
    ASSAY_TRY_VOID(check_rate(std::move(rate)));
  }
  ASSAY_TRY(Figures tail, metric.inner("tail_p"));
  for (const char* key : {"up", "down"}) {
    ASSAY_TRY([[maybe_unused]] const double p, tail.share(key));
  }
  return {};
}

}  // namespace

Result<void> check_calibration(ObjectReader& top, const std::string& where) {
  ASSAY_TRY([[maybe_unused]] const Json* limits, top.array("limits"));
  ASSAY_TRY(const Json* table, top.object("calibration"));
  Figures metrics(*table, where, "/calibration");
  for (const char* name : {"wall", "cpu"}) {
    ASSAY_TRY(Figures metric, metrics.inner(name));
    ASSAY_TRY_VOID(check_metric(std::move(metric)));
  }
  return {};
}

}  // namespace assay::compare
