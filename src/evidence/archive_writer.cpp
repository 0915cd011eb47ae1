#include "inventory.h"
#include "journal.h"

#include "assay/base/ids.h"
#include "assay/base/sha256.h"
#include "assay/base/text.h"
#include "assay/evidence/archive.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace assay::evidence {
namespace {

Json schema() {
  return {{"name", kArchiveSchema}, {"major", kArchiveMajor}, {"minor", kArchiveMinor}};
}

Error not_persisted(const Error& cause) {
  return Error{ErrorCode::not_persisted, "evidence not persisted: " + cause.what, cause.where};
}

std::string blob_directory(const std::string& digest) {
  return "blobs/sha256/" + digest.substr(0, 2);
}

std::string blob_name(const std::string& digest) {
  return blob_directory(digest) + "/" + digest;
}

}  // namespace

struct ArchiveWriter::State {
  State(std::string path, Journal log, AppendFile file)
      : root(std::move(path)), journal(std::move(log)), samples(std::move(file)) {}

  std::string root;
  std::string id;
  Journal journal;
  AppendFile samples;
  Sha256 samples_digest;
  std::int64_t runs_kept = 0;  // lines of samples.jsonl that are on disk
  // Every file that was written whole, by its name in the archive, with its digest.
  std::map<std::string, std::string> written;
  std::set<std::string> blob_directories;
  std::optional<Error> failure;  // sticky
  bool finalized = false;

  std::string at(const std::string& name) const { return root + "/" + name; }

  // Every call passes here first, and hands its result through keep() on the way out.
  Result<void> usable() const {
    if (failure)
      return tl::unexpected<Error>(*failure);
    if (finalized)
      return fail(ErrorCode::not_persisted, "evidence not persisted: the archive is closed", root);
    return {};
  }

  // A payload without a canonical form is the caller's to mend; everything else is final.
  template <typename T>
  Result<T> keep(Result<T> result) {
    if (result || result.error().code == ErrorCode::invalid_argument)
      return result;
    failure = not_persisted(result.error());
    failure->what += kept_text();
    return tl::unexpected<Error>(*failure);
  }

  // What the reader of an error can still use, and where it is.
  std::string kept_text() const {
    if (::access(samples.path().c_str(), F_OK) != 0)
      return "; nothing is kept in " + root;
    if (runs_kept == 0)
      return "; no run had been recorded yet in " + root;
    return "; kept in " + root + ": " + std::to_string(runs_kept) + " complete runs (" +
           std::to_string(runs_kept / 2) + " pairs)";
  }

  Result<void> append_pair(std::string_view lines, const PairAnchor& anchor) {
    ASSAY_TRY_VOID(samples.append(lines));
    ASSAY_TRY_VOID(samples.sync());
    runs_kept += std::count(lines.begin(), lines.end(), '\n');
    samples_digest.update(lines);
    return journal.append("pair_end", {{"batch", anchor.batch},
                                       {"pair", anchor.pair},
                                       {"last_seq", anchor.last_seq},
                                       {"samples_bytes", samples.size()},
                                       {"samples_sha256", samples_digest.snapshot_hex()}});
  }

  // Writes a file whole and remembers what it must hold.
  Result<void> write_file(const std::string& name, std::string_view bytes) {
    ASSAY_TRY_VOID(write_new_file(at(name), bytes));
    written.emplace(name, sha256_hex(bytes));
    return {};
  }

  Result<void> write_blob(const std::string& digest, std::string_view bytes) {
    const std::string directory = at(blob_directory(digest));
    if (blob_directories.count(directory) == 0) {
      // An archive that was removed must not come back as a directory of blobs.
      if (::access(samples.path().c_str(), F_OK) != 0)
        return tl::unexpected(
            system_error(ErrorCode::not_persisted, "the archive is gone", errno, root));
      ASSAY_TRY_VOID(make_directories(directory));
      blob_directories.insert(directory);
    }
    return write_file(blob_name(digest), bytes);
  }

  // What the file system gives back must be what was written, no more and no less: before a verdict
  // is derived from it, and before it is certified.
  Result<std::vector<InventoryEntry>> checked_inventory() const {
    ASSAY_TRY(std::vector<InventoryEntry> entries, take_inventory(root));
    std::size_t found = 0;
    for (const InventoryEntry& entry : entries) {
      if (entry.is_directory) {
        if (!is_own_directory(entry.path))
          return foreign(entry.path);
        continue;
      }
      const auto own = written.find(entry.path);
      if (own == written.end())
        return foreign(entry.path);
      if (own->second != entry.sha256)
        return fail(ErrorCode::io,
                    "the file does not hold what was written to it: something else changed it",
                    at(entry.path));
      ++found;
    }
    if (found != written.size())
      return fail(ErrorCode::io, "the file is gone: something else removed it",
                  at(first_missing(entries)));
    return entries;
  }

