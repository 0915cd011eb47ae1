// events.jsonl: a hash chain of canonical JSON lines. Format: docs/reference/archive.md.
#pragma once

#include "assay/base/files.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/base/sha256.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::evidence {

// The type that only the writer itself may append first.
inline constexpr std::string_view kFirstEvent = "archive_created";
bool is_terminal_event(std::string_view type);

// The writing end. Errors of the file come through unchanged; a payload without a canonical form is
// invalid_argument and leaves the journal as it was.
class Journal {
 public:
  static Result<Journal> create(const std::string& path);

  // `payload` is an object without any of the chain's own keys.
  Result<void> append(std::string_view type, Json payload);
  Result<void> sync() { return file_.sync(); }
  Result<void> close() { return file_.close(); }

  // SHA-256 of everything appended so far.
  std::string digest() const { return digest_.snapshot_hex(); }
  std::int64_t size() const { return file_.size(); }

 private:
  explicit Journal(AppendFile file);
  AppendFile file_;
  Sha256 digest_;
  std::string boot_id_;
  std::string previous_;
  std::int64_t next_seq_ = 0;
};

}  // namespace assay::evidence
