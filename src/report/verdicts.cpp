#include "verdicts.h"

#include "view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::report {
namespace {

using Maybe = std::optional<double>;

// Below this many pairs the tail rule cannot pass whatever is measured.
constexpr std::int64_t kTailPairs = 72;

// Digits that the width of the interval can carry: two significant ones of its half.
int percent_decimals(Maybe lower, Maybe upper) {
  if (!lower || !upper)
    return 2;
  const double half = std::fabs(*upper - *lower) * 50;
  return half >= 1 ? 1 : half >= 0.1 ? 2 : 3;
}

std::string percent(double value, int decimals) {
  if (!std::isfinite(value))
    return "n/a";
  if (std::fabs(value) >= 1e7)
    return fmt::format("{:.2e}", value);
  std::string out = fmt::format("{:.{}f}", value, decimals);
  if (out[0] == '-' && out.find_first_not_of("-0.") == std::string::npos)
    out.erase(0, 1);
  return out;
}

// "2.1 % [1.4, 2.8]"; `sign` is -1 where less is the news ("faster").
std::string change_text(const Json& v, double sign) {
  const Maybe estimate = number_at(v, {"estimate"});
  Maybe from = number_at(v, {"lower"}), to = number_at(v, {"upper"});
  const int decimals = percent_decimals(from, to);
  const auto text = [&](Maybe ratio) {
    return ratio ? percent(sign * (*ratio - 1) * 100, decimals) : std::string("n/a");
  };
  if (sign < 0)
    std::swap(from, to);
  return fmt::format("{} % [{}, {}]", text(estimate), text(from), text(to));
}

std::string cap_clause(double cap, Kind kind) {
  const char* worse = kind == Kind::rss ? "bigger" : "slower";
  const char* better = kind == Kind::rss ? "smaller" : "faster";
  return cap >= 1 ? fmt::format("{} (at most {} % {})", plain_number(cap, 4),
                                plain_number((cap - 1) * 100, 2), worse)
                  : fmt::format("{} (at least {} % {})", plain_number(cap, 4),
                                plain_number((1 - cap) * 100, 2), better);
}

std::string p_values(const Json& v) {
  std::string out = p_clause("t p", number_at(v, {"p_t"})) + ", " +
                    p_clause("sign-flip p", number_at(v, {"p_flip"}));
  if (const Maybe holm = number_at(v, {"p_holm"}))
    out += ", " + p_clause("after Holm p", holm);
  return out + ", one-sided towards failing";
}

std::string why(const Json& v) {
  const std::vector<std::string> reasons = texts_at(v, {"reasons"});
  return reasons.empty() ? "no reason is recorded" : join_codes(reasons);
}

// "; reasons: a, b", or "". That a test has no interval is no reason for its outcome.
std::string reasons_clause(const Json& v) {
  std::vector<std::string> reasons = texts_at(v, {"reasons"});
  reasons.erase(std::remove(reasons.begin(), reasons.end(), "interval_not_defined"), reasons.end());
  return reasons.empty() ? "" : "; reasons: " + join_codes(reasons);
}

// Whether something other than the data keeps an INCONCLUSIVE gate from its verdict.
bool is_withheld(const Json& v) {
  const std::vector<std::string> reasons = texts_at(v, {"reasons"});
  return std::any_of(reasons.begin(), reasons.end(), [](const std::string& code) {
    return code == "too_few_batches" || code == "host_calibration_failed" ||
           code == "order_unbalanced" || code == "one_batch_decides" ||
           code == "not_significant_after_holm" || code == "below_resolution" ||
           code == "single_batch";
  });
}

// How the gate came out, in words; the status word itself stands in front of it.
std::string gate_clause(const Json& v, Kind kind) {
  const std::string status = status_of(v);
  const Maybe cap = number_at(v, {"cap"});
  const std::string limit = cap ? "the cap " + cap_clause(*cap, kind) : "the cap (n/a)";
  if (status == "PASS")
    return fmt::format("below {}; both tests at the cap agree{}", limit, reasons_clause(v));
  if (status == "FAIL")
    return fmt::format("above {}; both tests at the cap agree ({}){}", limit, p_values(v),
                       reasons_clause(v));
  if (status == "INCONCLUSIVE" && is_withheld(v))
    return fmt::format("no verdict is given about {}, whatever the tests at the cap say ({}){}",
                       limit, p_values(v), reasons_clause(v));
  if (status == "INCONCLUSIVE")
    return fmt::format("the data leave both sides of {} open ({}){}", limit, p_values(v),
                       reasons_clause(v));
  if (status == "INCOMPLETE")
    return fmt::format("evidence is missing or unusable, so nothing is said about {}; reasons: {}",
                       limit, why(v));
  return fmt::format("the report gives no status for {}", limit);
}

std::string tail_power(const Json& v, const Json& detail) {
  return fmt::format(
      "{} pairs would find a tail of 5 % doubled runs with probability {}, and of 1 % tripled runs "
      "with {}",
      count_text(integer_at(v, {"n_pairs"})),
      probability_text(number_at(detail, {"find_5_percent_doubled"})),
      probability_text(number_at(detail, {"find_1_percent_tripled"})));
}

std::string tail_claim(const Json& v, const Json& case_value) {
  const Json& detail = at(case_value, {"tail_detail"});
  const std::string status = status_of(v);
  const std::string n = count_text(integer_at(v, {"n_pairs"}));
  if (!is_gated(v))
    return integer_at(v, {"n_pairs"}).value_or(0) < kTailPairs
               ? fmt::format("not asked ({} pairs can't show it)", n)
               : std::string("not asked");
  if (status == "FAIL")
    return fmt::format(
        "slow runs lift the candidate's mean {} % more above its typical run than the reference's "
        "(exact batch sign-flip, {}, one-sided; pairs: {}){}",
        plain_number(number_at(detail, {"excess_percent"}), 2),
        p_clause("mid-p", number_at(detail, {"p_fail"})), layout_text(v), reasons_clause(v));
  if (status == "PASS")
    return fmt::format(
        "slow runs (over 1.1 times the side's typical run): candidate {}, reference {}, of {} "
        "each; "
        "more than 5 points of additional slow runs are ruled out at one-sided 95 %{}",
        count_text(integer_at(detail, {"candidate_slow"})),
        count_text(integer_at(detail, {"reference_slow"})), n, reasons_clause(v));
  if (status == "INCONCLUSIVE")
    return fmt::format("neither more nor equally rare slow runs are shown; {}{}",
                       tail_power(v, detail), reasons_clause(v));
  if (status == "INCOMPLETE")
    return fmt::format(
        "evidence is missing or unusable, so nothing is said about slow runs; reasons: {}", why(v));
  return "the report gives no status";
}

}  // namespace

