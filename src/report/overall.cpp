// The campaign as a whole in words.
#include "verdicts.h"
#include "view.h"

#include "assay/report/render.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::report {

bool is_unfinished(const Json& report) {
  return text_at(report, {"status"}) != "measured";
}

std::string overall_status(const Json& report) {
  const std::string ended = text_at(report, {"status"});
  std::string prefix;
  if (ended == "interrupted")
    prefix = "INTERRUPTED";
  else if (ended == "failed")
    prefix = "ERROR";  // not FAILED, which reads like the verdict FAIL
  else if (ended != "measured")
    prefix = "NOT FINISHED (n/a)";
  std::string status = status_of(at(report, {"overall"}));
  // The tail gate was asked for and is undecided, every ratio gate passed.
  if ((status == "PASS" || status == "INCONCLUSIVE") &&
      flag_at(report, {"overall", "typical_run_only"}) == true)
    status = "PASS (typical run only)";
  if (status == "n/a" || status == "NOT_GATED")
    status =
        flag_at(report, {"gated"}) == false ? "measured, no gate asked for" : "no verdict (n/a)";
  if (prefix.empty())
    return status;
  // An unfinished campaign without a gate has no second word to add.
  return flag_at(report, {"gated"}) == false ? prefix : prefix + ", " + status;
}

std::string overall_clause(const Json& report) {
  const std::string ended = text_at(report, {"status"});
  const std::string runs = fmt::format("{} of {} planned runs are recorded",
                                       count_text(integer_at(report, {"scope", "runs_recorded"})),
                                       count_text(integer_at(report, {"scope", "runs_planned"})));
  std::vector<std::string> reasons;
  const auto add = [&reasons](const std::string& code) {
    if (!code.empty() && std::find(reasons.begin(), reasons.end(), code) == reasons.end())
      reasons.push_back(code);
  };
  if (is_unfinished(report))
    add(text_at(report, {"ending", "reason"}));
  for (const std::string& code : texts_at(report, {"blockers"}))
    add(code);
  // That a test has no interval is no reason for its outcome.
  for (const std::string& code : texts_at(report, {"overall", "reasons"}))
    if (code != "interval_not_defined")
      add(code);
  const std::string codes = join_codes(reasons);
  const std::string why = codes.empty() ? "" : " (" + codes + ")";
  if (ended == "interrupted")
    return "the campaign was stopped before its plan was done" + why + "; " + runs;
  if (ended == "failed")
    return "the campaign could not be completed as asked" + why + "; " + runs;
  return codes.empty() ? runs : "the verdict comes with " + codes + "; " + runs;
}

std::string conclusion(const Json& report) {
  const Json& cases = array_at(report, {"cases"});
  const Json& rejected = array_at(report, {"rejected_runs"});
  const bool failed = text_at(report, {"status"}) == "failed";
  if (failed && !rejected.empty())
    return fmt::format("run {} ({}) was rejected: {}", count_text(integer_at(rejected[0], {"seq"})),
                       safe_text(text_at(rejected[0], {"side"}), 20, true),
                       safe_text(text_at(rejected[0], {"why"}), 60, true));
  if (failed) {
    const std::string code = text_at(report, {"ending", "reason"});
    const std::string sentence = reason_sentence(code);
    return sentence.empty() ? safe_text(code, 60) : sentence.substr(0, sentence.size() - 1);
  }
  if (cases.size() == 1)
    return case_conclusion(cases[0]);
  std::vector<std::pair<std::string, int>> words;
  for (const Json& one : cases) {
    const std::string word = deciding_word(one);
    const auto known = std::find_if(words.begin(), words.end(),
                                    [&word](const auto& counted) { return counted.first == word; });
    if (known == words.end())
      words.emplace_back(word, 1);
    else
      ++known->second;
  }
  std::string text;
  for (const auto& [word, count] : words)
    text += fmt::format("{}{} {}", text.empty() ? fmt::format("of {} cases ", cases.size()) : ", ",
                        count, word);
  return text;
}

std::vector<std::string> case_flags(const Json& report, const Json& case_value) {
  std::vector<std::string> flags;
  const auto add = [&flags](const std::string& code) {
    if (!code.empty() && std::find(flags.begin(), flags.end(), code) == flags.end())
      flags.push_back(code);
  };
  for (const std::string& code : texts_at(verdict_of(case_value, Kind::wall), {"reasons"}))
    add(code);
  if (flag_at(case_value, {"methods_disagree"}) == true)
    add("methods_disagree");
  const std::string name = text_at(case_value, {"name"});
  for (const Json& diagnostic : array_at(report, {"diagnostics"}))
    if (text_at(diagnostic, {"case"}) == name)
      add(text_at(diagnostic, {"code"}));
  return flags;
}

}  // namespace assay::report
