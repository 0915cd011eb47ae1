#include "assay/suite/manifest.h"

#include "fields.h"
#include "read_case.h"

#include "assay/base/files.h"
#include "assay/base/json.h"
#include "assay/base/sha256.h"
#include "assay/base/text.h"

#include <fmt/format.h>

#include <cmath>
#include <limits.h>
#include <stdlib.h>

namespace assay::suite {
namespace {

constexpr std::int64_t kMostSeed = (INT64_C(1) << 53) - 1;
constexpr std::int64_t kMostDraws = 1000000;
constexpr std::int64_t kMostTimeoutMs = 86400000;
constexpr std::int64_t kMostOutputBytes = INT64_C(1) << 30;
constexpr std::int64_t kMostRepetitions = 10000;
constexpr std::int64_t kMostManifestBytes = 8 << 20;

Result<std::map<std::string, Protocol>> read_protocols(Fields& root) {
  std::map<std::string, Protocol> result;
  ASSAY_TRY(auto members, root.members("protocols"));
  for (auto& [name, fields] : members) {
    if (!is_preset(name))
      return tl::unexpected(root.fault_at("protocols", name, "no such preset: " + preset_list()));
    Protocol protocol;
    ASSAY_TRY(protocol.batches, fields.reader().integer("batches", 1, kMostRepetitions));
    ASSAY_TRY(protocol.pairs, fields.reader().integer("pairs", 1, kMostRepetitions));
    ASSAY_TRY(protocol.warmups, fields.reader().integer("warmups", 0, kMostRepetitions));
    ASSAY_TRY_VOID(fields.finish());
    result[name] = protocol;
  }
  if (result.count("full") == 0)
    return tl::unexpected(root.fault("protocols", "the preset \"full\" is missing"));
  return result;
}

Result<std::optional<double>> read_cap(Fields& fields, const std::string& key) {
  if (fields.reader().optional(key) == nullptr)
    return std::nullopt;
  ASSAY_TRY(const double cap, fields.reader().number(key));
  if (!(cap > 0) || !std::isfinite(cap))
    return tl::unexpected(fields.error(key, "a ratio above 0"));
  return std::optional<double>(cap);
}

Result<std::map<std::string, GateColumn>> read_gates(Fields& root) {
  std::map<std::string, GateColumn> result;
  ASSAY_TRY(auto members, root.members("gates"));
  for (auto& [name, fields] : members) {
    if (name != "idiomatic" && name != "controlled")
      return tl::unexpected(root.fault_at("gates", name, "a column is idiomatic or controlled"));
    GateColumn column;
    ASSAY_TRY(column.cpu_mean, read_cap(fields, "cpu_mean"));
    ASSAY_TRY(column.cpu_case, read_cap(fields, "cpu_case"));
    ASSAY_TRY(column.live_allocation, read_cap(fields, "live_allocation"));
    ASSAY_TRY_VOID(fields.finish());
    result[name] = column;
  }
  return result;
}

Result<Qualification> read_qualification(Fields& root) {
  Qualification result;
  ASSAY_TRY(Fields fields, root.object("qualification"));
  ASSAY_TRY(result.requires_, fields.texts("requires"));
  for (const std::string& one : result.requires_) {
    if (one != "cross_host" && one != "held_out" && one != "provenance" && one != "quiet_host" &&
        one != "allocation")
      return tl::unexpected(fields.fault("requires", "no such requirement: " + printable(one, 60)));
  }
  ASSAY_TRY(result.batches, fields.integer_or("batches", 1, kMostRepetitions, result.batches));
  ASSAY_TRY(result.pairs, fields.integer_or("pairs", 1, kMostRepetitions, result.pairs));
  ASSAY_TRY(result.warmups, fields.integer_or("warmups", 0, kMostRepetitions, result.warmups));
  ASSAY_TRY(result.draws, fields.integer_or("draws", 1, kMostDraws, result.draws));
  ASSAY_TRY(const std::int64_t run_ms, fields.integer_or("run_ms", 0, kMostTimeoutMs, 200));
  result.run_ns = run_ms * 1000000;
  ASSAY_TRY_VOID(fields.finish());
  return result;
}

Result<void> read_numbers(Fields& root, Manifest& manifest) {
  ASSAY_TRY(manifest.seed, root.reader().integer("seed", 0, kMostSeed));
  ASSAY_TRY(manifest.draws, root.integer_or("draws", 1, kMostDraws, manifest.draws));
  ASSAY_TRY(const std::int64_t timeout_ms,
            root.integer_or("timeout_ms", 1, kMostTimeoutMs, manifest.timeout_ns / 1000000));
  manifest.timeout_ns = timeout_ms * 1000000;
  ASSAY_TRY(manifest.output_bytes,
            root.integer_or("output_bytes", 1, kMostOutputBytes, manifest.output_bytes));
  return {};
}

// `path` below `directory`, with every symbolic link of it followed, must still be below.
Result<std::string> resolve_below(const std::string& directory, const std::string& path,
                                  const std::string& where) {
  const std::string full = directory + "/" + path;
  char resolved[PATH_MAX];
  if (realpath(full.c_str(), resolved) == nullptr)
    return tl::unexpected(
        system_error(ErrorCode::not_found, where + ": cannot be read", errno, printable(full)));
  const std::string_view found(resolved);
  if (found.substr(0, directory.size() + 1) != directory + "/")
    return fail(ErrorCode::invalid_format, where + ": a symbolic link leads out of the folder",
                printable(full));
  return std::string(found);
}

}  // namespace

std::string_view name_of(Category category) {
  switch (category) {
    case Category::cpu:
      return "cpu";
    case Category::application:
      return "application";
    case Category::service:
      return "service";
  }
  return "";
}

std::string_view name_of(CaseStatus status) {
  return status == CaseStatus::runnable ? "runnable" : "pending_fixture";
}

std::string_view name_of(ControlledStatus status) {
  return status == ControlledStatus::runnable ? "runnable" : "pending_capability";
}

Result<Manifest> parse_manifest(const std::string& text, const std::string& where) {
  ASSAY_TRY(const Json json, parse_json(text, where));
  Fields root(json, where, "");
  Manifest manifest;
  ASSAY_TRY(const std::string schema, root.reader().text("schema"));
  if (schema != kManifestSchema)
    return tl::unexpected(root.error("schema", fmt::format("\"{}\"", kManifestSchema)));
  ASSAY_TRY(manifest.suite, root.text("suite"));
  ASSAY_TRY(manifest.suite_version, root.text("suite_version"));
  ASSAY_TRY_VOID(read_numbers(root, manifest));
  ASSAY_TRY(manifest.protocols, read_protocols(root));
  ASSAY_TRY(manifest.gates, read_gates(root));
  ASSAY_TRY(manifest.qualification, read_qualification(root));
  ASSAY_TRY(auto toolchains, root.members("toolchains"));
  for (auto& [name, fields] : toolchains) {
    ASSAY_TRY(manifest.toolchains[name], read_toolchain(name, fields));
  }
  ASSAY_TRY(auto cases, root.members("cases"));
  if (cases.empty())
    return tl::unexpected(root.error("cases", "at least one case"));
  for (auto& [name, fields] : cases) {
    ASSAY_TRY(Case one, read_case(name, fields, manifest));
    manifest.cases.push_back(std::move(one));
  }
  ASSAY_TRY_VOID(root.finish());
  manifest.sha256 = sha256_hex(text);
  return manifest;
}

Result<void> check_fingerprints(const Manifest& manifest, const Case& one) {
  for (const auto& [path, wanted] : one.source_sha256) {
    const std::string where = "/cases/" + one.name + "/source_sha256/" + pointer_token(path);
    ASSAY_TRY(const std::string resolved, resolve_below(manifest.directory, path, where));
    ASSAY_TRY(const std::string found, sha256_file(resolved));
    if (found != wanted)
      return fail(ErrorCode::invalid_format,
                  fmt::format("{}: the file has SHA-256 {}, not {}: restore it, or raise "
                              "suite_version and pin what it is now",
                              printable(where), found, wanted),
                  printable(path));
  }
  return {};
}

Result<Manifest> load_manifest(const std::string& path) {
  ASSAY_TRY(const std::string text, read_file(path, kMostManifestBytes));
  ASSAY_TRY(Manifest manifest, parse_manifest(text, printable(path)));
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr)
    return tl::unexpected(
        system_error(ErrorCode::not_found, "cannot be resolved", errno, printable(path)));
  const std::string full(resolved);
  manifest.directory = full.substr(0, full.rfind('/'));
  for (const Case& one : manifest.cases) {
    ASSAY_TRY_VOID(check_fingerprints(manifest, one));
  }
  return manifest;
}

}  // namespace assay::suite
