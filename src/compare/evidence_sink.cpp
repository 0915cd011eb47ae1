#include "evidence_sink.h"

#include "record.h"

#include "assay/base/ids.h"

namespace assay::compare {
namespace {

// A nondeterministic program would otherwise store every run's output.
constexpr std::size_t kMaxOutputs = 64;

Json header_in_memory(const std::string& tool_version) {
  return {{"schema", {{"name", "assay.archive"}, {"major", 1}, {"minor", 0}}},
          {"kind", "comparison"},
          {"archive_id", uuid_v4()},
          {"created_utc", utc_now()},
          {"tool_version", tool_version}};
}

}  // namespace

Result<EvidenceSink> EvidenceSink::open(const std::optional<std::string>& path, Contents contents) {
  EvidenceSink sink(std::move(contents));
  if (!path) {
    sink.header_ = header_in_memory(sink.contents_.tool_version);
    return sink;
  }
  ASSAY_TRY(evidence::ArchiveWriter writer,
            evidence::ArchiveWriter::create(
                *path, {"comparison", sink.contents_.tool_version, sink.contents_.archive_id},
                verdict::policy_json(sink.contents_.policy),
                verdict::plan_text(sink.contents_.plan), sink.contents_.host));
  // Before the first run: which record is cited cannot depend on what is measured.
  if (sink.contents_.calibration) {
    ASSAY_TRY_VOID(writer.add_calibration(*sink.contents_.calibration));
  }
  sink.writer_ = std::move(writer);
  sink.contents_.host = nullptr;  // read back from the archive
  return sink;
}

Result<void> EvidenceSink::event(std::string_view type, Json payload) {
  return writer_ ? writer_->event(type, std::move(payload)) : Result<void>{};
}

Result<void> EvidenceSink::append_pair(const std::string& lines,
                                       const evidence::ArchiveWriter::PairAnchor& anchor) {
  if (writer_)
    return writer_->append_samples(lines, anchor);
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    lines_.push_back(lines.substr(at, end - at));
    at = end + 1;
  }
  return {};
}

Result<void> EvidenceSink::keep_output(const std::string& digest, std::string_view bytes) {
  if (!writer_ || outputs_.count(digest) != 0)
    return {};
  if (outputs_.size() >= kMaxOutputs) {
    ++outputs_left_out_;
    return {};
  }
  outputs_.insert(digest);
  ASSAY_TRY([[maybe_unused]] const std::string stored, writer_->store_blob(bytes));
  return {};
}

Result<void> EvidenceSink::sync() {
  return writer_ ? writer_->sync() : Result<void>{};
}

Result<verdict::CompareInputs> EvidenceSink::inputs(const verdict::Ending& ending) const {
  verdict::CompareInputs inputs;
  inputs.plan = contents_.plan;
  inputs.ending = ending;
  if (!writer_) {
    inputs.header = header_;
    inputs.policy = contents_.policy;
    inputs.host = contents_.host;
    inputs.calibration = contents_.calibration;
    ASSAY_TRY(inputs.samples, read_samples(lines_));
    return inputs;
  }
  ASSAY_TRY(const evidence::ArchiveReader reader, writer_->reader());
  ASSAY_TRY(inputs.header, reader.document("header.json"));
  ASSAY_TRY(const Json policy, reader.document("policy.json"));
  ASSAY_TRY(inputs.policy, verdict::parse_compare_policy(policy, "policy.json"));
  ASSAY_TRY(inputs.host, reader.document("host.json"));
  if (contents_.calibration) {
    ASSAY_TRY(inputs.calibration, reader.document("calibration.json"));
  }
  ASSAY_TRY(inputs.samples, read_samples(reader));
  return inputs;
}

Result<bool> EvidenceSink::decided(const verdict::Ending& so_far, int batches) const {
  const Result<verdict::CompareInputs> all = inputs(so_far);
  if (!all)
    return tl::unexpected<Error>(writer_ ? writer_->not_kept(all.error()) : all.error());
  return verdict::decided_at_look(*all, batches);
}

Result<std::string> EvidenceSink::finalize(const verdict::Ending& ending) {
  std::string bytes;
  const auto derive = [this, &ending, &bytes]() -> Result<Json> {
    ASSAY_TRY(const verdict::CompareInputs all, inputs(ending));
    ASSAY_TRY(Json report, verdict::derive_compare_report(all));
    bytes = canonical_json(report) + "\n";
    return report;
  };
  if (!writer_) {
    ASSAY_TRY([[maybe_unused]] const Json report, derive());
    return bytes;
  }
  Json payload = {{"batches_done", ending.batches_done}};
  if (!ending.reason.empty())
    payload["reason"] = ending.reason;
  for (const verdict::Ending::BuiltProgram& one : ending.built)
    payload["built"].push_back(
        {{"case", contents_.policy.cases[static_cast<std::size_t>(one.case_index)].name},
         {"side", verdict::side_name(one.side)},
         {"program_sha256", one.sha256}});
  if (outputs_left_out_ > 0)
    payload["outputs_not_stored"] = outputs_left_out_;
  ASSAY_TRY_VOID(writer_->finalize(ending.type, std::move(payload), derive));
  return bytes;
}

}  // namespace assay::compare
