#include "archive_root.h"
#include "inventory.h"
#include "journal.h"

#include "assay/base/ids.h"
#include "assay/base/sha256.h"
#include "assay/base/text.h"
#include "assay/evidence/archive.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace assay::evidence {
namespace {

Json schema() {
  return {{"name", kArchiveSchema}, {"major", kArchiveMajor}, {"minor", kArchiveMinor}};
}

Error not_persisted(const Error& cause) {
  return Error{ErrorCode::not_persisted, "evidence not persisted: " + cause.what, cause.where};
}

std::string blob_name(const std::string& digest) {
  return "blobs/sha256/" + digest.substr(0, 2) + "/" + digest;
}

}  // namespace

struct ArchiveWriter::State {
  State(std::unique_ptr<ArchiveRoot> directory, Journal log, AppendFile file)
      : root(std::move(directory)), journal(std::move(log)), samples(std::move(file)) {}

  std::unique_ptr<ArchiveRoot> root;
  std::string id;
  Journal journal;
  AppendFile samples;
  Sha256 samples_digest;
  std::int64_t runs_kept = 0;    // lines of samples.jsonl that are on disk
  std::optional<Error> failure;  // sticky
  bool finalized = false;

  // Every call passes here first, and hands its result through keep() on the way out.
  Result<void> usable() const {
    if (failure)
      return tl::unexpected<Error>(*failure);
    if (finalized)
      return fail(ErrorCode::not_persisted, "evidence not persisted: the archive is closed",
                  root->path());
    return {};
  }

  // A payload without a canonical form is the caller's to mend; everything else is final.
  template <typename T>
  Result<T> keep(Result<T> result) {
    if (result || result.error().code == ErrorCode::invalid_argument)
      return result;
    return keep_final(std::move(result));
  }

  // When nothing is left to mend.
  template <typename T>
  Result<T> keep_final(Result<T> result) {
    if (result)
      return result;
    failure = worded(result.error());
    return tl::unexpected<Error>(*failure);
  }

  Error worded(const Error& cause) const {
    Error error = not_persisted(cause);
    error.what += kept_text();
    return error;
  }

  // What the reader of an error can still use, and where it is.
  std::string kept_text() const {
    const std::string place = root->current_path();
    if (!root->has("samples.jsonl"))
      return "; nothing is kept in " + root->path();
    if (runs_kept == 0)
      return "; no run had been recorded yet in " + (place.empty() ? "it" : printable(place));
    const std::string runs =
        std::to_string(runs_kept) + " complete runs (" + std::to_string(runs_kept / 2) + " pairs)";
    if (place.empty())
      return "; " + runs + " are kept where its directory was moved to";
    return "; kept in " + place + ": " + runs;
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

  FileDigest samples_content() const { return {samples.size(), samples_digest.snapshot_hex()}; }
  FileDigest journal_content() const { return {journal.size(), journal.digest()}; }

  FileDigests digests() const {
    FileDigests all;
    for (const auto& [name, node] : root->own())
      if (!node.is_directory)
        all[name] = node.content;
    all["samples.jsonl"] = samples_content();
    all["events.jsonl"] = journal_content();
    for (const char* name : {"inventory.json", "SHA256SUMS"})
      all.erase(name);
    return all;
  }

  // What the file system gives back must be what was written, no more and no less: before a verdict
  // is derived from it, and before it is certified.
  Result<void> end_lines(std::string_view terminal_type, Json payload) {
    ASSAY_TRY_VOID(journal.append(terminal_type, std::move(payload)));
    ASSAY_TRY_VOID(samples.close());
    ASSAY_TRY_VOID(journal.close());
    root->set_content("samples.jsonl", samples_content());
    root->set_content("events.jsonl", journal_content());
    ASSAY_TRY_VOID(root->inventory());
    return {};
  }

  Result<void> close_with(const std::function<Result<Json>()>& derive_report) {
    ASSAY_TRY(const Json report, derive_report());
    ASSAY_TRY(const std::string bytes, try_canonical_json(report, "report.json"));
    ASSAY_TRY_VOID(root->write_file("report.json", bytes + "\n"));
    ASSAY_TRY(const std::vector<InventoryEntry> entries, root->inventory());
    const std::string inventory = inventory_text(entries);
    ASSAY_TRY_VOID(root->write_file("inventory.json", inventory));
    ASSAY_TRY_VOID(root->write_file("SHA256SUMS", checksum_text(entries, sha256_hex(inventory))));
    return root->check_place();
  }

  // No verdict stays behind when persisting failed; what was measured is left alone.
  void withdraw_closing_files() const {
    for (const char* name : {"SHA256SUMS", "inventory.json", "report.json"})
      root->withdraw(name);
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
  return state_->root->path();
}

namespace {

struct GoverningFile {
  const char* name;
  std::string bytes;
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

  const auto build = [&]() -> Result<std::unique_ptr<State>> {
    auto root = std::make_unique<ArchiveRoot>(path);
    ASSAY_TRY_VOID(root->make());
    for (const GoverningFile& file : files)
      ASSAY_TRY_VOID(root->write_file(file.name, file.bytes));
    ASSAY_TRY_VOID(root->write_file("header.json", head_bytes + "\n"));
    ASSAY_TRY(AppendFile samples, AppendFile::create(path + "/samples.jsonl"));
    ASSAY_TRY_VOID(root->adopt_file("samples.jsonl"));
    ASSAY_TRY(Journal journal, Journal::create(path + "/events.jsonl"));
    ASSAY_TRY_VOID(root->adopt_file("events.jsonl"));
    auto state = std::make_unique<State>(std::move(root), std::move(journal), std::move(samples));
    state->id = id;
    ASSAY_TRY_VOID(
        state->journal.append(kFirstEvent, {{"schema", schema()},
                                            {"archive_id", id},
                                            {"header_sha256", sha256_hex(head_bytes + "\n")},
                                            {"policy_sha256", digests["policy.json"]},
                                            {"plan_sha256", digests["plan.json"]},
                                            {"host_sha256", digests["host.json"]}}));
    ASSAY_TRY_VOID(state->journal.sync());
    ASSAY_TRY_VOID(state->root->check_place());
    return state;
  };
  Result<std::unique_ptr<State>> state = build();
  if (state) {
    (*state)->root->commit();
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
  const std::string name = blob_name(digest);
  if (state_->root->own().count(name) == 0)
    ASSAY_TRY_VOID(state_->keep(state_->root->write_file(name, bytes)));
  return digest;
}

Result<void> ArchiveWriter::add_calibration(const Json& calibration) {
  ASSAY_TRY_VOID(state_->usable());
  ASSAY_TRY(const std::string bytes, try_canonical_json(calibration, "calibration.json"));
  return state_->keep(state_->root->write_file("calibration.json", bytes + "\n"));
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
  // The words of an error come last: what they say is kept must be true afterwards.
  const Result<void> closed = state_->close_with(derive_report);
  if (!closed)
    state_->withdraw_closing_files();
  return state_->keep_final(closed);
}

FileDigests ArchiveWriter::digests() const {
  return state_->digests();
}

Result<ArchiveReader> ArchiveWriter::reader() const {
  return ArchiveReader::open_verified(path(), digests());
}

Error ArchiveWriter::not_kept(const Error& cause) const {
  return state_->worded(cause);
}

}  // namespace assay::evidence
