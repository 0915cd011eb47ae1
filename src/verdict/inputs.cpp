// The input of `assay analyze`: which format it has, and which series are compared.
#include "assay/verdict/inputs.h"

#include "assay/base/json.h"
#include "assay/base/text.h"

#include <algorithm>
#include <set>
#include <utility>

namespace assay::verdict {
namespace {

std::string name_list(const std::vector<NamedSeries>& series) {
  constexpr std::size_t kShown = 10;
  std::string out;
  for (std::size_t i = 0; i < series.size() && i < kShown; ++i) {
    out += i == 0 ? "'" : ", '";
    out += printable(series[i].name, 60);
    out += "'";
  }
  if (series.size() > kShown)
    out += " and " + std::to_string(series.size() - kShown) + " more";
  return out;
}

// "#2" is the second series of the file, unless one has that name.
const NamedSeries* by_place(const std::vector<NamedSeries>& series, const std::string& name) {
  if (name.empty() || name[0] != '#')
    return nullptr;
  const auto place = parse_integer(std::string_view(name).substr(1), 1,
                                   static_cast<std::int64_t>(series.size()), "place");
  return place ? &series[static_cast<std::size_t>(*place - 1)] : nullptr;
}

Result<const NamedSeries*> pick(const std::vector<NamedSeries>& series, const std::string& name,
                                const std::string& flag, const InputText& file) {
  const auto named = [&name](const NamedSeries& one) { return one.name == name; };
  const auto found = std::find_if(series.begin(), series.end(), named);
  if (found == series.end()) {
    if (const NamedSeries* one = by_place(series, name))
      return one;
    return fail(ErrorCode::invalid_argument,
                "no benchmark '" + printable(name, 60) + "' for " + flag + "; the file holds " +
                    name_list(series),
                file.where);
  }
  const auto second = std::find_if(found + 1, series.end(), named);
  if (second == series.end())
    return &*found;
  const auto place = [&series](auto it) { return "#" + std::to_string(it - series.begin() + 1); };
  return fail(ErrorCode::invalid_format,
              "benchmark '" + printable(name, 60) + "' occurs twice, as " + place(found) + " and " +
                  place(second) + "; name one by its place: --reference '" + place(found) +
                  "' --candidate '" + place(second) + "'",
              file.where);
}

struct Source {
  std::string name;  // of AnalyzeData
  Result<std::vector<NamedSeries>> (*parse)(const InputText&);
  bool first_is_reference;  // any number of series without names
};

Result<Source> source_of(const std::string& format) {
  if (format == "hyperfine")
    return Source{"hyperfine", parse_hyperfine, true};
  if (format == "google-benchmark")
    return Source{"google_benchmark", parse_google_benchmark, false};
  if (format == "pyperf")
    return Source{"pyperf", parse_pyperf, false};
  std::string known;
  for (const std::string& name : input_formats())
    known += (known.empty() ? "" : ", ") + name;
  return fail(ErrorCode::invalid_argument,
              "unknown format '" + printable(format, 40) + "', expected " + known, "--format");
}

// `where` is the candidate's file. A ratio of two units means nothing.
Result<AnalyzeData> unpaired(const Source& source, const NamedSeries& reference,
                             const NamedSeries& candidate, const std::string& where) {
  const auto in_unit = [](const NamedSeries& one) {
    return "'" + printable(one.name, 60) + "' " +
           (one.unit.empty() ? "has no unit" : "is in " + printable(one.unit, 40));
  };
  if (reference.unit != candidate.unit)
    return fail(ErrorCode::invalid_format,
                "the reference " + in_unit(reference) + ", the candidate " + in_unit(candidate) +
                    ": they cannot be compared",
                where);
  AnalyzeData data;
  data.source = source.name;
  data.name = sanitize_utf8(candidate.name);
  data.unit = sanitize_utf8(reference.unit);
  data.reference = reference.values;
  data.candidate = candidate.values;
  return data;
}

Result<AnalyzeInput> from_one_file(const Source& source, const std::vector<NamedSeries>& series,
                                   const InputText& file, const InputOptions& options) {
  const bool two = series.size() == 2;
  if (series.size() < 2)
    return fail(ErrorCode::invalid_format,
                "the file holds one benchmark only (" + name_list(series) +
                    "); give a second file, or one with reference and candidate",
                file.where);
  const bool named = !options.reference.empty() && !options.candidate.empty();
  if (!named && !two && !source.first_is_reference)
    return fail(
        ErrorCode::invalid_argument,
        "choose two benchmarks with --reference NAME and --candidate NAME; the file holds " +
            name_list(series),
        file.where);
  const NamedSeries* reference = series.data();
  if (!options.reference.empty()) {
    ASSAY_TRY(reference, pick(series, options.reference, "--reference", file));
  }
  const NamedSeries* only = nullptr;
  if (!options.candidate.empty()) {
    ASSAY_TRY(only, pick(series, options.candidate, "--candidate", file));
    if (options.reference.empty() && only == reference)
      reference = series.data() + 1;
    if (only == reference)
      return fail(ErrorCode::invalid_argument, "reference and candidate are the same benchmark",
                  file.where);
  }
  AnalyzeInput input;
  for (const NamedSeries& one : series)
    if (&one != reference && (only == nullptr || only == &one)) {
      ASSAY_TRY(AnalyzeData data, unpaired(source, *reference, one, file.where));
      input.cases.push_back(std::move(data));
    }
  return input;
}

Result<AnalyzeInput> from_two_files(const Source& source,
                                    const std::vector<std::vector<NamedSeries>>& both,
                                    const std::vector<InputText>& files,
                                    const InputOptions& options) {
  AnalyzeInput input;
  const std::string& candidate_name =
      options.candidate.empty() ? options.reference : options.candidate;
  if (!candidate_name.empty()) {
    const std::string& reference_name =
        options.reference.empty() ? candidate_name : options.reference;
    ASSAY_TRY(const auto* reference, pick(both[0], reference_name, "--reference", files[0]));
    ASSAY_TRY(const auto* candidate, pick(both[1], candidate_name, "--candidate", files[1]));
    ASSAY_TRY(AnalyzeData data, unpaired(source, *reference, *candidate, files[1].where));
    input.cases.push_back(std::move(data));
    return input;
  }
  std::set<std::string> in_first;
  for (const NamedSeries& one : both[0]) {
    in_first.insert(one.name);
    const bool other = std::any_of(both[1].begin(), both[1].end(),
                                   [&](const NamedSeries& s) { return s.name == one.name; });
    if (!other) {
      input.unmatched.push_back(sanitize_utf8(one.name));
      continue;
    }
    ASSAY_TRY(const auto* reference, pick(both[0], one.name, "the reference", files[0]));
    ASSAY_TRY(const auto* candidate, pick(both[1], one.name, "the candidate", files[1]));
    ASSAY_TRY(AnalyzeData data, unpaired(source, *reference, *candidate, files[1].where));
    input.cases.push_back(std::move(data));
  }
  for (const NamedSeries& one : both[1])
    if (in_first.count(one.name) == 0)
      input.unmatched.push_back(sanitize_utf8(one.name));
  if (input.cases.empty() && both[0].size() == 1 && both[1].size() == 1) {
    input.unmatched.clear();
    ASSAY_TRY(AnalyzeData data, unpaired(source, both[0][0], both[1][0], files[1].where));
    input.cases.push_back(std::move(data));
  }
  if (input.cases.empty())
    return fail(ErrorCode::invalid_format,
                "the two files share no benchmark name: " + name_list(both[0]) + " against " +
                    name_list(both[1]) + "; use --reference NAME and --candidate NAME",
                files[1].where);
  return input;
}

constexpr std::string_view kBlank = " \t\r\n";

// The text without the blanks around it.
std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// A bare JSON value. A CSV with both sides has a comma in its header.
bool is_json_scalar(std::string_view text) {
  if (text.empty() || text.find_first_of(",\n") != std::string_view::npos)
    return false;
  return text == "null" || text == "true" || text == "false" || text[0] == '"' || text[0] == '-' ||
         (text[0] >= '0' && text[0] <= '9');
}

tl::unexpected<Error> no_export(std::string what, const InputText& file) {
  what +=
      "; expected an export of hyperfine (results), Google Benchmark (context, benchmarks) or "
      "pyperf "
      "(benchmarks)";
  return fail(ErrorCode::invalid_format, std::move(what), file.where);
}

Result<std::string> detect(const InputText& file) {
  const std::string_view text = trimmed(file.text);
  if (text.empty() || (text[0] != '{' && text[0] != '[' && !is_json_scalar(text)))
    return "csv";
  ASSAY_TRY(const Json json, parse_json(file.text, file.where));
  if (json.is_array())
    return no_export("JSON that is an array", file);
  if (!json.is_object())
    return no_export(std::string("JSON that is a mere ") + json.type_name(), file);
  if (json.contains("results"))
    return "hyperfine";
  if (json.contains("benchmarks"))
    return json.contains("context") ? "google-benchmark" : "pyperf";
  if (json.contains("schema") && json.contains("kind"))
    return fail(ErrorCode::invalid_format,
                "a report of assay holds no single runs: give the archive's directory, or the file "
                "of compare --export-csv",
                file.where);
  return no_export("JSON of an unknown tool", file);
}

InputText without_mark(InputText file) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (file.text.substr(0, kByteOrderMark.size()) == kByteOrderMark)
    file.text.remove_prefix(kByteOrderMark.size());
  return file;
}

Result<AnalyzeInput> from_csv(const std::vector<InputText>& files, const InputOptions& options) {
  if (files.size() == 2)
    return fail(ErrorCode::invalid_argument, "a CSV holds both sides: give one file only",
                files[1].where);
  AnalyzeInput input;
  const bool columns_named = !options.reference.empty() || !options.candidate.empty() ||
                             !options.batch.empty() || !options.pair.empty();
  if (!columns_named && is_samples_csv(files[0])) {
    ASSAY_TRY(const std::vector<CampaignRun> runs, parse_samples_csv(files[0]));
    ASSAY_TRY(input.cases, pairs_of_runs(runs, "assay_csv"));
    return input;
  }
  ASSAY_TRY(AnalyzeData data, parse_pairs_csv(files[0], options));
  input.cases.push_back(std::move(data));
  return input;
}

}  // namespace

std::vector<std::string> input_formats() {
  return {"csv", "hyperfine", "google-benchmark", "pyperf"};
}

Result<AnalyzeInput> parse_analyze_input(const std::vector<InputText>& files,
                                         const InputOptions& options) {
  if (files.empty() || files.size() > 2)
    return fail(ErrorCode::invalid_argument, "expected one file, or two JSON files");
  std::vector<InputText> texts;
  for (const InputText& file : files)
    texts.push_back(without_mark(file));
  std::string format = options.format;
  if (format.empty()) {
    ASSAY_TRY(format, detect(texts[0]));
  }
  if (format == "csv")
    return from_csv(texts, options);
  ASSAY_TRY(const Source source, source_of(format));
  if (!options.batch.empty() || !options.pair.empty())
    return fail(ErrorCode::invalid_argument, "--batch and --pair name columns of a CSV",
                texts[0].where);
  std::vector<std::vector<NamedSeries>> series;
  for (const InputText& file : texts) {
    ASSAY_TRY(auto one, source.parse(file));
    series.push_back(std::move(one));
  }
  if (texts.size() == 2)
    return from_two_files(source, series, texts, options);
  return from_one_file(source, series[0], texts[0], options);
}

}  // namespace assay::verdict