const char* kind_key(Kind kind) {
  switch (kind) {
    case Kind::wall:
      return "wall";
    case Kind::cpu:
      return "cpu";
    case Kind::rss:
      return "rss";
    case Kind::tail:
      return "tail";
  }
  return "wall";
}

const char* kind_title(Kind kind) {
  switch (kind) {
    case Kind::wall:
      return "wall time";
    case Kind::cpu:
      return "CPU time";
    case Kind::rss:
      return "peak RSS";
    case Kind::tail:
      return "tail";
  }
  return "wall time";
}

const Json& verdict_of(const Json& holder, Kind kind) {
  return at(holder, {"verdicts", kind_key(kind)});
}

std::string status_of(const Json& verdict) {
  const std::string status = text_at(verdict, {"status"});
  for (const char* known : {"PASS", "FAIL", "INCONCLUSIVE", "INCOMPLETE", "NOT_GATED"})
    if (status == known)
      return status;
  return "n/a";
}

bool is_gated(const Json& verdict) {
  return status_of(verdict) != "NOT_GATED";
}

std::string join_codes(const std::vector<std::string>& codes) {
  std::string out;
  for (const std::string& code : codes)
    out += (out.empty() ? "" : ", ") + safe_text(code, 60);
  return out;
}

std::string not_available(const Json& verdict) {
  return "n/a (" + why(verdict) + ")";
}

