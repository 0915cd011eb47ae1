// Parsers of other tools' JSON exports.
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/verdict/inputs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

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

// A member that is a string, or absent.
Result<std::string> text_or(const Json& object, const std::string& key,
                            const std::string& otherwise, const InputText& file,
                            const std::string& pointer) {
  if (!object.is_object() || !object.contains(key))
    return otherwise;
  if (!object.at(key).is_string())
    return tl::unexpected(
        at(file, pointer + "/" + key,
           "expected a string, found " + printable(canonical_json(object.at(key)), 60)));
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

}  // namespace

Result<std::vector<NamedSeries>> parse_hyperfine(const InputText& file) {
  ASSAY_TRY(const Json json, parse_json(file.text, file.where));
  ASSAY_TRY(const Json* results, array_of(json, "results", file, ""));
  std::vector<NamedSeries> out;
  for (std::size_t i = 0; i < results->size(); ++i) {
    const std::string pointer = element("/results", i);
    const Json& result = (*results)[i];
    ASSAY_TRY(const Json* times, array_of(result, "times", file, pointer));
    NamedSeries series{.name = "", .unit = "s", .values = {}};
    ASSAY_TRY(series.name, text_or(result, "command", pointer, file, pointer));
    ASSAY_TRY(series.values, times_of(*times, file, pointer + "/times"));
    out.push_back(std::move(series));
  }
  return out;
}

Result<std::vector<NamedSeries>> parse_google_benchmark(const InputText& file) {
  ASSAY_TRY(const Json json, parse_json(file.text, file.where));
  ASSAY_TRY(const Json* entries, array_of(json, "benchmarks", file, ""));
  std::vector<NamedSeries> out;
  std::optional<bool> units_given;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const std::string pointer = element("/benchmarks", i);
    const Json& entry = (*entries)[i];
    ASSAY_TRY(const std::string plain_name, text_or(entry, "name", "", file, pointer));
    ASSAY_TRY(const std::string name, text_or(entry, "run_name", plain_name, file, pointer));
    if (name.empty())
      return tl::unexpected(at(file, pointer + "/name", "expected a name"));
    // Versions before 1.5 have no run_type: there an aggregate is an entry with aggregate_name.
    ASSAY_TRY(const std::string type, text_or(entry, "run_type", "iteration", file, pointer));
    const bool iteration = type == "iteration" && !entry.contains("aggregate_name");
    const bool broken = entry.contains("error_occurred") && entry.at("error_occurred") == true;
    if (!iteration || broken)
      continue;
    if (!entry.contains("real_time"))
      return tl::unexpected(at(file, pointer + "/real_time", "expected a time"));
    ASSAY_TRY(const double time, time_of(entry.at("real_time"), file, pointer + "/real_time"));
    // A file of an old version may lack units altogether; one entry without is a damaged one.
    const bool has_unit = entry.contains("time_unit");
    if (units_given.value_or(has_unit) != has_unit)
      return tl::unexpected(at(file, pointer + "/time_unit",
                               has_unit ? "entries before this one have no unit, this one has"
                                        : "this entry has no unit, those before it have one"));
    units_given = has_unit;
    ASSAY_TRY(const std::string unit_name, text_or(entry, "time_unit", "ns", file, pointer));
    ASSAY_TRY(const double unit, nanoseconds_per(unit_name, file, pointer));
    const auto known =
        std::find_if(out.begin(), out.end(), [&](const NamedSeries& s) { return s.name == name; });
    if (known == out.end())
      out.push_back({name, has_unit ? "ns" : "", {time * unit}});
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
  ASSAY_TRY(const std::string common, text_or(metadata(json), "name", "", file, "/metadata"));
  ASSAY_TRY(const std::string unit, text_or(metadata(json), "unit", "second", file, "/metadata"));
  std::vector<NamedSeries> out;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const std::string pointer = element("/benchmarks", i);
    const Json& entry = (*entries)[i];
    const std::string fallback = common.empty() ? pointer : common;
    const std::string at_metadata = pointer + "/metadata";
    NamedSeries series;
    ASSAY_TRY(series.name, text_or(metadata(entry), "name", fallback, file, at_metadata));
    ASSAY_TRY(series.unit, text_or(metadata(entry), "unit", unit, file, at_metadata));
    if (series.unit == "second")
      series.unit = "s";
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

}  // namespace assay::verdict
