// One verdict (docs/reference/report.md, V) in words.
#pragma once

#include "assay/base/json.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

enum class Kind { wall, cpu, rss, tail };
inline constexpr Kind kKinds[] = {Kind::wall, Kind::cpu, Kind::rss, Kind::tail};
const char* kind_key(Kind kind);    // "wall": the member of `verdicts`
const char* kind_title(Kind kind);  // "wall time"

const Json& verdict_of(const Json& holder, Kind kind);
// The closed list of statuses, "n/a" for anything else.
std::string status_of(const Json& verdict);
// Whether the verdict can pass or fail. A status that cannot be read is no reason to believe that
// nothing was asked.
bool is_gated(const Json& verdict);

// What the verdict says, without its status word: "over the cap 1.05 ...; candidate slower by ...".
std::string claim(const Json& verdict, const Json& case_value, Kind kind);
// "slower by 2.1 % [1.4, 2.8]", "no difference shown; ..." or why nothing can be said.
std::string finding_clause(const Json& verdict);
// "clustered-signed-rank-v1, level 95 %, n = 60 pairs, B = 10 batches: ratio 1.02 [1.01, 1.03]".
std::string method_clause(const Json& verdict, Kind kind);
// Its two halves: method, level, n and B; ratio and interval.
std::string method_basis(const Json& verdict);
std::string method_figures(const Json& verdict);
// "" unless the verdict carries a prediction.
std::string prediction_clause(const Json& verdict);
// Method 1's interval and, where both exist, whether the two methods agree.
std::string second_method_clause(const Json& case_value);
// "n/a (code, code)": a null figure with its reason.
std::string not_available(const Json& verdict);
// "60 = 10 x 6", from n and B of the verdict.
std::string layout_text(const Json& verdict);
// "<= 1.05", or "none": the column gate of every table.
std::string gate_text(const Json& verdict, Kind kind);
// The verdict that decides a case: its worst gate (the first of kKinds among equals), or wall time
// where no gate was asked for.
Kind deciding_kind(const Json& case_value);
// Its word, with the figure's name unless that is wall time: "FAIL (peak RSS)".
std::string deciding_word(const Json& case_value);
// What was found in that figure: "candidate slower by ...", "peak RSS: candidate bigger by ...".
std::string deciding_clause(const Json& case_value);
// The same with what a reader must know beside it: why there is no verdict, or that the two sides
// gave different outputs.
std::string case_conclusion(const Json& case_value);
// The campaign in one clause, to stand behind its overall status; "" when there is nothing to say.
std::string conclusion(const Json& report);
// The status of a gated verdict (a wall PASS beside an asked-for tail that did not pass is "PASS
// (typical run only)"), else what was found: "slower", "no difference", "no claim".
std::string verdict_word(const Json& case_value, const Json& verdict, Kind kind);

// "PASS (typical run only)", "no gate", "INTERRUPTED"...: the first word of every report.
std::string overall_status(const Json& report);
// One line that explains the overall status.
std::string overall_clause(const Json& report);
// Codes worth a flag beside the case: the wall verdict's, and the diagnostics that name the case.
std::vector<std::string> case_flags(const Json& report, const Json& case_value);
// The campaign did not reach its end, or nothing says that it did.
bool is_unfinished(const Json& report);

std::string join_codes(const std::vector<std::string>& codes);

}  // namespace assay::report