std::string finding_clause(const Json& v) {
  const std::string finding = text_at(v, {"finding"});
  const bool has_estimate = number_at(v, {"estimate"}).has_value();
  if (has_estimate && (finding == "slower" || finding == "bigger"))
    return fmt::format("candidate {} by {}", finding, change_text(v, 1));
  if (has_estimate && (finding == "faster" || finding == "smaller"))
    return fmt::format("candidate {} by {}", finding, change_text(v, -1));
  if (finding == "no_difference") {
    const std::vector<std::string> reasons = texts_at(v, {"reasons"});
    const bool split = std::find(reasons.begin(), reasons.end(), "tests_disagree") != reasons.end();
    const std::string none =
        split ? "no difference shown (only one of the two tests sees one)" : "no difference shown";
    const Maybe w = number_at(v, {"ruled_out_above_percent"});
    if (!w)
      return none + "; how large one could be is " + not_available(v);
    const int decimals = *w >= 10 ? 1 : *w >= 1 ? 2 : 3;
    return fmt::format("{}; differences above {} % are ruled out at level {}", none,
                       plain_number(w, decimals), share_text(number_at(v, {"level"})));
  }
  const std::string seen =
      has_estimate ? fmt::format("the ratio seen is {} {}", ratio_text(number_at(v, {"estimate"})),
                                 interval_text(number_at(v, {"lower"}), number_at(v, {"upper"})))
                   : "the ratio is " + not_available(v);
  // A gate that did not pass or fail has just given the reasons.
  const std::string status = status_of(v);
  if (status == "INCONCLUSIVE" || status == "INCOMPLETE")
    return seen;
  return has_estimate ? fmt::format("no claim ({}); {}", why(v), seen) : "no claim: " + seen;
}

std::string claim(const Json& v, const Json& case_value, Kind kind) {
  if (!v.is_object())
    return "n/a (the report holds no such verdict)";
  if (kind == Kind::tail)
    return tail_claim(v, case_value);
  return is_gated(v) ? gate_clause(v, kind) + "; " + finding_clause(v) : finding_clause(v);
}

std::string method_basis(const Json& v) {
  const std::string method = text_at(v, {"method"});
  return fmt::format("{}, level {}, n = {} pairs, B = {} batches",
                     method.empty() ? "n/a" : safe_text(method, 60),
                     share_text(number_at(v, {"level"})), count_text(integer_at(v, {"n_pairs"})),
                     count_text(integer_at(v, {"n_batches"})));
}

std::string method_figures(const Json& v) {
  if (!number_at(v, {"estimate"}))
    return "ratio n/a";  // the reason stands beside the verdict
  return fmt::format("ratio {} {}", ratio_text(number_at(v, {"estimate"})),
                     interval_text(number_at(v, {"lower"}), number_at(v, {"upper"})));
}

std::string method_clause(const Json& v, Kind kind) {
  return kind == Kind::tail ? method_basis(v) : method_basis(v) + ": " + method_figures(v);
}

std::string prediction_clause(const Json& v) {
  const Json& prediction = at(v, {"prediction"});
  if (!prediction.is_object())
    return "";
  const auto batches = integer_at(prediction, {"at_batches"});
  const Maybe probability = number_at(prediction, {"probability"});
  std::string out;
  if (batches && probability)
    out = fmt::format("{} batches in all would decide with probability {}", *batches,
                      probability_text(probability));
  const auto b50 = integer_at(prediction, {"b50"}), b80 = integer_at(prediction, {"b80"});
  if (b50)
    out += fmt::format("{}probability 50 % needs {}", out.empty() ? "" : "; ", *b50);
  if (b80)
    out += fmt::format("{}80 % needs {}", out.empty() ? "probability " : b50 ? ", " : "; ", *b80);
  if (!b50 && !b80)
    out += std::string(out.empty() ? "" : "; ") + "no number of batches within reach gives 80 %";
  const Maybe now = number_at(prediction, {"half_width_percent"});
  const Maybe then = number_at(prediction, {"half_width_at_percent"});
  if (batches && now && then)
    out += fmt::format("; {} batches would resolve about +-{} % where now it is +-{} %", *batches,
                       plain_number(then, 2), plain_number(now, 2));
  return out + ". A longer run is a new campaign";
}

