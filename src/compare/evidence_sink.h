// Where a campaign's evidence goes: an archive, or memory with --no-archive. Both give the deriver
// the same inputs.
#pragma once

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/compare/campaign.h"
#include "assay/evidence/archive.h"
#include "assay/verdict/report.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::compare {

class EvidenceSink final : public CampaignEvidence {
 public:
  struct Contents {
    verdict::ComparePolicy policy;
    verdict::Plan plan;
    Json host;
    std::string tool_version;
    std::string archive_id = {};
    std::optional<Json> calibration = std::nullopt;  // this host's record, for calibration.json
  };
  // `path` nullopt = memory. Errors as ArchiveWriter::create.
  static Result<EvidenceSink> open(const std::optional<std::string>& path, Contents contents);

  Result<void> event(std::string_view type, Json payload) override;
  Result<void> append_pair(const std::string& lines,
                           const evidence::ArchiveWriter::PairAnchor& anchor) override;
  // Keeps the bytes of a digest not met before, up to a number of distinct outputs.
  Result<void> keep_output(const std::string& digest, std::string_view bytes) override;
  Result<void> sync() override;
  Result<bool> decided(const verdict::Ending& so_far, int batches) const override;

  // Reads the samples back, and takes nothing but what was written. `ending` may describe a
  // campaign that still runs (a look).
  Result<verdict::CompareInputs> inputs(const verdict::Ending& ending) const;
  // Writes the terminal event and everything derived; returns report.json's bytes.
  Result<std::string> finalize(const verdict::Ending& ending);

  std::string path() const { return writer_ ? writer_->path() : ""; }
  // What the archive's files were given to hold; empty in memory.
  evidence::FileDigests digests() const {
    return writer_ ? writer_->digests() : evidence::FileDigests{};
  }
  std::vector<std::string> take_lines() { return std::move(lines_); }
  const verdict::Plan& plan() const override { return contents_.plan; }
  verdict::Expectation expectation(std::size_t case_index) const override {
    return verdict::expectation_of(contents_.policy, contents_.policy.cases[case_index]);
  }

 private:
  explicit EvidenceSink(Contents contents) : contents_(std::move(contents)) {}
  Contents contents_;
  std::optional<evidence::ArchiveWriter> writer_;
  Json header_;                     // memory only
  std::vector<std::string> lines_;  // memory only
  std::set<std::string> outputs_;
  std::int64_t outputs_left_out_ = 0;
};

}  // namespace assay::compare
