#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/verdict/inputs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace assay::verdict {
namespace {

Error at(const InputText& file, const std::string& pointer, const std::string& what) {
  return {ErrorCode::invalid_format, what, file.where + " " + pointer};
}

std::string element(std::string array, std::size_t i) {
  array += '/';
  array += std::to_string(i);
  return array;
}

Result<double> time_of(const Json& value, const InputText& file, const std::string& pointer) {
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() <= 0)
    return tl::unexpected(at(file, pointer, "expected a time > 0, found " + value.dump()));
  if (!in_time_range(value.get<double>()))
    return tl::unexpected(at(file, pointer, std::string(kTimeRange) + ", found " + value.dump()));
  return value.get<double>();
}

// A member that must be a non-empty array.
Result<const Json*> array_of(const Json& object, const std::string& key, const InputText& file,
                             const std::string& pointer) {
  if (!object.is_object() || !object.contains(key) || !object.at(key).is_array() ||
      object.at(key).empty())
    return tl::unexpected(at(file, pointer + "/" + key, "expected a non-empty array"));
  return &object.at(key);
}

std::string text_or(const Json& object, const std::string& key, const std::string& otherwise) {
  if (!object.is_object() || !object.contains(key) || !object.at(key).is_string())
    return otherwise;
  return object.at(key).get<std::string>();
}

Result<std::vector<double>> times_of(const Json& values, const InputText& file,
                                     const std::string& pointer) {
  std::vector<double> out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSAY_TRY(const double time, time_of(values[i], file, element(pointer, i)));
    out.push_back(time);
  }
  return out;
}

Result<double> nanoseconds_per(const std::string& unit, const InputText& file,
                               const std::string& pointer) {
  const std::map<std::string, double> units = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  const auto it = units.find(unit);
  if (it == units.end())
    return tl::unexpected(at(file, pointer + "/time_unit", "expected ns, us, ms or s"));
  return it->second;
}

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

Result<const NamedSeries*> pick(const std::vector<NamedSeries>& series, const std::string& name,
                                const std::string& flag, const InputText& file) {
  const NamedSeries* found = nullptr;
  for (const NamedSeries& one : series) {
    if (one.name != name)
      continue;
    if (found != nullptr)
      return fail(ErrorCode::invalid_format, "benchmark '" + printable(name, 60) + "' occurs twice",
                  file.where);
    found = &one;
  }
  if (found == nullptr)
    return fail(ErrorCode::invalid_argument,
                "no benchmark '" + printable(name, 60) + "' for " + flag + "; the file holds " +
                    name_list(series),
                file.where);
  return found;
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

AnalyzeData unpaired(const std::string& source, const std::string& name,
                     const NamedSeries& reference, const NamedSeries& candidate) {
  AnalyzeData data;
  data.source = source;
  data.name = sanitize_utf8(name);
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
    if (&one != reference && (only == nullptr || only == &one))
      input.cases.push_back(unpaired(source.name, one.name, *reference, one));
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
    input.cases.push_back(unpaired(source.name, candidate_name, *reference, *candidate));
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
    input.cases.push_back(unpaired(source.name, one.name, *reference, *candidate));
  }
  for (const NamedSeries& one : both[1])
    if (in_first.count(one.name) == 0)
      input.unmatched.push_back(sanitize_utf8(one.name));
  if (input.cases.empty() && both[0].size() == 1 && both[1].size() == 1) {
    input.unmatched.clear();
    input.cases.push_back(unpaired(source.name, both[1][0].name, both[0][0], both[1][0]));
  }
  if (input.cases.empty())
    return fail(ErrorCode::invalid_format,
                "the two files share no benchmark name: " + name_list(both[0]) + " against " +
                    name_list(both[1]) + "; use --reference NAME and --candidate NAME",
                files[1].where);
  return input;
}

Result<std::string> detect(const InputText& file) {
  const std::size_t first = file.text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || file.text[first] != '{')
    return "csv";
  ASSAY_TRY(const Json json, parse_json(file.text, file.where));
  if (json.contains("results"))
    return "hyperfine";
  if (json.contains("benchmarks") && json.contains("context"))
    return "google-benchmark";
  if (json.contains("benchmarks"))
    return "pyperf";
  return fail(ErrorCode::invalid_format,
              "JSON of an unknown tool: expected hyperfine (results), Google Benchmark (context, "
              "benchmarks) or pyperf (benchmarks)",
              file.where);
}

}  // namespace

std::vector<std::string> input_formats() {
  return {"csv", "hyperfine", "google-benchmark", "pyperf"};
}

