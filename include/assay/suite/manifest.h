// The manifest of a suite: which programs are compared, how each is built, run, checked and judged.
// Format: docs/reference/manifest.md. Everything a campaign does follows from these bytes.
#pragma once

#include "assay/base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::suite {

inline constexpr char kManifestSchema[] = "assay.suite/1";

enum class Category { cpu, application, service };
enum class CaseStatus { runnable, pending_fixture };
enum class ControlledStatus { runnable, pending_capability };
// Where the executable is after a build: at {program}, or where cargo's messages say.
enum class Artifact { program, cargo };

std::string_view name_of(Category category);
std::string_view name_of(CaseStatus status);
std::string_view name_of(ControlledStatus status);

// A command line whose words may hold placeholders such as {source}; see
// docs/reference/manifest.md.
using Template = std::vector<std::string>;

// A compiler, interpreter or virtual machine, and how it is driven.
struct Toolchain {
  std::string name;
  std::string language;         // for people
  Template version;             // prints what it is
  std::vector<Template> build;  // in order; empty for an interpreter
  Template run;
  Artifact artifact = Artifact::program;
  std::map<std::string, std::string> environment;  // overrides, for building and running
  std::vector<std::string> packages;               // Debian packages that provide it
  // A version text that holds this marks a diagnostic build, which must not be timed.
  std::optional<std::string> instrumented_marker;
};

// One side of a case.
struct Side {
  std::string toolchain;
  std::string source;
  std::vector<std::string> flags;  // {flags} of the toolchain's build
};

struct Oracle {
  std::optional<std::string> text;  // the right output itself, or
  Template command;                 // what prints it
};

struct Input {
  std::optional<std::string> file;  // a pinned file, or
  Template generator;               // what writes {input}
  std::optional<std::string> sha256;
};

// A named set of parameter values: "full", "quick", "anchor" or "test".
using Parameters = std::map<std::string, std::string>;

struct Case {
  std::string name;
  Category category = Category::cpu;
  CaseStatus status = CaseStatus::pending_fixture;
  ControlledStatus controlled_status = ControlledStatus::pending_capability;
  std::string workload;
  std::optional<std::string> comparison_caveat;
  std::optional<std::string> prerequisite;
  std::vector<std::string> qualification_blockers;
  bool require_zero_live = false;
  // The rest holds for runnable cases only.
  Side candidate;
  Side reference;
  std::map<std::string, std::string> source_sha256;  // path -> lower-case hex
  Oracle oracle;
  std::optional<Input> input;
  Template arguments;  // of the program on both sides
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> bounds;  // parameter -> least, most
  std::map<std::string, Parameters> presets;
};

// Repetitions and limits of one preset.
struct Protocol {
  std::int64_t batches = 20;
  std::int64_t pairs = 6;
  std::int64_t warmups = 1;
};

// Caps of one column, as ratios of candidate to reference; absent ones are not gated.
struct GateColumn {
  std::optional<double> cpu_mean;
  std::optional<double> cpu_case;
  std::optional<double> live_allocation;
};

// What a campaign must have before its verdict can qualify.
struct Qualification {
  std::vector<std::string> requires_;  // cross_host, held_out, provenance, quiet_host, allocation
  std::int64_t batches = 10;
  std::int64_t pairs = 6;
  std::int64_t warmups = 1;
  std::int64_t draws = 2000;
  std::int64_t run_ns = 200000000;  // no run may be shorter
};

struct Manifest {
  std::string suite;
  std::string suite_version;
  std::int64_t seed = 0;
  std::int64_t draws = 2000;
  std::int64_t timeout_ns = 30000000000;
  std::int64_t output_bytes = 1048576;
  std::map<std::string, Toolchain> toolchains;
  std::map<std::string, Protocol> protocols;  // preset -> layout; holds "full"
  std::map<std::string, GateColumn> gates;    // column -> caps
  Qualification qualification;
  std::vector<Case> cases;  // sorted by name
  std::string sha256;       // of the file's bytes
  std::string directory;    // absolute; every path of the manifest is below it
};

// Reads and checks a manifest, and the digest of every file that it names. Errors name the file,
// the JSON pointer and the reason: invalid_format for what the text says, not_found and io for
// files.
Result<Manifest> load_manifest(const std::string& path);
// The same from text; `directory` holds the files. Does not look at them.
Result<Manifest> parse_manifest(const std::string& text, const std::string& where);
// Re-hashes the files of one case, as must be done just before they are built.
Result<void> check_fingerprints(const Manifest& manifest, const Case& one);

}  // namespace assay::suite
