#include "assay/base/files.h"
#include "assay/base/sha256.h"
#include "assay/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "compare/evidence_sink.h"
#include "compare/record.h"

namespace assay::compare {
namespace {

class Sink : public testing::Test {
 protected:
  Sink() {
    std::string pattern = testing::TempDir() + "/sink-XXXXXX";
    dir_ = ::mkdtemp(pattern.data());
    verdict::PlanOptions options;
    options.seed = 5;
    options.batches = 8;
    options.pairs = 1;
    options.warmups = 0;
    options.cases = {"candidate"};
    contents_.plan = verdict::make_plan(options);
    verdict::CasePolicy one;
    one.name = "candidate";
    one.reference = {"old", {"old"}, ""};
    one.candidate = {"new", {"new"}, ""};
    contents_.policy.cases = {one};
    contents_.host = Json::object();
    contents_.tool_version = "0.1.0";
  }
  ~Sink() override { std::filesystem::remove_all(dir_); }

  // Every planned run with a made-up duration, pair by pair.
  void fill(EvidenceSink& sink) const {
    const auto& runs = contents_.plan.runs;
    for (std::size_t i = 0; i < runs.size(); i += 2) {
      std::string lines;
      for (const auto* run : {&runs[i], &runs[i + 1]}) {
        process::RunResult result;
        result.outcome = process::Outcome::ok;
        result.exit_code = 0;
        result.bound_hit = "none";
        result.start = Nanoseconds(1000 * run->seq + 1);
        result.elapsed = Nanoseconds(500 + 7 * (run->seq % 5));
        result.user = result.elapsed;
        result.peak_rss = Bytes(1 << 20);
        lines += verdict::sample_line(to_sample(*run, "candidate", result, {0.1, 0.0})) + "\n";
      }
      ASSERT_TRUE(sink.append_pair(lines, {runs[i].batch, runs[i].pair, runs[i + 1].seq}));
    }
  }
  static Json without_identity(Json report) {
    report.erase("archive_id");
    report.erase("created_utc");
    return report;
  }

  std::string dir_;
  EvidenceSink::Contents contents_;
};

TEST_F(Sink, memory_and_archive_give_the_same_report) {
  verdict::Ending ending;
  ending.batches_done = 8;
  std::vector<Json> reports;
  for (const auto& place :
       {std::optional<std::string>(dir_ + "/a"), std::optional<std::string>()}) {
    auto sink = EvidenceSink::open(place, contents_);
    ASSERT_TRUE(sink) << sink.error().message();
    fill(*sink);
    const auto bytes = sink->finalize(ending);
    ASSERT_TRUE(bytes) << bytes.error().message();
    reports.push_back(without_identity(*parse_json(*bytes, "report")));
  }
  EXPECT_EQ(reports[0], reports[1]);
}

TEST_F(Sink, a_calibration_is_in_the_archive_before_the_first_run_and_cited_by_both) {
  const Json record = {{"archive_id", "id"}, {"calibration", {{"wall", {{"state", "DIRECT"}}}}}};
  contents_.calibration = record;
  for (const auto& place :
       {std::optional<std::string>(dir_ + "/a"), std::optional<std::string>()}) {
    auto sink = EvidenceSink::open(place, contents_);
    ASSERT_TRUE(sink) << sink.error().message();
    if (place) {
      EXPECT_EQ(*read_file(*place + "/calibration.json"), canonical_json(record) + "\n");
    }
    fill(*sink);
    const auto bytes = sink->finalize({"finished", "", 8});
    ASSERT_TRUE(bytes) << bytes.error().message();
    EXPECT_EQ(parse_json(*bytes, "report")->at("calibration").at("states").at("wall"), "DIRECT");
  }
}

TEST_F(Sink, memory_writes_nothing) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(dir_);
  auto sink = EvidenceSink::open(std::nullopt, contents_);
  ASSERT_TRUE(sink);
  fill(*sink);
  ASSERT_TRUE(sink->keep_output(std::string(64, 'a'), "bytes"));
  ASSERT_TRUE(sink->finalize({"finished", "", 8}));
  EXPECT_TRUE(std::filesystem::is_empty(dir_));
  EXPECT_EQ(sink->take_lines().size(), contents_.plan.runs.size());
  std::filesystem::current_path(before);
}

TEST_F(Sink, the_returned_bytes_are_those_of_report_json) {
  auto sink = EvidenceSink::open(dir_ + "/a", contents_);
  ASSERT_TRUE(sink);
  fill(*sink);
  const auto bytes = sink->finalize({"finished", "", 8});
  ASSERT_TRUE(bytes);
  const auto archive = evidence::ArchiveReader::open(dir_ + "/a");
  ASSERT_TRUE(archive);
  EXPECT_EQ(*archive->bytes("report.json"), *bytes);
}

TEST_F(Sink, outputs_are_kept_once_and_only_so_many) {
  auto sink = EvidenceSink::open(dir_ + "/a", contents_);
  ASSERT_TRUE(sink);
  fill(*sink);
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 100; ++i) {
      const std::string bytes = "output " + std::to_string(i);
      ASSERT_TRUE(sink->keep_output(sha256_hex(bytes), bytes));
    }
  ASSERT_TRUE(sink->finalize({"finished", "", 8}));
  int blobs = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_ + "/a/blobs"))
    blobs += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(blobs, 64);
}

// Changes one digit of a duration in samples.jsonl: the lines stay what a campaign could have
// written.
void change_a_figure(const std::string& archive) {
  std::string text = *read_file(archive + "/samples.jsonl");
  const std::size_t at = text.find("\"elapsed_ns\":") + std::strlen("\"elapsed_ns\":");
  text[at] = text[at] == '9' ? '8' : '9';
  std::ofstream(archive + "/samples.jsonl", std::ios::binary | std::ios::trunc) << text;
}

TEST_F(Sink, neither_a_report_nor_a_look_follows_from_samples_that_were_changed) {
  auto sink = EvidenceSink::open(dir_ + "/a", contents_);
  ASSERT_TRUE(sink);
  fill(*sink);
  const verdict::Ending ending{"finished", "", 8};
  ASSERT_TRUE(sink->inputs(ending));
  ASSERT_TRUE(sink->decided(ending, 8));
  change_a_figure(dir_ + "/a");
  const auto inputs = sink->inputs(ending);
  ASSERT_FALSE(inputs);
  EXPECT_THAT(inputs.error().what, testing::HasSubstr("does not hold what was written"));
  const auto decided = sink->decided(ending, 8);
  ASSERT_FALSE(decided);
  EXPECT_EQ(decided.error().code, ErrorCode::not_persisted);
  EXPECT_THAT(decided.error().what, testing::AllOf(testing::StartsWith("evidence not persisted: "),
                                                   testing::HasSubstr("16 complete runs")));
}

TEST_F(Sink, samples_that_changed_after_the_seal_are_not_exported) {
  auto sink = EvidenceSink::open(dir_ + "/a", contents_);
  ASSERT_TRUE(sink);
  fill(*sink);
  ASSERT_TRUE(sink->finalize({"finished", "", 8}));
  CompareResult result;
  result.archive_path = sink->path();
  result.digests = sink->digests();
  ASSERT_TRUE(sample_lines(result));
  EXPECT_EQ(sample_lines(result)->size(), contents_.plan.runs.size());
  change_a_figure(dir_ + "/a");
  const auto lines = sample_lines(result);
  ASSERT_FALSE(lines);
  EXPECT_THAT(lines.error().what, testing::HasSubstr("does not hold what was written"));
}

}  // namespace
}  // namespace assay::compare
