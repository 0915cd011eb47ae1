// An archive: one campaign's evidence directory. Format: docs/reference/archive.md.
//
// This layer knows files, JSON and hashes; what samples and reports mean is `verdict`'s business.
// Every failure to persist is final: that call and all later ones fail with not_persisted
// ("evidence not persisted: ..."), and nothing is overwritten. Not thread safe.
#pragma once

#include "assay/base/json.h"
#include "assay/base/result.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::evidence {

inline constexpr const char* kArchiveSchema = "assay.archive";
inline constexpr int kArchiveMajor = 1;
inline constexpr int kArchiveMinor = 0;

struct ArchiveHeader {
  std::string kind;  // "comparison", "calibration", ...
  std::string tool_version;
  std::string archive_id = {};  // a UUIDv4 that names the place too; "" = a fresh one
};

// What a file of an archive holds.
struct FileDigest {
  std::int64_t size = 0;
  std::string sha256;
};
using FileDigests = std::map<std::string, FileDigest>;  // by name in the archive

class ArchiveReader;

class ArchiveWriter {
 public:
  // Creates `path` (must not exist, else already_exists; parents are created) with policy.json,
  // plan.json, host.json, header.json, an empty samples.jsonl and the journal's first line (schema,
  // archive id and the digests of those documents). plan_text is written byte for byte: it is
  // canonical JSON and ends in LF. invalid_argument when a document has no canonical form.
  static Result<ArchiveWriter> create(const std::string& path, const ArchiveHeader& header,
                                      const Json& policy, std::string_view plan_text,
                                      const Json& host);
  ~ArchiveWriter();
  ArchiveWriter(ArchiveWriter&&) noexcept;
  ArchiveWriter& operator=(ArchiveWriter&&) noexcept;

  const std::string& id() const;
  const std::string& path() const;

  // Journal line {seq, prev, utc, monotonic_ns, boot_id, type, ...payload}. `type` must be in the
  // closed table, and neither the first nor a terminal one. A payload that has no canonical form
  // (bytes that are no UTF-8) is invalid_argument; the archive stays usable.
  Result<void> event(std::string_view type, Json payload = Json::object());
  // Appends canonical JSON lines (one per sample, in order, each with its LF) as one write, then
  // one fdatasync, then the event pair_end{batch, pair, last_seq, samples_bytes, samples_sha256}
  // (not synced).
  struct PairAnchor {
    std::int64_t batch = 0;
    std::int64_t pair = 0;
    std::int64_t last_seq = 0;
  };
  Result<void> append_samples(std::string_view lines, const PairAnchor& anchor);
  // Stores bytes once under blobs/sha256/aa/<digest>, durable on return; returns the digest.
  Result<std::string> store_blob(std::string_view bytes);
  // Adds calibration.json: the host's calibration record that the report cites. At most once.
  Result<void> add_calibration(const Json& calibration);
  // fdatasync of the journal: at batch ends and state changes.
  Result<void> sync();

  // Of every file that was written (not of inventory.json and SHA256SUMS), of the line files up to
  // now.
  FileDigests digests() const;
  // Reads back what was written, and nothing else: see ArchiveReader::open_verified.
  Result<ArchiveReader> reader() const;
  // `cause` as an error of this archive: not persisted, and what is kept where.
  Error not_kept(const Error& cause) const;

  // Appends the terminal event ("finished" | "interrupted" | "failed", with payload), closes both
  // line files durably and reads them back, then writes report.json (canonical + LF),
  // inventory.json and SHA256SUMS, all durable. `derive_report` reads the archive through reader();
  // its errors are failures to persist too. After such a failure no report.json of ours stays
  // behind. The writer is unusable afterwards.
  Result<void> finalize(std::string_view terminal_type, Json payload,
                        const std::function<Result<Json>()>& derive_report);

 private:
  struct State;
  explicit ArchiveWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Reads what `verdict` needs; streams the line files. Checks JSON strictness, not digests (that is
// audit), except that a blob must have the digest that names it.
class ArchiveReader {
 public:
  // not_found; invalid_format when it is no archive; unsupported for another schema version.
  static Result<ArchiveReader> open(const std::string& path);
  // The same, for files that must hold what `expected` says: each of the calls below fails when it
  // read anything else, and for a file that is not named there. What `line` of for_each_line was
  // given may be used only after that call succeeded.
  static Result<ArchiveReader> open_verified(const std::string& path, FileDigests expected);

  const std::string& path() const { return path_; }
  // header.json, policy.json, ...: canonical JSON with a final LF, except manifest.json, which is
  // any strict JSON.
  Result<Json> document(const std::string& name) const;
  Result<std::string> bytes(const std::string& name) const;
  // Calls `line` with each LF-terminated line (without LF) of events.jsonl or samples.jsonl, and
  // its number from 1. A torn last line is invalid_format naming file and line.
  Result<void> for_each_line(
      const std::string& name,
      const std::function<Result<void>(std::string_view, std::int64_t)>& line) const;
  Result<std::string> blob(const std::string& digest) const;

 private:
  ArchiveReader(std::string path, std::optional<FileDigests> expected)
      : path_(std::move(path)), expected_(std::move(expected)) {}
  static Result<ArchiveReader> checked(ArchiveReader reader);
  Result<const FileDigest*> expected(const std::string& name) const;
  std::string path_;
  std::optional<FileDigests> expected_;
};

// The closed table of journal event types.
bool is_event_type(std::string_view type);

// RFC 6962 Merkle root over leaves (0x00 prefix on leaves, 0x01 on nodes), 64 hex characters.
std::string merkle_root(const std::vector<std::string>& leaves);

}  // namespace assay::evidence
