#include "read_case.h"

#include "assay/base/sha256.h"
#include "assay/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace assay::suite {
namespace {

constexpr std::array<std::string_view, 4> kPresets = {"anchor", "full", "quick", "test"};
constexpr std::array<std::string_view, 3> kParameters = {"ASSAY_BENCH_ITERATIONS",
                                                         "ASSAY_BENCH_SIZE", "ASSAY_BENCH_STEPS"};
constexpr std::array<std::string_view, 6> kPlaceholders = {"source", "program", "build",
                                                           "case",   "input",   "scratch"};

// Placeholders that stand for a list must be a word of their own.
bool is_list_placeholder(std::string_view word) {
  return word == "{flags}" || word == "{arguments}";
}

bool braces_are_known(std::string_view word) {
  if (is_list_placeholder(word))
    return true;
  for (std::size_t at = 0; (at = word.find_first_of("{}", at)) != std::string_view::npos;) {
    const std::size_t end = word.find('}', at);
    if (word[at] == '}' || end == std::string_view::npos)
      return false;
    const std::string_view name = word.substr(at + 1, end - at - 1);
    if (std::find(kPlaceholders.begin(), kPlaceholders.end(), name) == kPlaceholders.end())
      return false;
    at = end + 1;
  }
  return true;
}

Result<void> check_words(const Fields& fields, const std::string& key, const Template& words) {
  for (const std::string& word : words)
    if (!braces_are_known(word))
      return tl::unexpected(fields.fault(
          key, "no such placeholder in " + printable(word, 60) +
                   ": {source}, {program}, {build}, {case}, {input}, {scratch}, or alone {flags}, "
                   "{arguments}"));
  return {};
}

Result<Template> read_template(Fields& fields, const std::string& key) {
  ASSAY_TRY(Template words, fields.texts(key));
  ASSAY_TRY_VOID(check_words(fields, key, words));
  return words;
}

Result<Template> read_command(Fields& fields, const std::string& key) {
  ASSAY_TRY(Template words, read_template(fields, key));
  if (words.empty())
    return tl::unexpected(fields.error(key, "a command: a list of words"));
  return words;
}

Result<std::vector<Template>> read_commands(Fields& fields, const std::string& key) {
  ASSAY_TRY(std::vector<Template> commands, fields.text_lists(key));
  for (const Template& words : commands) {
    if (words.empty())
      return tl::unexpected(fields.fault(key, "a command is a list of words"));
    ASSAY_TRY_VOID(check_words(fields, key, words));
  }
  return commands;
}

template <typename Enum, std::size_t N>
Result<Enum> read_enum(Fields& fields, const std::string& key,
                       const std::array<std::pair<std::string_view, Enum>, N>& values) {
  ASSAY_TRY(const std::string text, fields.reader().text(key));
  std::string names;
  for (const auto& [name, value] : values) {
    if (text == name)
      return value;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return tl::unexpected(fields.error(key, "one of " + names));
}

Result<Side> read_side(Fields& parent, const std::string& key, const Case& one,
                       const Manifest& manifest) {
  ASSAY_TRY(Fields fields, parent.object(key));
  Side side;
  ASSAY_TRY(side.toolchain, fields.text("toolchain"));
  if (manifest.toolchains.count(side.toolchain) == 0)
    return tl::unexpected(
        fields.fault("toolchain", "no such toolchain: " + printable(side.toolchain, 60)));
  ASSAY_TRY(side.source, fields.text("source"));
  if (one.source_sha256.count(side.source) == 0)
    return tl::unexpected(fields.fault(
        "source", printable(side.source, 120) + " has no fingerprint in source_sha256"));
  ASSAY_TRY(side.flags, fields.texts("flags"));
  ASSAY_TRY_VOID(fields.finish());
  return side;
}

Result<std::map<std::string, std::string>> read_fingerprints(Fields& fields) {
  ASSAY_TRY(auto digests, fields.text_map("source_sha256"));
  for (const auto& [path, digest] : digests) {
    if (!is_plain_path(path))
      return tl::unexpected(fields.fault_at(
          "source_sha256", path, "a path is relative to the manifest's folder and stays below it"));
    if (!is_sha256_hex(digest))
      return tl::unexpected(
          fields.fault_at("source_sha256", path, "expected 64 lower-case hexadecimal digits"));
  }
  return digests;
}

Result<Oracle> read_oracle(Fields& parent) {
  ASSAY_TRY(Fields fields, parent.object("oracle"));
  Oracle oracle;
  if (fields.reader().optional("text") != nullptr) {
    ASSAY_TRY(std::string text, fields.reader().text("text"));
    oracle.text = std::move(text);
  }
  ASSAY_TRY(oracle.command, read_template(fields, "command"));
  ASSAY_TRY_VOID(fields.finish());
  if (oracle.text.has_value() != oracle.command.empty())
    return tl::unexpected(parent.fault("oracle", "expected either text or command"));
  return oracle;
}

Result<std::optional<Input>> read_input(Fields& parent, const Case& one) {
  ASSAY_TRY(auto found, parent.optional_object("input"));
  if (!found)
    return std::nullopt;
  Input input;
  ASSAY_TRY(input.file, found->optional_text("file"));
  ASSAY_TRY(input.generator, read_template(*found, "generator"));
  ASSAY_TRY(input.sha256, found->optional_text("sha256"));
  ASSAY_TRY_VOID(found->finish());
  if (input.file.has_value() != input.generator.empty())
    return tl::unexpected(parent.fault("input", "expected either file or generator"));
  if (input.file && one.source_sha256.count(*input.file) == 0)
    return tl::unexpected(
        found->fault("file", printable(*input.file, 120) + " has no fingerprint in source_sha256"));
  if (input.sha256 && (!is_sha256_hex(*input.sha256) || input.file))
    return tl::unexpected(
        found->fault("sha256", "expected 64 lower-case hexadecimal digits, beside a generator"));
  return std::optional<Input>(std::move(input));
}

Result<void> read_bounds(Fields& parent, Case& one) {
  ASSAY_TRY(auto fields, parent.optional_object("bounds"));
  if (!fields)
    return {};
  for (const std::string_view name : kParameters) {
    const std::string key(name);
    if (fields->reader().optional(key) == nullptr)
      continue;
    ASSAY_TRY(const Json* pair, fields->reader().array(key));
    const bool good = pair->size() == 2 && (*pair)[0].is_number_integer() &&
                      (*pair)[1].is_number_integer() && (*pair)[0] >= 1 &&
                      (*pair)[1] >= (*pair)[0] && (*pair)[1] <= INT64_MAX;
    if (!good)
      return tl::unexpected(fields->error(key, "[least, most], both from 1"));
    one.bounds[key] = {(*pair)[0].get<std::int64_t>(), (*pair)[1].get<std::int64_t>()};
  }
  return fields->finish();
}

Result<void> check_value(const Fields& preset, const std::string& key, const std::string& value,
                         const std::pair<std::int64_t, std::int64_t>& bounds) {
  const bool digits = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
  const bool within = digits && parse_integer(value, bounds.first, bounds.second, key).has_value();
  if (!within)
    return tl::unexpected(preset.error(
        key, fmt::format("ASCII digits from \"{}\" to \"{}\"", bounds.first, bounds.second)));
  return {};
}

Result<void> read_presets(Fields& parent, Case& one, const Manifest& manifest) {
  ASSAY_TRY(auto presets, parent.members("presets"));
  for (auto& [name, fields] : presets) {
    if (manifest.protocols.count(name) == 0)
      return tl::unexpected(parent.fault_at("presets", name, "/protocols has no such preset"));
    Parameters values;
    for (const auto& [key, bounds] : one.bounds) {
      ASSAY_TRY(values[key], fields.reader().text(key));
      ASSAY_TRY_VOID(check_value(fields, key, values[key], bounds));
    }
    ASSAY_TRY_VOID(fields.finish());
    one.presets[name] = std::move(values);
  }
  for (const auto& [name, protocol] : manifest.protocols)
    if (one.presets.count(name) == 0)
      return tl::unexpected(parent.fault("presets", "the preset \"" + name + "\" is missing"));
  return {};
}

Result<void> read_runnable(Fields& fields, Case& one, const Manifest& manifest) {
  ASSAY_TRY(one.source_sha256, read_fingerprints(fields));
  ASSAY_TRY(one.candidate, read_side(fields, "candidate", one, manifest));
  ASSAY_TRY(one.reference, read_side(fields, "reference", one, manifest));
  ASSAY_TRY(one.oracle, read_oracle(fields));
  ASSAY_TRY(one.input, read_input(fields, one));
  ASSAY_TRY(one.arguments, read_template(fields, "arguments"));
  ASSAY_TRY_VOID(read_bounds(fields, one));
  return read_presets(fields, one, manifest);
}

}  // namespace

bool is_preset(std::string_view name) {
  return std::find(kPresets.begin(), kPresets.end(), name) != kPresets.end();
}

std::string preset_list() {
  return fmt::format("{}", fmt::join(kPresets, ", "));
}

Result<Toolchain> read_toolchain(const std::string& name, Fields& fields) {
  Toolchain result;
  result.name = name;
  ASSAY_TRY(result.language, fields.text("language"));
  ASSAY_TRY(result.version, read_command(fields, "version"));
  ASSAY_TRY(result.build, read_commands(fields, "build"));
  ASSAY_TRY(result.run, read_command(fields, "run"));
  if (fields.reader().optional("artifact") != nullptr) {
    ASSAY_TRY(
        result.artifact,
        (read_enum<Artifact, 2>(fields, "artifact",
                                {{{"program", Artifact::program}, {"cargo", Artifact::cargo}}})));
  }
  ASSAY_TRY(result.environment, fields.text_map("environment"));
  ASSAY_TRY(result.packages, fields.texts("packages"));
  ASSAY_TRY(result.instrumented_marker, fields.optional_text("instrumented_marker"));
  ASSAY_TRY_VOID(fields.finish());
  return result;
}

Result<Case> read_case(const std::string& name, Fields& fields, const Manifest& manifest) {
  Case one;
  one.name = name;
  ASSAY_TRY(one.category, (read_enum<Category, 3>(fields, "category",
                                                  {{{"cpu", Category::cpu},
                                                    {"application", Category::application},
                                                    {"service", Category::service}}})));
  ASSAY_TRY(one.status,
            (read_enum<CaseStatus, 2>(fields, "status",
                                      {{{"runnable", CaseStatus::runnable},
                                        {"pending_fixture", CaseStatus::pending_fixture}}})));
  ASSAY_TRY(one.controlled_status,
            (read_enum<ControlledStatus, 2>(
                fields, "controlled_status",
                {{{"runnable", ControlledStatus::runnable},
                  {"pending_capability", ControlledStatus::pending_capability}}})));
  ASSAY_TRY(one.workload, fields.text("workload"));
  ASSAY_TRY(one.comparison_caveat, fields.optional_text("comparison_caveat"));
  ASSAY_TRY(one.prerequisite, fields.optional_text("prerequisite"));
  ASSAY_TRY(one.qualification_blockers, fields.texts("qualification_blockers"));
  ASSAY_TRY(one.require_zero_live, fields.boolean_or("require_zero_live", false));
  if (one.status == CaseStatus::runnable) {
    ASSAY_TRY_VOID(read_runnable(fields, one, manifest));
  }
  ASSAY_TRY_VOID(fields.finish());
  return one;
}

}  // namespace assay::suite
