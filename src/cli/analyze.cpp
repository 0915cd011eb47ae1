// assay analyze: the same statistics on numbers that somebody already has.
#include "cli.h"

#include "assay/base/files.h"
#include "assay/base/sha256.h"
#include "assay/base/text.h"
#include "assay/evidence/archive.h"
#include "assay/report/render.h"
#include "assay/verdict/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <sys/stat.h>

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
  std::string style = "auto";
};

void declare(CLI::App& app, Arguments& a) {
  describe(app, "analyze", "Both interval methods on numbers that you already have.",
           {"assay analyze pairs.csv --reference old_ns --candidate new_ns --cap 1.05",
            "assay analyze old.json new.json   (two Google Benchmark or pyperf exports)"});
  app.add_option(
         "FILE", a.files,
         "pairs CSV; hyperfine, Google Benchmark or pyperf JSON (two files are reference and "
         "candidate); an archive's directory, or the CSV of compare")
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
  add_share(app, "--level", a.level, 0.5, 0.9999, "level of the intervals (0.95)");
  add_number(app, "--cap", a.cap, 0.001, 1000,
             "gate: the largest candidate/reference ratio that passes, e.g. 1.05");
  app.add_flag("--json", a.json, "one JSON object on stdout");
  app.add_option("--style", a.style, "auto|basic|full|nocolor|color|none");
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

// "4.8 % [4.2, 5.5]" of the interval that the finding rests on.
std::string by_how_much(const Json& one, double sign) {
  const Json& interval = one.at("intervals").value("clustered-signed-rank-v1", Json(nullptr));
  if (!interval.is_object() || !interval.at("lower").is_number() ||
      !interval.at("upper").is_number())
    return "";
  const auto percent = [&](const char* key) {
    return sign * (interval.at(key).get<double>() - 1) * 100;
  };
  return fmt::format(" by {:.3g} % [{:.3g}, {:.3g}]", percent("estimate"),
                     percent(sign < 0 ? "upper" : "lower"), percent(sign < 0 ? "lower" : "upper"));
}

std::string finding_text(const Json& one) {
  const Json& finding = one.at("finding");
  const Json& reasons = one.at("reasons");
  const bool split = std::find(reasons.begin(), reasons.end(), "tests_disagree") != reasons.end();
  const std::string none =
      split ? "no difference shown (only one of the two tests sees one)" : "no difference shown";
  if (finding == "no_difference" && one.at("ruled_out_above_percent").is_number())
    return fmt::format("{}; differences above {:.3g} % are ruled out", none,
                       one.at("ruled_out_above_percent").get<double>());
  if (finding == "no_difference")
    return none;
  if (finding.is_null())
    return "no claim (why: below)";
  return fmt::format("the candidate is {}{} (both tests agree at ratio 1)",
                     finding.get<std::string>(), by_how_much(one, finding == "faster" ? -1 : 1));
}

// "10.02 ms", or the plain figure where the file names no unit of time.
std::string figure_text(const Json& value, const Json& unit) {
  constexpr std::pair<const char*, double> kUnits[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  if (!value.is_number())
    return "unknown";
  for (const auto& [name, ns] : kUnits) {
    if (unit != name)
      continue;
    const double time = value.get<double>() * ns;
    const auto* shown = std::begin(kUnits);
    while (std::next(shown) != std::end(kUnits) && time >= std::next(shown)->second)
      shown = std::next(shown);
    return fmt::format("{:.4g} {}", time / shown->second, shown->first);
  }
  return number(value) +
         (unit.is_string() ? " " + printable(unit.get<std::string>(), 40) : " (unit of the file)");
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
  text += fmt::format("  median: reference {}, candidate {}\n",
                      figure_text(one.at("reference").at("median"), one.at("unit")),
                      figure_text(one.at("candidate").at("median"), one.at("unit")));
  for (const auto& [method, interval] : one.at("intervals").items())
    text += fmt::format("  ratio {} [{}, {}]  {:g} % {}\n", number(interval.at("estimate")),
                        number(interval.at("lower")), number(interval.at("upper")),
                        interval.at("level").get<double>() * 100, method);
  text += "  " + finding_text(one) + "\n";
  if (!one.at("reasons").empty())
    text += "  read this with:\n" + reason_lines(one.at("reasons"));
  const Json& gate = one.at("gate");
  if (gate.is_object()) {
    text += fmt::format("  gate at ratio {} ({:+.3g} %): {}\n", number(gate.at("cap")),
                        (gate.at("cap").get<double>() - 1) * 100,
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

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// Only files can be read twice and to their end at once.
Result<void> check_file(const std::string& path) {
  if (path.empty())
    return fail(ErrorCode::invalid_argument, "the file name is empty; give a path", "FILE");
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 && path == "-")
    return fail(ErrorCode::invalid_argument,
                "standard input is not read: write it to a file and name that", "-");
  if (::stat(path.c_str(), &info) != 0)
    return {};  // reading says why
  if (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode))
    return fail(ErrorCode::invalid_argument,
                fmt::format("is a {}: write what it carries to a file first",
                            S_ISFIFO(info.st_mode) ? "FIFO" : "socket"),
                printable(path));
  return {};
}

// The digests that the campaign wrote when it ended. Without them nothing says that the files are
// what was measured.
Result<void> check_digests(const evidence::ArchiveReader& archive, const std::string& path) {
  const auto sums = archive.bytes("SHA256SUMS");
  if (!sums)
    return fail(ErrorCode::invalid_argument,
                "is an archive without SHA256SUMS: its campaign still runs or was killed before it "
                "could finish",
                printable(path));
  for (const std::string name :
       {"header.json", "policy.json", "plan.json", "samples.jsonl", "report.json"}) {
    const auto bytes = archive.bytes(name);
    if (!bytes || sums->find(sha256_hex(*bytes) + "  " + name + "\n") == std::string::npos)
      return fail(ErrorCode::invalid_format,
                  "is missing or not as the campaign wrote it (see SHA256SUMS): the archive is "
                  "damaged",
                  printable(fmt::format("{}/{}", path, name)));
  }
  return {};
}

// Whether a campaign ended as planned, ran what it should and gave one output is judged by its own
// report; pairs alone cannot tell.
Result<void> refuse_gate(const Arguments& a, const verdict::AnalyzeInput& input) {
  for (const verdict::AnalyzeData& data : input.cases)
    if (a.cap && (data.source == "assay_archive" || data.source == "assay_csv"))
      return fail(ErrorCode::invalid_argument,
                  "the runs of a campaign are judged by its own report, which knows what was "
                  "missing or wrong: leave the flag out, or give compare a gate (--fail-if-slower)",
                  "--cap");
  return {};
}

// What the report of the campaign holds against the runs of each case.
void carry_warnings(const Json& report, std::vector<verdict::AnalyzeData>& cases) {
  const bool failed = report.at("status") == "failed";
  for (verdict::AnalyzeData& data : cases) {
    std::set<std::string> codes;
    for (const Json& code : report.at("blockers"))
      codes.insert(code.get<std::string>());
    if (report.at("status") != "measured")
      codes.insert(report.at("ending").at("reason").get<std::string>());
    for (const Json& one : report.at("cases")) {
      if (one.at("name") != data.name)
        continue;
      for (const Json& code : one.at("verdicts").at("wall").at("reasons"))
        for (const char* warning : {"outputs_differ", "output_not_deterministic", "exits_differ"})
          if (code == warning)
            codes.insert(warning);
    }
    codes.erase("");
    data.warnings.assign(codes.begin(), codes.end());
    data.no_claim = failed;
  }
}

Result<verdict::AnalyzeInput> read_archive(const std::string& path,
                                           const verdict::InputOptions& options) {
  for (const auto& [value, flag] :
       {std::pair(options.format, "--format"), std::pair(options.reference, "--reference"),
        std::pair(options.candidate, "--candidate"), std::pair(options.batch, "--batch"),
        std::pair(options.pair, "--pair")})
    if (!value.empty())
      return fail(ErrorCode::invalid_argument,
                  "an archive names its own sides and cases: leave the flag out", flag);
  const auto archive = evidence::ArchiveReader::open(path);
  if (!archive)
    return fail(ErrorCode::invalid_argument,
                "is a directory, and no archive that can be read (" + archive.error().message() +
                    "); give an archive's directory or a file",
                printable(path));
  ASSAY_TRY(const Json header, archive->document("header.json"));
  if (header.value("kind", "") != "comparison")
    return fail(ErrorCode::invalid_argument,
                "is an archive, but not one of a comparison: analyze reads those of compare",
                printable(path));
  ASSAY_TRY_VOID(check_digests(*archive, path));
  ASSAY_TRY(const Json policy_json, archive->document("policy.json"));
  ASSAY_TRY(const auto policy, verdict::parse_compare_policy(policy_json, path + "/policy.json"));
  std::vector<verdict::CampaignRun> runs;
  ASSAY_TRY_VOID(archive->for_each_line(
      "samples.jsonl", [&](std::string_view line, std::int64_t number) -> Result<void> {
        ASSAY_TRY(auto run, verdict::run_of_sample(
                                line, fmt::format("{}/samples.jsonl:{}", path, number), policy));
        if (run)
          runs.push_back(std::move(*run));
        return {};
      }));
  if (runs.empty())
    return fail(ErrorCode::invalid_format, "the archive holds no measured run", printable(path));
  verdict::AnalyzeInput input;
  ASSAY_TRY(input.cases, verdict::pairs_of_runs(runs, "assay_archive"));
  ASSAY_TRY(const Json report, archive->document("report.json"));
  carry_warnings(report, input.cases);
  return input;
}

Result<verdict::AnalyzeInput> read_input(const Arguments& a) {
  std::vector<std::string> texts;
  std::vector<verdict::InputText> files;
  for (const std::string& path : a.files) {
    ASSAY_TRY_VOID(check_file(path));
    if (!is_directory(path)) {
      ASSAY_TRY(std::string text, read_file(path, kMaxFileBytes));
      texts.push_back(std::move(text));
      continue;
    }
    if (a.files.size() > 1)
      return fail(ErrorCode::invalid_argument, "an archive holds both sides: give it alone",
                  printable(path));
    return read_archive(path, a.input);
  }
  for (std::size_t i = 0; i < texts.size(); ++i)
    files.push_back({printable(a.files[i]), texts[i]});
  return verdict::parse_analyze_input(files, a.input);
}

// Progress is for people: in a file it appears only where --style asks for it.
bool shows_progress(const Arguments& a, const Style& style) {
  return !style.silent && (style.interactive || (a.style != "auto" && a.style != "nocolor"));
}

Result<Json> analyze(const Arguments& a, const Style& style) {
  const double quiet_seconds = a.style == "auto" ? 1 : 0;  // work that ends sooner shows nothing
  ASSAY_TRY_VOID(check_method(a.method));
  ASSAY_TRY(verdict::AnalyzeInput input, read_input(a));
  ASSAY_TRY_VOID(refuse_gate(a, input));
  verdict::AnalyzeOptions options{.seed = a.seed.value_or(0),
                                  .draws = a.draws.value_or(2000),
                                  .level = a.level.value_or(0.95),
                                  .cap = a.cap,
                                  .method = a.method,
                                  .unmatched = std::move(input.unmatched)};
  ProgressLine line(style);
  const auto started = std::chrono::steady_clock::now();
  if (shows_progress(a, style))
    options.drawn = [&line, started, quiet_seconds](std::int64_t done, std::int64_t all) {
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
      if (elapsed.count() > quiet_seconds)
        line.update({done, all, 0, 0, "resampling", elapsed.count(), "draws"});
    };
  return verdict::derive_analysis(input.cases, options);
}

}  // namespace

int analyze_main(const std::vector<std::string>& args) {
  CLI::App app;
  Arguments arguments;
  declare(app, arguments);
  if (const auto code = parse_arguments(app, args))
    return *code;
  const auto style = resolve_style(arguments.style);
  if (!style)
    return report_error(style.error());
  const auto analysis = analyze(arguments, *style);
  if (!analysis)
    return report_error(analysis.error());
  std::string text;
  if (arguments.json)
    text = canonical_json(*analysis) + "\n";
  else if (!style->silent)
    text = analysis_text(*analysis);
  const auto written = write_stdout(text);
  if (!written)
    return report_error(written.error());
  return verdict::exit_code_of(*analysis);
}

}  // namespace assay::cli
