#include "assay/verdict/report.h"

namespace assay::verdict {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kInvalid = 2;
constexpr int kIncomplete = 3;
constexpr int kInconclusive = 4;
constexpr int kHungUp = 129;
constexpr int kInterrupted = 130;
constexpr int kQuit = 131;
constexpr int kTerminated = 143;

std::string text_at(const Json& json, const char* outer, const char* inner) {
  if (!json.is_object() || !json.contains(outer) || !json.at(outer).is_object())
    return "";
  const Json& value = json.at(outer).value(inner, Json(nullptr));
  return value.is_string() ? value.get<std::string>() : "";
}

int of_verdict(const std::string& verdict) {
  if (verdict == "PASS")
    return kDone;
  if (verdict == "FAIL")
    return kFailed;
  return verdict == "INCOMPLETE" ? kIncomplete : kInconclusive;
}

int of_interruption(const Json& report) {
  const std::string reason = text_at(report, "ending", "reason");
  if (reason == "sigterm")
    return kTerminated;
  if (reason == "sighup")
    return kHungUp;
  if (reason == "sigquit")
    return kQuit;
  return reason == "launcher_lost" ? kInvalid : kInterrupted;
}

// FAILED beats INCOMPLETE beats the certified states, over the kinds.
int of_calibration(const Json& report) {
  int code = kDone;
  const Json table = report.value("calibration", Json(nullptr));
  for (const char* kind : {"wall", "cpu"}) {
    const std::string state = text_at(table, kind, "state");
    if (state == "FAILED")
      return kFailed;
    if (state == "INCOMPLETE")
      code = kIncomplete;
  }
  return code;
}

int of_analysis(const Json& report) {
  int code = kDone;
  const auto worse = [](int a, int b) {
    for (const int one : {kFailed, kIncomplete, kInconclusive})
      if (a == one || b == one)
        return one;
    return kDone;
  };
  for (const Json& one : report.value("cases", Json::array())) {
    const std::string verdict = text_at(one, "gate", "verdict");
    if (!verdict.empty())
      code = worse(code, of_verdict(verdict));
  }
  return code;
}

}  // namespace

int exit_code_of(const Json& report) {
  if (!report.is_object())
    return kInvalid;
  const std::string schema = text_at(report, "schema", "name");
  if (schema == "assay.analysis")
    return of_analysis(report);
  const auto found = report.find("status");
  const std::string status =
      found != report.end() && found->is_string() ? found->get<std::string>() : "";
  if (status == "interrupted")
    return of_interruption(report);
  if (status != "measured")
    return kInvalid;
  if (schema == "assay.report.calibration")
    return of_calibration(report);
  const Json gated = report.value("gated", Json(nullptr));
  if (!gated.is_boolean())
    return kInvalid;
  if (!gated.get<bool>())
    return kDone;
  // An absent or unknown word is no PASS.
  return of_verdict(text_at(report, "overall", "status"));
}

}  // namespace assay::verdict