std::string second_method_clause(const Json& case_value) {
  const Json& b = at(case_value, {"bootstrap"});
  if (!b.is_object())
    return "second method: n/a (the report holds no bootstrap interval)";
  const std::string method = text_at(b, {"method"});
  std::string out =
      fmt::format("{}, level {}, {} draws, seed {}", method.empty() ? "n/a" : safe_text(method, 60),
                  share_text(number_at(b, {"level"})), count_text(integer_at(b, {"draws"})),
                  count_text(integer_at(b, {"seed"})));
  if (number_at(b, {"estimate"}))
    out += fmt::format(": ratio {} {}", ratio_text(number_at(b, {"estimate"})),
                       interval_text(number_at(b, {"lower"}), number_at(b, {"upper"})));
  else
    out += ": ratio " + not_available(verdict_of(case_value, Kind::wall));
  if (flag_at(b, {"calibrated"}) != true)
    out += " (not calibrated)";
  if (flag_at(case_value, {"methods_disagree"}) == true)
    out +=
        ". The two methods disagree here: the verdict follows the first, and the difference is "
        "itself a sign that batches differ";
  return out;
}

std::string layout_text(const Json& v) {
  const auto n = integer_at(v, {"n_pairs"}), b = integer_at(v, {"n_batches"});
  if (!n && !b)
    return "n/a";
  if (n && b && *b > 0 && *n % *b == 0)
    return fmt::format("{} = {} x {}", *n, *b, *n / *b);
  return fmt::format("{} in {}", count_text(n), count_text(b));
}

std::string gate_text(const Json& v, Kind kind) {
  if (!is_gated(v))
    return "none";
  if (kind == Kind::tail)
    return "tail gate";
  return "<= " + plain_number(number_at(v, {"cap"}), 4);
}

std::string verdict_word(const Json& case_value, const Json& v, Kind kind) {
  if (is_gated(v)) {
    const Json& tail = verdict_of(case_value, Kind::tail);
    const bool typical =
        kind == Kind::wall && status_of(v) == "PASS" && is_gated(tail) && status_of(tail) != "PASS";
    return status_of(v) + (typical ? " (typical run only)" : "");
  }
  const std::string finding = text_at(v, {"finding"});
  for (const char* known : {"slower", "faster", "bigger", "smaller"})
    if (finding == known)
      return finding;
  return finding == "no_difference" ? "no difference" : "no claim";
}

Kind deciding_kind(const Json& case_value) {
  const auto badness = [](const std::string& status) {
    return status == "PASS" ? 1 : status == "INCONCLUSIVE" ? 2 : status == "FAIL" ? 4 : 3;
  };
  Kind worst = Kind::wall;
  int rank = 0;
  for (const Kind kind : kKinds) {
    const Json& v = verdict_of(case_value, kind);
    // An undecided tail qualifies a PASS of wall time ("typical run only"); it doesn't replace it.
    if (kind == Kind::tail && worst == Kind::wall && rank == 1 && status_of(v) == "INCONCLUSIVE")
      continue;
    if (is_gated(v) && badness(status_of(v)) > rank) {
      worst = kind;
      rank = badness(status_of(v));
    }
  }
  return worst;
}

std::string deciding_word(const Json& case_value) {
  const Kind kind = deciding_kind(case_value);
  const std::string word = verdict_word(case_value, verdict_of(case_value, kind), kind);
  return kind == Kind::wall ? word : fmt::format("{} ({})", word, kind_title(kind));
}

std::string deciding_clause(const Json& case_value) {
  const Kind kind = deciding_kind(case_value);
  const Json& v = verdict_of(case_value, kind);
  if (kind == Kind::wall)
    return finding_clause(v);
  return fmt::format("{}: {}", kind_title(kind),
                     kind == Kind::tail ? claim(v, case_value, kind) : finding_clause(v));
}

std::string case_conclusion(const Json& case_value) {
  const Json& v = verdict_of(case_value, deciding_kind(case_value));
  const std::string found = deciding_clause(case_value);
  const std::string status = status_of(v);
  const std::vector<std::string> reasons = texts_at(v, {"reasons"});
  if (status == "INCONCLUSIVE" || status == "INCOMPLETE") {
    std::vector<std::string> codes;
    for (const std::string& code : reasons)
      if (code != "host_not_calibrated" && code != "interval_not_defined" &&
          found.find(code) == std::string::npos)
        codes.push_back(code);
    return codes.empty() ? found : found + " (" + join_codes(codes) + ")";
  }
  const auto has = [&reasons](const char* code) {
    return std::find(reasons.begin(), reasons.end(), code) != reasons.end();
  };
  if (has("outputs_differ"))
    return found + ", but the outputs differ";
  if (has("exits_differ"))
    return found + ", but the two end in different ways";
  return has("output_not_deterministic") ? found + ", but outputs differ from run to run" : found;
}
}  // namespace assay::report
