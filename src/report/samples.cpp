// Exports of every single run: CSV, and the JSON that hyperfine's plot scripts read.
#include "view.h"

#include "assay/base/text.h"
#include "assay/report/render.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace assay::report {
namespace {

// The sample keys, in the order of docs/reference/samples.md; units are in the names.
constexpr const char* kColumns[] = {"seq",
                                    "batch",
                                    "pair",
                                    "case",
                                    "side",
                                    "position",
                                    "phase",
                                    "status",
                                    "exit_code",
                                    "signal",
                                    "bound_hit",
                                    "elapsed_ns",
                                    "user_ns",
                                    "system_ns",
                                    "peak_rss_bytes",
                                    "minor_faults",
                                    "major_faults",
                                    "voluntary_switches",
                                    "involuntary_switches",
                                    "stdout_sha256",
                                    "stderr_sha256",
                                    "stdout_bytes",
                                    "stderr_bytes",
                                    "descendants_left",
                                    "start_monotonic_ns",
                                    "load1",
                                    "steal_share",
                                    "metrics",
                                    "reasons"};
constexpr const char* kUnreadable = "unreadable_sample";

std::string csv_quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos)
    return text;
  std::string out = "\"";
  for (const char c : text)
    out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// A text that a spreadsheet would run as a formula gets an apostrophe in front.
std::string text_cell(const std::string& text) {
  const bool formula =
      !text.empty() && std::string_view("=+-@\t\r\n|").find(text[0]) != std::string_view::npos;
  std::string guarded(formula ? 1 : 0, '\'');
  guarded += text;
  return csv_quoted(guarded);
}

std::string cell(const Json& value) {
  if (value.is_string())
    return text_cell(sanitize_utf8(value.get_ref<const std::string&>()));
  if (value.is_number_float())
    return std::isfinite(value.get<double>()) ? format_double(value.get<double>()) : "";
  if (value.is_null())
    return "";
  return csv_quoted(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Json parsed(const std::string& line) {
  auto value = parse_json(line, "samples.jsonl");
  return value && value->is_object() ? std::move(*value) : Json();
}

struct Runs {
  std::vector<double> times, user, system;
  std::vector<std::int64_t> rss;
  std::vector<Json> exit_codes;
};

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values)
    sum += v;
  return sum / static_cast<double>(values.size());
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Json stddev_of(const std::vector<double>& values) {
  if (values.size() < 2)
    return nullptr;
  const double mean = mean_of(values);
  double sum = 0;
  for (const double v : values)
    sum += (v - mean) * (v - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

// Which runs a report accepted. The list of rejected runs is bounded: where it was cut, nothing is
// known about the runs after its last entry, and those are left out.
class Acceptance {
 public:
  explicit Acceptance(const Json& report) {
    const Json& list = array_at(report, {"rejected_runs"});
    for (const Json& run : list)
      if (const auto seq = integer_at(run, {"seq"}))
        rejected_.insert(*seq);
    const auto count = integer_at(report, {"rejected_count"});
    if (!count || *count > static_cast<std::int64_t>(rejected_.size()))
      last_known_ = rejected_.empty() ? -1 : *rejected_.rbegin();
  }

  bool accepts(const Json& sample) const {
    const auto seq = integer_at(sample, {"seq"});
    return seq && *seq <= last_known_ && rejected_.count(*seq) == 0 &&
           text_at(sample, {"phase"}) == "measurement" &&
           integer_at(sample, {"elapsed_ns"}).value_or(0) > 0;
  }

 private:
  std::set<std::int64_t> rejected_;
  std::int64_t last_known_ = std::numeric_limits<std::int64_t>::max();
};

void add_run(Runs& runs, const Json& sample) {
  const auto keep = [&sample](std::vector<double>& to, const char* key, double unit) {
    if (const auto value = integer_at(sample, {key}))
      to.push_back(static_cast<double>(*value) / unit);
  };
  keep(runs.times, "elapsed_ns", 1e9);
  keep(runs.user, "user_ns", 1e9);
  keep(runs.system, "system_ns", 1e9);
  if (const auto bytes = integer_at(sample, {"peak_rss_bytes"}))
    runs.rss.push_back(*bytes);
  const auto code = integer_at(sample, {"exit_code"});
  runs.exit_codes.push_back(code ? Json(*code) : Json());
}

// Mean of a figure that every run has; null otherwise: a mean of some runs is another figure.
Json full_mean(const std::vector<double>& values, std::size_t runs) {
  return values.size() == runs ? Json(mean_of(values)) : Json();
}

Json result_of(const Json& case_value, const char* side_key, const Runs& runs) {
  const Json& side = at(case_value, {side_key});
  const std::vector<std::string> argv = texts_at(side, {"argv"});
  Json out = Json::object();
  out["command"] = sanitize_utf8(argv.empty() ? text_at(side, {"name"}) : join_command(argv));
  out["mean"] = mean_of(runs.times);
  out["stddev"] = stddev_of(runs.times);
  out["median"] = median_of(runs.times);
  out["user"] = full_mean(runs.user, runs.times.size());
  out["system"] = full_mean(runs.system, runs.times.size());
  out["min"] = *std::min_element(runs.times.begin(), runs.times.end());
  out["max"] = *std::max_element(runs.times.begin(), runs.times.end());
  out["times"] = runs.times;
  out["exit_codes"] = runs.exit_codes;
  if (runs.rss.size() == runs.times.size())
    out["memory_usage_byte"] = runs.rss;
  Json parameters = Json::object();
  const Json& declared = at(case_value, {"parameters"});
  if (declared.is_object())
    for (const auto& item : declared.items())
      if (item.value().is_string())
        parameters[sanitize_utf8(item.key())] =
            sanitize_utf8(item.value().get_ref<const std::string&>());
  out["parameters"] = std::move(parameters);
  return out;
}

}  // namespace

std::string csv(const std::vector<std::string>& samples) {
  std::string out;
  const auto row = [&out](const auto& cell_of) {
    for (const char* column : kColumns) {
      out += cell_of(column);
      out += ',';
    }
    out.pop_back();
    out += "\r\n";
  };
  row([](const char* column) { return std::string(column); });
  for (const std::string& line : samples) {
    Json sample = parsed(line);
    if (sample.is_null())
      sample = Json{{"status", kUnreadable}};
    row([&sample](const char* column) { return cell(at(sample, {column})); });
  }
  return out;
}

std::string hyperfine_json(const Json& report, const std::vector<std::string>& samples) {
  const Acceptance acceptance(report);
  std::map<std::pair<std::string, std::string>, Runs> by_side;
  for (const std::string& line : samples) {
    const Json sample = parsed(line);
    if (acceptance.accepts(sample))
      add_run(by_side[{text_at(sample, {"case"}), text_at(sample, {"side"})}], sample);
  }
  Json results = Json::array();
  for (const Json& case_value : array_at(report, {"cases"}))
    for (const char* side : {"reference", "candidate"}) {
      const auto found = by_side.find({text_at(case_value, {"name"}), side});
      if (found != by_side.end())
        results.push_back(result_of(case_value, side, found->second));
    }
  return canonical_json(Json{{"results", std::move(results)}}) + "\n";
}

}  // namespace assay::report
