// assay doctor: what disturbs a measurement here, and the command that mends each.
#include "cli.h"

#include "assay/host/host.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::cli {

namespace {

constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kYellow = "\x1b[33m";
constexpr const char* kRed = "\x1b[31m";
constexpr const char* kReset = "\x1b[0m";

std::string painted(const Style& style, host::Severity severity, const std::string& word) {
  if (!style.color || severity == host::Severity::not_available)
    return word;
  const char* color = severity == host::Severity::ok       ? kGreen
                      : severity == host::Severity::blocks ? kRed
                                                           : kYellow;
  return color + word + kReset;
}

std::string shown_severity(host::Severity severity) {
  return severity == host::Severity::not_available ? "unknown"
                                                   : std::string(host::severity_name(severity));
}

int count(const std::vector<host::Finding>& findings, host::Severity severity) {
  return static_cast<int>(
      std::count_if(findings.begin(), findings.end(),
                    [&](const host::Finding& finding) { return finding.severity == severity; }));
}

std::string summary(const std::vector<host::Finding>& findings) {
  const int blocking = count(findings, host::Severity::blocks);
  const int advice = count(findings, host::Severity::advice);
  const int unknown = count(findings, host::Severity::not_available);
  std::string text = blocking == 0 ? "Nothing here blocks a measurement"
                                   : fmt::format("{} finding{} a sound measurement here", blocking,
                                                 blocking == 1 ? " blocks" : "s block");
  if (advice > 0)
    text += fmt::format("; {} would make it steadier", advice);
  if (unknown > 0)
    text += fmt::format("; {} could not be checked", unknown);
  return text + ".\n";
}

std::string table(const std::vector<host::Finding>& findings, const Style& style) {
  std::size_t width = 0;
  for (const auto& finding : findings)
    width = std::max(width, finding.id.size());
  std::string text;
  for (const auto& finding : findings) {
    const std::string word = fmt::format("{:<8}", shown_severity(finding.severity));
    text += fmt::format("{} {:<{}}  {}\n", painted(style, finding.severity, word), finding.id,
                        width, finding.observed);
    if (!finding.fix.empty())
      text += fmt::format("{:{}}-> {}\n", "", width + 11, finding.fix);
  }
  return text + "\n" + summary(findings);
}

Json as_json(const std::vector<host::Finding>& findings) {
  Json list = Json::array();
  for (const auto& finding : findings)
    list.push_back({{"id", finding.id},
                    {"severity", std::string(host::severity_name(finding.severity))},
                    {"observed", finding.observed},
                    {"fix", finding.fix.empty() ? Json(nullptr) : Json(finding.fix)}});
  return {{"schema", {{"name", "assay.doctor"}, {"major", 1}, {"minor", 0}}},
          {"blocks", count(findings, host::Severity::blocks)},
          {"findings", std::move(list)},
          {"host", host::collect()}};
}

}  // namespace

int doctor_main(const std::vector<std::string>& args) {
  CLI::App app;
  describe(app, "doctor", "Lists what would disturb a measurement on this host, with its remedy.",
           {"assay doctor", "assay doctor --json   (also prints the host as evidence records it)"});
  bool json = false;
  std::string style_name = "auto";
  app.add_flag("--json", json, "one JSON object on stdout");
  app.add_option("--style", style_name, "auto, basic, full, nocolor, color or none");
  if (const auto code = parse_arguments(app, args))
    return *code;
  const auto style = resolve_style(style_name);
  if (!style)
    return report_error(style.error());

  const auto findings = host::examine();
  std::string text;
  if (json)
    text = canonical_json(as_json(findings)) + "\n";
  else if (!style->silent)
    text = table(findings, *style);
  if (const auto written = write_stdout(text); !written)
    return report_error(written.error());
  return count(findings, host::Severity::blocks) == 0 ? kExitDone : kExitFailed;
}

}  // namespace assay::cli