  bool is_own_directory(const std::string& name) const {
    return name == "blobs" || name == "blobs/sha256" || blob_directories.count(at(name)) != 0;
  }

  tl::unexpected<Error> foreign(const std::string& name) const {
    return fail(ErrorCode::io, "was not written by this campaign: move it out of the archive",
                at(printable(name)));
  }

  std::string first_missing(const std::vector<InventoryEntry>& entries) const {
    std::set<std::string> present;
    for (const InventoryEntry& entry : entries)
      present.insert(entry.path);
    for (const auto& [name, digest] : written)
      if (present.count(name) == 0)
        return name;
    return "";
  }

  Result<void> end_lines(std::string_view terminal_type, Json payload) {
    ASSAY_TRY_VOID(journal.append(terminal_type, std::move(payload)));
    ASSAY_TRY_VOID(samples.close());
    ASSAY_TRY_VOID(journal.close());
    written["samples.jsonl"] = samples_digest.snapshot_hex();
    written["events.jsonl"] = journal.digest();
    ASSAY_TRY_VOID(checked_inventory());
    return {};
  }

  Result<void> write_closing_files(const std::string& report) {
    ASSAY_TRY_VOID(write_file("report.json", report));
    ASSAY_TRY(const std::vector<InventoryEntry> entries, checked_inventory());
    const std::string inventory = inventory_text(entries);
    ASSAY_TRY_VOID(write_new_file(at("inventory.json"), inventory));
    return write_new_file(at("SHA256SUMS"), checksum_text(entries, sha256_hex(inventory)));
  }

  // No verdict stays behind when persisting failed; what was measured is left alone.
  void withdraw_closing_files() const {
    for (const char* name : {"SHA256SUMS", "inventory.json", "report.json"})
      ::unlink(at(name).c_str());
  }
};

ArchiveWriter::ArchiveWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
ArchiveWriter::~ArchiveWriter() = default;
ArchiveWriter::ArchiveWriter(ArchiveWriter&&) noexcept = default;
ArchiveWriter& ArchiveWriter::operator=(ArchiveWriter&&) noexcept = default;

const std::string& ArchiveWriter::id() const {
  return state_->id;
}
const std::string& ArchiveWriter::path() const {
  return state_->root;
}

namespace {

struct GoverningFile {
  const char* name;
  std::string bytes;
};

std::string parent_of(const std::string& path) {
  const std::size_t last = path.find_last_not_of('/');
  const std::size_t slash = path.find_last_of('/', last);
  return last == std::string::npos || slash == std::string::npos ? "" : path.substr(0, slash);
}

// The archive's own directory and those above it that are made for it. Until commit() they, and
// what is in the archive, go with the object: an archive that never began leaves no trace.
class NewRoot {
 public:
  explicit NewRoot(const std::string& path) {
    std::string at = parent_of(path);
    for (; !at.empty() && ::access(at.c_str(), F_OK) != 0; at = parent_of(at))
      made_.push_back(at);
  }
  ~NewRoot() {
    if (committed_)
      return;
    std::error_code ignored;
    if (!root_.empty())
      std::filesystem::remove_all(root_, ignored);
    for (const std::string& directory : made_)
      ::rmdir(directory.c_str());
  }
  NewRoot(const NewRoot&) = delete;
  NewRoot& operator=(const NewRoot&) = delete;

  Result<void> make(const std::string& path) {
    if (const std::string parent = parent_of(path); !parent.empty())
      ASSAY_TRY_VOID(make_directories(parent));
    ASSAY_TRY_VOID(make_directory(path));
    root_ = path;
    return {};
  }
  void commit() { committed_ = true; }

 private:
  std::vector<std::string> made_;  // missing before, the deepest first
  std::string root_;
  bool committed_ = false;
};

}  // namespace

