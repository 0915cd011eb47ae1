#include "assay/verdict/sample.h"

#include "assay/base/json.h"
#include "assay/base/text.h"

#include <algorithm>
#include <limits>

namespace assay::verdict {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

// Writes nullable facts and keeps the rule "a null has a reason".
class LineWriter {
 public:
  explicit LineWriter(const Sample& sample) : reasons_(sample.reasons) {}

  template <typename T>
  void fact(const char* key, const std::optional<T>& value, const char* why_null) {
    if (value) {
      json_[key] = *value;
      return;
    }
    json_[key] = nullptr;
    reasons_.emplace(key, why_null);
  }
  Json& json() { return json_; }
  std::string finish() {
    if (!reasons_.empty())
      json_["reasons"] = reasons_;
    return canonical_json(json_);
  }

 private:
  Json json_ = Json::object();
  std::map<std::string, std::string> reasons_;
};

// Reads them back; a null without a reason is refused.
class LineReader {
 public:
  LineReader(const Json& json, const std::string& where) : reader_(json, where) {}

  Result<void> reasons(Sample& sample) {
    const Json* object = reader_.optional("reasons");
    if (object == nullptr)
      return {};
    if (!object->is_object())
      return tl::unexpected(reader_.error("reasons", "an object of reason codes"));
    for (const auto& [key, value] : object->items()) {
      if (!value.is_string())
        return tl::unexpected(reader_.error("reasons", "an object of reason codes"));
      sample.reasons[key] = value.get<std::string>();
    }
    reasons_ = &sample.reasons;
    return {};
  }
  Result<bool> absent(const std::string& key) {
    ASSAY_TRY(const Json* value, reader_.any(key));
    if (!value->is_null())
      return false;
    if (reasons_ == nullptr || reasons_->count(key) == 0)
      return tl::unexpected(reader_.error(key, "a value, or null with an entry in `reasons`"));
    return true;
  }
  Result<void> integer(const std::string& key, std::optional<std::int64_t>& into,
                       std::int64_t min = 0) {
    ASSAY_TRY(const bool null, absent(key));
    if (null)
      return {};
    ASSAY_TRY(into, reader_.integer(key, min, kMax));
    return {};
  }
  Result<void> number(const std::string& key, std::optional<double>& into) {
    ASSAY_TRY(const bool null, absent(key));
    if (null)
      return {};
    ASSAY_TRY(into, reader_.number(key));
    return {};
  }
  Result<void> digest(const std::string& key, std::optional<std::string>& into) {
    ASSAY_TRY(const bool null, absent(key));
    if (null)
      return {};
    ASSAY_TRY(into, reader_.text(key));
    const bool hex = into->size() == 64 && std::all_of(into->begin(), into->end(), [](char c) {
                       return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                     });
    if (!hex)
      return tl::unexpected(reader_.error(key, "64 lower-case hexadecimal digits"));
    return {};
  }
  Result<void> monotonic(const std::string& key, std::optional<std::int64_t>& into) {
    ASSAY_TRY(const bool null, absent(key));
    if (null)
      return {};
    ASSAY_TRY(const std::string text, reader_.text(key));
    auto value = parse_integer(text, 0, kMax, key);
    if (!value)
      return tl::unexpected(reader_.error(key, "nanoseconds as a string of digits"));
    into = *value;
    return {};
  }
  Result<void> metrics(std::map<std::string, double>& into) {
    const Json* object = reader_.optional("metrics");
    if (object == nullptr)
      return {};
    if (!object->is_object())
      return tl::unexpected(reader_.error("metrics", "an object of numbers"));
    for (const auto& [key, value] : object->items()) {
      if (!value.is_number())
        return tl::unexpected(reader_.error("metrics", "an object of numbers"));
      into[key] = value.get<double>();
    }
    return {};
  }
  ObjectReader& reader() { return reader_; }

