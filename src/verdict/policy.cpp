#include "assay/verdict/policy.h"

#include <limits>

namespace assay::verdict {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

template <typename T>
Json nullable(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json command_json(const CommandRecord& c) {
  return {{"name", c.name}, {"argv", c.argv}, {"program_sha256", c.program_sha256}};
}

Json case_json(const CasePolicy& c) {
  return {{"name", c.name},
          {"reference", command_json(c.reference)},
          {"candidate", command_json(c.candidate)},
          {"parameters", c.parameters},
          {"oracle_sha256", nullable(c.oracle_sha256)}};
}

// Readers of values that ObjectReader has no getter for. `null` is allowed where the type is
// optional.
class Fields {
 public:
  Fields(const Json& json, const std::string& where, const std::string& pointer)
      : reader_(json, where, pointer) {}
  ObjectReader& reader() { return reader_; }

  Result<std::optional<double>> ratio(const std::string& key) {
    ASSAY_TRY(const Json* value, reader_.any(key));
    if (value->is_null())
      return std::nullopt;
    if (!value->is_number() || value->get<double>() < 0)
      return tl::unexpected(reader_.error(key, "a number >= 0 or null"));
    return value->get<double>();
  }
  Result<std::optional<std::string>> text_or_null(const std::string& key) {
    ASSAY_TRY(const Json* value, reader_.any(key));
    if (value->is_null())
      return std::nullopt;
    if (!value->is_string())
      return tl::unexpected(reader_.error(key, "a string or null"));
    return value->get<std::string>();
  }
  Result<std::vector<std::string>> texts(const std::string& key) {
    ASSAY_TRY(const Json* value, reader_.array(key));
    std::vector<std::string> out;
    for (const Json& item : *value) {
      if (!item.is_string())
        return tl::unexpected(reader_.error(key, "an array of strings"));
      out.push_back(item.get<std::string>());
    }
    return out;
  }
  Result<std::vector<int>> integers(const std::string& key) {
    ASSAY_TRY(const Json* value, reader_.array(key));
    std::vector<int> out;
    for (const Json& item : *value) {
      if (!item.is_number_integer() || item.get<std::int64_t>() < -1'000'000 ||
          item.get<std::int64_t>() > 1'000'000)
        return tl::unexpected(reader_.error(key, "an array of integers"));
      out.push_back(item.get<int>());
    }
    return out;
  }
  Result<std::map<std::string, std::string>> text_map(const std::string& key) {
    ASSAY_TRY(const Json* value, reader_.object(key));
    std::map<std::string, std::string> out;
    for (const auto& [name, item] : value->items()) {
      if (!item.is_string())
        return tl::unexpected(reader_.error(key, "an object of strings"));
      out[name] = item.get<std::string>();
    }
    return out;
  }

 private:
  ObjectReader reader_;
};

Result<CommandRecord> parse_command(const Json& json, const std::string& where,
                                    const std::string& pointer) {
  Fields fields(json, where, pointer);
  CommandRecord c;
  ASSAY_TRY(c.name, fields.reader().text("name"));
  ASSAY_TRY(c.argv, fields.texts("argv"));
  ASSAY_TRY(c.program_sha256, fields.reader().text("program_sha256"));
  ASSAY_TRY_VOID(fields.reader().finish());
  return c;
}

Result<CasePolicy> parse_case(const Json& json, const std::string& where,
                              const std::string& pointer) {
  if (!json.is_object())
    return fail(ErrorCode::invalid_format, "expected an object", where + pointer);
  Fields fields(json, where, pointer);
  CasePolicy c;
  ASSAY_TRY(c.name, fields.reader().text("name"));
  ASSAY_TRY(const Json* reference, fields.reader().object("reference"));
  ASSAY_TRY(const Json* candidate, fields.reader().object("candidate"));
  ASSAY_TRY(c.reference, parse_command(*reference, where, pointer + "/reference"));
  ASSAY_TRY(c.candidate, parse_command(*candidate, where, pointer + "/candidate"));
  ASSAY_TRY(c.parameters, fields.text_map("parameters"));
  ASSAY_TRY(c.oracle_sha256, fields.text_or_null("oracle_sha256"));
  ASSAY_TRY_VOID(fields.reader().finish());
  return c;
}

Result<Gates> parse_gates(const Json& json, const std::string& where) {
  Fields fields(json, where, "/gates");
  Gates gates;
  ASSAY_TRY(gates.wall_cap, fields.ratio("wall_cap"));
  ASSAY_TRY(gates.cpu_cap, fields.ratio("cpu_cap"));
  ASSAY_TRY(gates.rss_cap, fields.ratio("rss_cap"));
  ASSAY_TRY(gates.tail, fields.reader().boolean("tail"));
  ASSAY_TRY_VOID(fields.reader().finish());
  for (const auto& cap : {gates.wall_cap, gates.cpu_cap, gates.rss_cap})
    if (cap && *cap <= 0)
      return fail(ErrorCode::invalid_format, "a cap is a ratio > 0", where + " /gates");
  return gates;
}

Result<void> parse_cases(Fields& fields, ComparePolicy& p, const std::string& where) {
  ASSAY_TRY(const Json* cases, fields.reader().array("cases"));
  for (std::size_t i = 0; i < cases->size(); ++i) {
    ASSAY_TRY(CasePolicy c, parse_case((*cases)[i], where, "/cases/" + std::to_string(i)));
    p.cases.push_back(std::move(c));
  }
  return {};
}

Result<void> parse_statistics(Fields& fields, ComparePolicy& p, const std::string& where) {
  ASSAY_TRY(const Json* gates, fields.reader().object("gates"));
  ASSAY_TRY(p.gates, parse_gates(*gates, where));
  ASSAY_TRY(p.level, fields.reader().number("level"));
  if (!(p.level > 0 && p.level < 1))
    return tl::unexpected(fields.reader().error("level", "a number between 0 and 1"));
  ASSAY_TRY(p.bootstrap_draws, fields.reader().integer("bootstrap_draws", 1, 10'000'000));
  ASSAY_TRY(p.adaptive, fields.reader().boolean("adaptive"));
  ASSAY_TRY(p.smallest_difference, fields.ratio("smallest_difference"));
  return {};
}

Result<void> parse_validation(Fields& fields, ComparePolicy& p) {
  ASSAY_TRY(p.oracle_kind, fields.reader().text("oracle_kind"));
  ASSAY_TRY(p.require_empty_stderr, fields.reader().boolean("require_empty_stderr"));
  ASSAY_TRY(p.ignore_all_failures, fields.reader().boolean("ignore_all_failures"));
  ASSAY_TRY(p.ignored_exit_codes, fields.integers("ignored_exit_codes"));
  return {};
}

Result<void> parse_hooks(Fields& fields, ComparePolicy& p, const std::string& where) {
  ASSAY_TRY(const Json* hooks, fields.reader().object("hooks"));
  for (const auto& [name, value] : hooks->items()) {
    Fields one(*hooks, where, "/hooks");
    ASSAY_TRY(p.hooks[name], one.texts(name));
  }
  return {};
}

Result<void> parse_execution(Fields& fields, ComparePolicy& p, const std::string& where) {
  ASSAY_TRY(const Json* timeout, fields.reader().any("timeout_ns"));
  if (!timeout->is_null()) {
    ASSAY_TRY(p.timeout_ns, fields.reader().integer("timeout_ns", 1, kMax));
  }
  ASSAY_TRY(p.stdout_bound_bytes, fields.reader().integer("stdout_bound_bytes", 0, kMax));
  ASSAY_TRY(p.stderr_bound_bytes, fields.reader().integer("stderr_bound_bytes", 0, kMax));
  ASSAY_TRY(p.output_mode, fields.reader().text("output_mode"));
  ASSAY_TRY(p.shell, fields.reader().text("shell"));
  ASSAY_TRY(p.cpus, fields.integers("cpus"));
  ASSAY_TRY(p.environment, fields.text_map("environment"));
  if (fields.reader().optional("hook_timeout_ns") != nullptr) {
    ASSAY_TRY(p.hook_timeout_ns, fields.reader().integer("hook_timeout_ns", 1, kMax));
  }
  ASSAY_TRY(p.input, fields.reader().text("input"));
  ASSAY_TRY(p.input_sha256, fields.text_or_null("input_sha256"));
  return parse_hooks(fields, p, where);
}

}  // namespace

Json host_bounds_json(const HostBounds& bounds) {
  return {{"load1", bounds.load1}, {"steal_share", bounds.steal_share}};
}

Result<std::optional<HostBounds>> parse_host_bounds(const Json& policy, const std::string& where) {
  if (!policy.is_object() || !policy.contains("host_bounds"))
    return std::nullopt;
  if (!policy.at("host_bounds").is_object())
    return fail(ErrorCode::invalid_format, "expected an object", where + " /host_bounds");
  ObjectReader reader(policy.at("host_bounds"), where, "/host_bounds");
  HostBounds bounds;
  ASSAY_TRY(bounds.load1, reader.number("load1"));
  ASSAY_TRY(bounds.steal_share, reader.number("steal_share"));
  ASSAY_TRY_VOID(reader.finish());
  return bounds;
}

Json policy_json(const ComparePolicy& p) {
  Json cases = Json::array();
  for (const CasePolicy& c : p.cases)
    cases.push_back(case_json(c));
  Json json = {{"schema", {{"name", "assay.policy.compare"}, {"major", 1}, {"minor", 0}}},
               {"cases", cases},
               {"gates",
                {{"wall_cap", nullable(p.gates.wall_cap)},
                 {"cpu_cap", nullable(p.gates.cpu_cap)},
                 {"rss_cap", nullable(p.gates.rss_cap)},
                 {"tail", p.gates.tail}}},
               {"level", p.level},
               {"bootstrap_draws", p.bootstrap_draws},
               {"adaptive", p.adaptive},
               {"smallest_difference", nullable(p.smallest_difference)},
               {"oracle_kind", p.oracle_kind},
               {"require_empty_stderr", p.require_empty_stderr},
               {"ignore_all_failures", p.ignore_all_failures},
               {"ignored_exit_codes", p.ignored_exit_codes},
               {"timeout_ns", nullable(p.timeout_ns)},
               {"stdout_bound_bytes", p.stdout_bound_bytes},
               {"stderr_bound_bytes", p.stderr_bound_bytes},
               {"output_mode", p.output_mode},
               {"shell", p.shell},
               {"cpus", p.cpus},
               {"environment", p.environment},
               {"hooks", p.hooks},
               {"input", p.input},
               {"input_sha256", nullable(p.input_sha256)}};
  if (p.hook_timeout_ns)
    json["hook_timeout_ns"] = *p.hook_timeout_ns;
  if (p.host_bounds)
    json["host_bounds"] = host_bounds_json(*p.host_bounds);
  return json;
}

Result<ComparePolicy> parse_compare_policy(const Json& json, const std::string& where) {
  if (!json.is_object())
    return fail(ErrorCode::invalid_format, "expected an object", where);
  Fields fields(json, where, "");
  ComparePolicy p;
  ASSAY_TRY(const Json* schema, fields.reader().object("schema"));
  if (*schema != Json{{"name", "assay.policy.compare"}, {"major", 1}, {"minor", 0}})
    return fail(ErrorCode::unsupported,
                "not_rederivable_by_this_version: policy schema " + schema->dump(), where);
  ASSAY_TRY_VOID(parse_cases(fields, p, where));
  ASSAY_TRY_VOID(parse_statistics(fields, p, where));
  ASSAY_TRY_VOID(parse_validation(fields, p));
  ASSAY_TRY_VOID(parse_execution(fields, p, where));
  [[maybe_unused]] const Json* bounds = fields.reader().optional("host_bounds");
  ASSAY_TRY(p.host_bounds, parse_host_bounds(json, where));
  ASSAY_TRY_VOID(fields.reader().finish());
  return p;
}

Expectation expectation_of(const ComparePolicy& policy, const CasePolicy& case_policy) {
  return {.stdout_sha256 = case_policy.oracle_sha256,
          .require_empty_stderr = policy.require_empty_stderr,
          .ignore_all_failures = policy.ignore_all_failures,
          .ignored_exit_codes = policy.ignored_exit_codes};
}

}  // namespace assay::verdict
