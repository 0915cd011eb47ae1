// assay analyze: the same statistics on numbers that somebody already has.
#include "cli.h"

#include "assay/base/files.h"
#include "assay/base/text.h"
#include "assay/report/render.h"
#include "assay/verdict/inputs.h"

#include <fmt/format.h>

namespace assay::cli {
namespace {

constexpr std::int64_t kMaxSeed = (INT64_C(1) << 53) - 1;
constexpr std::int64_t kMaxDraws = 10'000'000;
constexpr std::int64_t kMaxFileBytes = INT64_C(1) << 28;

struct Arguments {
  std::vector<std::string> files;
  verdict::InputOptions input;
  std::string method;
  std::optional<std::int64_t> seed, draws;
  std::optional<double> level, cap;
  bool json = false;
};

void declare(CLI::App& app, Arguments& a) {
  describe(app, "analyze", "Both interval methods on numbers that you already have.",
           {"assay analyze pairs.csv --reference old_ns --candidate new_ns --cap 1.05",
            "assay analyze old.json new.json   (two Google Benchmark or pyperf exports)"});
  app.add_option(
         "FILE", a.files,
         "pairs CSV, or a hyperfine, Google Benchmark or pyperf JSON export; two JSON files "
         "are reference and candidate")
      ->required()
      ->expected(1, 2);
  app.add_option("--format", a.input.format,
                 "csv, hyperfine, google-benchmark or pyperf (default: by content)");
  app.add_option("--reference", a.input.reference,
                 "CSV column (reference_ns) or name of the reference's benchmark");
  app.add_option("--candidate", a.input.candidate,
                 "CSV column (candidate_ns) or name of the candidate's benchmark");
  app.add_option("--batch", a.input.batch, "CSV column of the batch (batch)");
  app.add_option("--pair", a.input.pair, "CSV column of the pair inside its batch (pair)");
  app.add_option(
      "--method", a.method, "print one method only: " + [] {
        std::string names;
        for (const std::string& name : verdict::analysis_methods())
          names += (names.empty() ? "" : ", ") + name;
        return names;
      }());
  add_integer(app, "--seed", a.seed, 0, kMaxSeed, "seed of the resampling methods (0)");
  add_integer(app, "--draws", a.draws, 1, kMaxDraws, "draws of the resampling methods (2000)");
  add_number(app, "--level", a.level, 0.5, 0.9999, "level of the intervals (0.95)");
  add_number(app, "--cap", a.cap, 0.001, 1000,
             "gate: the largest candidate/reference ratio that passes, e.g. 1.05");
  app.add_flag("--json", a.json, "one JSON object on stdout");
}

Result<void> check_method(const std::string& method) {
  const std::vector<std::string> known = verdict::analysis_methods();
  for (const std::string& name : known)
    if (method.empty() || method == name)
      return {};
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("unknown method '{}'; try {}", printable(method, 60), fmt::join(known, ", ")),
      "--method");
}

std::string number(const Json& value) {
  return value.is_number() ? fmt::format("{:.6g}", value.get<double>()) : "unknown";
}

std::string finding_text(const Json& one) {
  const Json& finding = one.at("finding");
  if (finding == "no_difference" && one.at("ruled_out_above_percent").is_number())
    return fmt::format("no difference shown; differences above {:.3g} % are ruled out",
                       one.at("ruled_out_above_percent").get<double>());
  if (finding == "no_difference")
    return "no difference shown";
  if (finding.is_null())
    return "no claim: these data do not allow the two tests at ratio 1";
  return fmt::format("the candidate is {} (both tests agree at ratio 1)",
                     finding.get<std::string>());
}

std::string reason_lines(const Json& reasons) {
  std::string text;
  for (const Json& code : reasons) {
    const std::string name = code.get<std::string>();
    const std::string sentence = report::reason_sentence(name);
    text += fmt::format("    {}{}{}\n", name, sentence.empty() ? "" : ": ", sentence);
  }
  return text;
}

std::string case_text(const Json& one) {
  std::string text = printable(one.at("name").get<std::string>(), 120) + "\n";
  if (one.at("paired") == true)
    text += fmt::format(
        "  {} pairs in {}\n", one.at("pairs").dump(),
        one.at("batched") == true ? one.at("batches").dump() + " batches" : "no batches");
  else
    text += fmt::format("  unpaired: {} reference and {} candidate values\n",
                        one.at("reference").at("n").dump(), one.at("candidate").at("n").dump());
  text += fmt::format("  median: reference {}, candidate {} (unit of the file)\n",
                      number(one.at("reference").at("median")),
                      number(one.at("candidate").at("median")));
  for (const auto& [method, interval] : one.at("intervals").items())
    text += fmt::format("  ratio {} [{}, {}]  {:g} % {}\n", number(interval.at("estimate")),
                        number(interval.at("lower")), number(interval.at("upper")),
                        interval.at("level").get<double>() * 100, method);
  text += "  " + finding_text(one) + "\n";
  if (!one.at("reasons").empty())
    text += "  read this with:\n" + reason_lines(one.at("reasons"));
  const Json& gate = one.at("gate");
  if (gate.is_object()) {
    text += fmt::format("  gate at ratio {}: {}\n", number(gate.at("cap")),
                        gate.at("verdict").get<std::string>());
    text += reason_lines(gate.at("reasons"));
  }
  return text;
}

std::string analysis_text(const Json& analysis) {
  std::string text;
  for (const Json& one : analysis.at("cases"))
    text += (text.empty() ? "" : "\n") + case_text(one);
  for (const Json& name : analysis.at("unmatched"))
    text += fmt::format("not analysed, in one file only: {}\n",
                        printable(name.get<std::string>(), 120));
  return text;
}

Result<Json> analyze(const Arguments& a) {
  ASSAY_TRY_VOID(check_method(a.method));
  std::vector<std::string> texts;
  std::vector<verdict::InputText> files;
  for (const std::string& path : a.files) {
    ASSAY_TRY(std::string text, read_file(path, kMaxFileBytes));
    texts.push_back(std::move(text));
  }
  for (std::size_t i = 0; i < texts.size(); ++i)
    files.push_back({printable(a.files[i]), texts[i]});
  ASSAY_TRY(verdict::AnalyzeInput input, verdict::parse_analyze_input(files, a.input));
  return verdict::derive_analysis(input.cases, {.seed = a.seed.value_or(0),
                                                .draws = a.draws.value_or(2000),
                                                .level = a.level.value_or(0.95),
                                                .cap = a.cap,
                                                .method = a.method,
                                                .unmatched = std::move(input.unmatched)});
}

}  // namespace

int analyze_main(const std::vector<std::string>& args) {
  CLI::App app;
  Arguments arguments;
  declare(app, arguments);
  if (const auto code = parse_arguments(app, args))
    return *code;
  const auto analysis = analyze(arguments);
  if (!analysis)
    return report_error(analysis.error());
  const auto written =
      write_stdout(arguments.json ? canonical_json(*analysis) + "\n" : analysis_text(*analysis));
  if (!written)
    return report_error(written.error());
  return verdict::exit_code_of(*analysis);
}

}  // namespace assay::cli