Result<std::vector<NamedSeries>> parse_hyperfine(const InputText& file) {
  ASSAY_TRY(const Json json, parse_json(file.text, file.where));
  ASSAY_TRY(const Json* results, array_of(json, "results", file, ""));
  std::vector<NamedSeries> out;
  for (std::size_t i = 0; i < results->size(); ++i) {
    const std::string pointer = element("/results", i);
    const Json& result = (*results)[i];
    ASSAY_TRY(const Json* times, array_of(result, "times", file, pointer));
    NamedSeries series{text_or(result, "command", pointer), {}};
    ASSAY_TRY(series.values, times_of(*times, file, pointer + "/times"));
    out.push_back(std::move(series));
  }
  return out;
}

Result<std::vector<NamedSeries>> parse_google_benchmark(const InputText& file) {
  ASSAY_TRY(const Json json, parse_json(file.text, file.where));
  ASSAY_TRY(const Json* entries, array_of(json, "benchmarks", file, ""));
  std::vector<NamedSeries> out;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const std::string pointer = element("/benchmarks", i);
    const Json& entry = (*entries)[i];
    const std::string plain_name = text_or(entry, "name", "");
    const std::string name = text_or(entry, "run_name", plain_name);
    if (name.empty())
      return tl::unexpected(at(file, pointer + "/name", "expected a name"));
    // Versions before 1.5 have no run_type: there an aggregate is an entry with aggregate_name.
    const bool iteration =
        text_or(entry, "run_type", "iteration") == "iteration" && !entry.contains("aggregate_name");
    const bool broken = entry.contains("error_occurred") && entry.at("error_occurred") == true;
    if (!iteration || broken)
      continue;
    if (!entry.contains("real_time"))
      return tl::unexpected(at(file, pointer + "/real_time", "expected a time"));
    ASSAY_TRY(const double time, time_of(entry.at("real_time"), file, pointer + "/real_time"));
    ASSAY_TRY(const double unit, nanoseconds_per(text_or(entry, "time_unit", "ns"), file, pointer));
    const auto known =
        std::find_if(out.begin(), out.end(), [&](const NamedSeries& s) { return s.name == name; });
    if (known == out.end())
      out.push_back({name, {time * unit}});
    else
      known->values.push_back(time * unit);
  }
  if (out.empty())
    return fail(ErrorCode::invalid_format,
                "only aggregates: repeat with --benchmark_report_aggregates_only=false",
                file.where);
  return out;
}

Result<std::vector<NamedSeries>> parse_pyperf(const InputText& file) {
  ASSAY_TRY(const Json json, parse_json(file.text, file.where));
  ASSAY_TRY(const Json* entries, array_of(json, "benchmarks", file, ""));
  const auto metadata = [](const Json& object) {
    return object.is_object() ? object.value("metadata", Json::object()) : Json::object();
  };
  const std::string common = text_or(metadata(json), "name", "");
  std::vector<NamedSeries> out;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const std::string pointer = element("/benchmarks", i);
    const Json& entry = (*entries)[i];
    const std::string fallback = common.empty() ? pointer : common;
    NamedSeries series{text_or(metadata(entry), "name", fallback), {}};
    ASSAY_TRY(const Json* runs, array_of(entry, "runs", file, pointer));
    for (std::size_t r = 0; r < runs->size(); ++r) {
      const Json& run = (*runs)[r];
      // A calibration run has warm-ups only.
      if (!run.is_object() || !run.contains("values"))
        continue;
      const std::string place = element(pointer + "/runs", r) + "/values";
      if (!run.at("values").is_array())
        return tl::unexpected(at(file, place, "expected an array"));
      ASSAY_TRY(const auto values, times_of(run.at("values"), file, place));
      series.values.insert(series.values.end(), values.begin(), values.end());
    }
    if (series.values.empty())
      return tl::unexpected(at(file, pointer + "/runs", "no run has values"));
    out.push_back(std::move(series));
  }
  return out;
}

Result<AnalyzeInput> parse_analyze_input(const std::vector<InputText>& files,
                                         const InputOptions& options) {
  if (files.empty() || files.size() > 2)
    return fail(ErrorCode::invalid_argument, "expected one file, or two JSON files");
  std::string format = options.format;
  if (format.empty()) {
    ASSAY_TRY(format, detect(files[0]));
  }
  if (format == "csv") {
    if (files.size() == 2)
      return fail(ErrorCode::invalid_argument, "a pairs CSV holds both sides: give one file only",
                  files[1].where);
    ASSAY_TRY(AnalyzeData data, parse_pairs_csv(files[0], options));
    AnalyzeInput input;
    input.cases.push_back(std::move(data));
    return input;
  }
  ASSAY_TRY(const Source source, source_of(format));
  if (!options.batch.empty() || !options.pair.empty())
    return fail(ErrorCode::invalid_argument, "--batch and --pair name columns of a CSV",
                files[0].where);
  std::vector<std::vector<NamedSeries>> series;
  for (const InputText& file : files) {
    ASSAY_TRY(auto one, source.parse(file));
    series.push_back(std::move(one));
  }
  if (files.size() == 2)
    return from_two_files(source, series, files, options);
  return from_one_file(source, series[0], files[0], options);
}

}  // namespace assay::verdict
