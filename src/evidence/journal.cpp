#include "journal.h"

#include "assay/base/ids.h"
#include "assay/evidence/archive.h"

#include <algorithm>
#include <array>

namespace assay::evidence {
namespace {

constexpr std::array<std::string_view, 17> kEventTypes = {
    "archive_created", "campaign_started", "batch_started", "pair_started",
    "pair_end",        "batch_ended",      "look",          "setup",
    "cleanup",         "oracle",           "checkpoint",    "noise",
    "run_rejected",    "finished",         "interrupted",   "failed",
    "recovered"};

constexpr std::array<std::string_view, 6> kChainKeys = {"boot_id", "monotonic_ns", "prev",
                                                        "seq",     "type",         "utc"};

}  // namespace

bool is_event_type(std::string_view type) {
  return std::find(kEventTypes.begin(), kEventTypes.end(), type) != kEventTypes.end();
}

bool is_terminal_event(std::string_view type) {
  return type == "finished" || type == "interrupted" || type == "failed";
}

Journal::Journal(AppendFile file)
    : file_(std::move(file)), boot_id_(assay::boot_id()), previous_(64, '0') {}

Result<Journal> Journal::create(const std::string& path) {
  ASSAY_TRY(AppendFile file, AppendFile::create(path));
  return Journal(std::move(file));
}

Result<void> Journal::append(std::string_view type, Json payload) {
  ASSAY_CHECK(is_event_type(type), "the event type is not in the table");
  ASSAY_CHECK(payload.is_object(), "an event's payload is an object");
  for (const std::string_view key : kChainKeys)
    ASSAY_CHECK(!payload.contains(key), "a payload key is one of the chain's own");
  payload["boot_id"] = boot_id_;
  payload["monotonic_ns"] = std::to_string(monotonic_now().value);
  payload["prev"] = previous_;
  payload["seq"] = next_seq_;
  payload["type"] = type;
  payload["utc"] = utc_now();
  ASSAY_TRY(std::string line, try_canonical_json(payload, file_.path()));
  std::string digest = sha256_hex(line);
  line.push_back('\n');
  ASSAY_TRY_VOID(file_.append(line));
  digest_.update(line);
  previous_ = std::move(digest);
  ++next_seq_;
  return {};
}

}  // namespace assay::evidence