 private:
  ObjectReader reader_;
  const std::map<std::string, std::string>* reasons_ = nullptr;
};

Result<void> read_identity(LineReader& line, Sample& s, const std::string& where) {
  ObjectReader& r = line.reader();
  ASSAY_TRY(s.seq, r.integer("seq", 0, kMax));
  ASSAY_TRY(s.batch, r.integer("batch", 0, kMax));
  ASSAY_TRY(s.pair, r.integer("pair", 0, kMax));
  ASSAY_TRY(s.position, r.integer("position", 0, 1));
  ASSAY_TRY(s.case_name, r.text("case"));
  ASSAY_TRY(const std::string side, r.text("side"));
  ASSAY_TRY(const std::string phase, r.text("phase"));
  ASSAY_TRY(s.status, r.text("status"));
  ASSAY_TRY(s.bound_hit, r.text("bound_hit"));
  ASSAY_TRY(s.signal, r.integer("signal", 0, 1024));
  ASSAY_TRY(s.descendants_left, r.integer("descendants_left", 0, kMax));
  const auto parsed_side = parse_side(side);
  const auto parsed_phase = parse_phase(phase);
  if (!parsed_side || !parsed_phase)
    return fail(ErrorCode::invalid_format,
                !parsed_side ? parsed_side.error().what : parsed_phase.error().what, where);
  s.side = *parsed_side;
  s.phase = *parsed_phase;
  return {};
}

Result<void> read_facts(LineReader& line, Sample& s) {
  ASSAY_TRY_VOID(line.integer("exit_code", s.exit_code, kMin));
  ASSAY_TRY_VOID(line.integer("elapsed_ns", s.elapsed_ns));
  ASSAY_TRY_VOID(line.integer("user_ns", s.user_ns));
  ASSAY_TRY_VOID(line.integer("system_ns", s.system_ns));
  ASSAY_TRY_VOID(line.integer("peak_rss_bytes", s.peak_rss_bytes));
  ASSAY_TRY_VOID(line.integer("minor_faults", s.minor_faults));
  ASSAY_TRY_VOID(line.integer("major_faults", s.major_faults));
  ASSAY_TRY_VOID(line.integer("voluntary_switches", s.voluntary_switches));
  ASSAY_TRY_VOID(line.integer("involuntary_switches", s.involuntary_switches));
  ASSAY_TRY_VOID(line.digest("stdout_sha256", s.stdout_sha256));
  ASSAY_TRY_VOID(line.digest("stderr_sha256", s.stderr_sha256));
  ASSAY_TRY_VOID(line.integer("stdout_bytes", s.stdout_bytes));
  ASSAY_TRY_VOID(line.integer("stderr_bytes", s.stderr_bytes));
  ASSAY_TRY_VOID(line.monotonic("start_monotonic_ns", s.start_monotonic_ns));
  ASSAY_TRY_VOID(line.number("load1", s.load1));
  ASSAY_TRY_VOID(line.number("steal_share", s.steal_share));
  return line.metrics(s.metrics);
}

bool failure_is_ignored(const Sample& sample, const Expectation& expectation) {
  if (expectation.ignore_all_failures)
    return true;
  return sample.signal == 0 && sample.exit_code &&
         std::any_of(expectation.ignored_exit_codes.begin(), expectation.ignored_exit_codes.end(),
                     [&](int code) { return code == *sample.exit_code; });
}

}  // namespace

std::string sample_line(const Sample& s) {
  constexpr const char* kAbsent = "not_available";
  LineWriter line(s);
  line.json() = {{"seq", s.seq},
                 {"batch", s.batch},
                 {"pair", s.pair},
                 {"case", s.case_name},
                 {"position", s.position},
                 {"side", side_name(s.side)},
                 {"status", s.status},
                 {"phase", phase_name(s.phase)},
                 {"signal", s.signal},
                 {"descendants_left", s.descendants_left},
                 {"bound_hit", s.bound_hit}};
  line.fact("exit_code", s.exit_code, s.signal != 0 ? "ended_by_signal" : kAbsent);
  line.fact("elapsed_ns", s.elapsed_ns, kAbsent);
  line.fact("user_ns", s.user_ns, kAbsent);
  line.fact("system_ns", s.system_ns, kAbsent);
  line.fact("peak_rss_bytes", s.peak_rss_bytes, kAbsent);
  line.fact("minor_faults", s.minor_faults, kAbsent);
  line.fact("major_faults", s.major_faults, kAbsent);
  line.fact("voluntary_switches", s.voluntary_switches, kAbsent);
  line.fact("involuntary_switches", s.involuntary_switches, kAbsent);
  line.fact("stdout_sha256", s.stdout_sha256, kAbsent);
  line.fact("stderr_sha256", s.stderr_sha256, kAbsent);
  line.fact("stdout_bytes", s.stdout_bytes, kAbsent);
  line.fact("stderr_bytes", s.stderr_bytes, kAbsent);
  line.fact("load1", s.load1, kAbsent);
  line.fact("steal_share", s.steal_share, kAbsent);
  line.fact("start_monotonic_ns",
            s.start_monotonic_ns ? std::optional<std::string>(std::to_string(*s.start_monotonic_ns))
                                 : std::nullopt,
            kAbsent);
  if (!s.metrics.empty())
    line.json()["metrics"] = s.metrics;
  return line.finish();
}

Result<Sample> parse_sample(std::string_view text, const std::string& where) {
  ASSAY_TRY(const Json json, parse_json(text, where));
  if (!json.is_object())
    return fail(ErrorCode::invalid_format, "expected an object", where);
  Sample s;
  LineReader line(json, where);
  ASSAY_TRY_VOID(line.reasons(s));
  ASSAY_TRY_VOID(read_identity(line, s, where));
  ASSAY_TRY_VOID(read_facts(line, s));
  ASSAY_TRY_VOID(line.reader().finish());
  // One run has one spelling: what the digests of the archive cover is what was judged.
  if (sample_line(s) != text)
    return fail(ErrorCode::invalid_format, "the sample is not canonical JSON", where);
  return s;
}

std::string_view rejection(const Sample& sample, const Expectation& expectation) {
  for (const std::string_view bad : {"launch_error", "timeout", "output_limit"})
    if (sample.status == bad)
      return bad;
  if (sample.status != "ok" &&
      !(sample.status == "failed" && failure_is_ignored(sample, expectation)))
    return "failed";
  if (expectation.stdout_sha256 && sample.stdout_sha256 != expectation.stdout_sha256)
    return "wrong_output";
  if (expectation.require_empty_stderr && sample.stderr_bytes != std::int64_t{0})
    return "noisy_stderr";
  return "";
}

}  // namespace assay::verdict