Result<ArchiveWriter> ArchiveWriter::create(const std::string& path, const ArchiveHeader& header,
                                            const Json& policy, std::string_view plan_text,
                                            const Json& host) {
  ASSAY_CHECK(!plan_text.empty() && plan_text.back() == '\n', "a plan ends in a line feed");
  ASSAY_TRY(const std::string policy_bytes, try_canonical_json(policy, "policy.json"));
  ASSAY_TRY(const std::string host_bytes, try_canonical_json(host, "host.json"));
  const std::vector<GoverningFile> files = {{"policy.json", policy_bytes + "\n"},
                                            {"plan.json", std::string(plan_text)},
                                            {"host.json", host_bytes + "\n"}};
  Json digests = Json::object();
  for (const GoverningFile& file : files)
    digests[file.name] = sha256_hex(file.bytes);
  const std::string id = header.archive_id.empty() ? uuid_v4() : header.archive_id;
  const Json head = {{"schema", schema()},
                     {"kind", header.kind},
                     {"archive_id", id},
                     {"created_utc", utc_now()},
                     {"tool_version", header.tool_version},
                     {"digests", digests}};
  ASSAY_TRY(const std::string head_bytes, try_canonical_json(head, "header.json"));

  NewRoot root(path);
  const auto build = [&]() -> Result<std::unique_ptr<State>> {
    ASSAY_TRY_VOID(root.make(path));
    for (const GoverningFile& file : files)
      ASSAY_TRY_VOID(write_new_file(path + "/" + file.name, file.bytes));
    ASSAY_TRY_VOID(write_new_file(path + "/header.json", head_bytes + "\n"));
    ASSAY_TRY(AppendFile samples, AppendFile::create(path + "/samples.jsonl"));
    ASSAY_TRY(Journal journal, Journal::create(path + "/events.jsonl"));
    auto state = std::make_unique<State>(path, std::move(journal), std::move(samples));
    state->id = id;
    for (const GoverningFile& file : files)
      state->written[file.name] = digests[file.name].get<std::string>();
    state->written["header.json"] = sha256_hex(head_bytes + "\n");
    ASSAY_TRY_VOID(
        state->journal.append(kFirstEvent, {{"schema", schema()},
                                            {"archive_id", id},
                                            {"header_sha256", state->written["header.json"]},
                                            {"policy_sha256", digests["policy.json"]},
                                            {"plan_sha256", digests["plan.json"]},
                                            {"host_sha256", digests["host.json"]}}));
    ASSAY_TRY_VOID(state->journal.sync());
    return state;
  };
  Result<std::unique_ptr<State>> state = build();
  if (state) {
    root.commit();
    return ArchiveWriter(std::move(*state));
  }
  if (state.error().code == ErrorCode::already_exists)
    return tl::unexpected<Error>(state.error());
  return tl::unexpected<Error>(not_persisted(state.error()));
}

Result<void> ArchiveWriter::event(std::string_view type, Json payload) {
  ASSAY_CHECK(type != kFirstEvent && !is_terminal_event(type),
              "the first and the terminal event have calls of their own");
  ASSAY_TRY_VOID(state_->usable());
  return state_->keep(state_->journal.append(type, std::move(payload)));
}

Result<void> ArchiveWriter::append_samples(std::string_view lines, const PairAnchor& anchor) {
  ASSAY_CHECK(!lines.empty() && lines.back() == '\n', "samples are whole lines");
  ASSAY_TRY_VOID(state_->usable());
  return state_->keep(state_->append_pair(lines, anchor));
}

Result<std::string> ArchiveWriter::store_blob(std::string_view bytes) {
  ASSAY_TRY_VOID(state_->usable());
  std::string digest = sha256_hex(bytes);
  if (state_->written.count(blob_name(digest)) == 0)
    ASSAY_TRY_VOID(state_->keep(state_->write_blob(digest, bytes)));
  return digest;
}

Result<void> ArchiveWriter::add_calibration(const Json& calibration) {
  ASSAY_TRY_VOID(state_->usable());
  ASSAY_TRY(const std::string bytes, try_canonical_json(calibration, "calibration.json"));
  return state_->keep(state_->write_file("calibration.json", bytes + "\n"));
}

Result<void> ArchiveWriter::sync() {
  ASSAY_TRY_VOID(state_->usable());
  return state_->keep(state_->journal.sync());
}

Result<void> ArchiveWriter::finalize(std::string_view terminal_type, Json payload,
                                     const std::function<Result<Json>()>& derive_report) {
  ASSAY_CHECK(is_terminal_event(terminal_type), "not a terminal event");
  ASSAY_TRY_VOID(state_->usable());
  ASSAY_TRY_VOID(state_->keep(state_->end_lines(terminal_type, std::move(payload))));
  state_->finalized = true;
  ASSAY_TRY(const Json report, derive_report());
  ASSAY_TRY(const std::string bytes, try_canonical_json(report, "report.json"));
  const Result<void> closed = state_->keep(state_->write_closing_files(bytes + "\n"));
  if (!closed)
    state_->withdraw_closing_files();
  return closed;
}

}  // namespace assay::evidence
