// Renderers: pure functions of a finished report value (and samples for CSV). No I/O, no clock.
#pragma once

#include "assay/base/json.h"

#include <string>
#include <vector>

namespace assay::report {

struct TerminalStyle {
  bool color = false;
  bool unicode = true;
  int columns = 100;
  bool archived = true;       // false: --no-archive, so that nothing but the report is kept
  bool verbose = false;       // also both sides' figures and the noise
  std::string time_unit;      // "" = by size; "nanosecond", "microsecond", "millisecond", "second"
  std::string sort = "auto";  // auto, command, mean-time
};

// The table, interval bars, verdict sentence per case, reasons in plain words, what it does not
// prove.
std::string terminal(const Json& report, const TerminalStyle& style);
std::string markdown(const Json& report);
std::string asciidoc(const Json& report);
std::string orgmode(const Json& report);
std::string junit(const Json& report);
std::string github_annotations(const Json& report);
// Every sample is a row: `samples` are samples.jsonl lines without LF.
std::string csv(const std::vector<std::string>& samples);
// hyperfine's JSON keys (results[].command/mean/stddev/median/user/system/min/max/times/...),
// seconds.
std::string hyperfine_json(const Json& report, const std::vector<std::string>& samples);
// The one-paragraph verdict of a case ("slower by 2.1 % [1.4, 2.8] ...").
std::string verdict_sentence(const Json& report, const Json& case_value);
// The sentence behind a reason code (docs/reference/reason-codes.md has all of them); "" when
// unknown.
std::string reason_sentence(const std::string& code);
std::vector<std::string> known_reason_codes();

}  // namespace assay::report
