#include "archive_fixture.h"

#include "assay/base/json.h"
#include "assay/base/sha256.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <sys/stat.h>

namespace assay::evidence {
namespace {

using test::TempDir;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

// Follows the chain with nothing but a hash and the text of the lines.
void expect_whole_chain(const std::string& path) {
  std::string previous(64, '0');
  std::int64_t seq = 0;
  for (const std::string& line : lines_of(path)) {
    EXPECT_THAT(line, HasSubstr("\"prev\":\"" + previous + "\""));
    EXPECT_THAT(line, HasSubstr("\"seq\":" + std::to_string(seq) + ","));
    previous = sha256_hex(line);
    ++seq;
  }
  EXPECT_GT(seq, 0);
}

TEST(ArchiveWriter, writes_the_documented_files_and_no_others) {
  const TempDir dir;
  write_finished_archive(dir / "a");
  const std::string digest = sha256_hex("output\n");
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir / "a"))
    found.push_back(std::filesystem::relative(entry.path(), dir / "a").string());
  EXPECT_THAT(
      found, ::testing::UnorderedElementsAre("header.json", "policy.json", "plan.json", "host.json",
                                             "events.jsonl", "samples.jsonl", "blobs",
                                             "blobs/sha256", "blobs/sha256/" + digest.substr(0, 2),
                                             "blobs/sha256/" + digest.substr(0, 2) + "/" + digest,
                                             "report.json", "inventory.json", "SHA256SUMS"));
}

TEST(ArchiveWriter, the_header_and_the_first_event_bind_the_governing_files) {
  const TempDir dir;
  write_finished_archive(dir / "a");
  EXPECT_EQ(slurp(dir / "a/policy.json"), "{\"cap\":1.05}\n");
  EXPECT_EQ(slurp(dir / "a/plan.json"), "{\"seed\":5}\n");
  EXPECT_EQ(slurp(dir / "a/host.json"), "{\"cpu\":\"x\"}\n");
  const Json header = Json::parse(slurp(dir / "a/header.json"));
  const Json first = Json::parse(lines_of(dir / "a/events.jsonl").at(0));
  EXPECT_EQ(header["schema"], (Json{{"name", "assay.archive"}, {"major", 1}, {"minor", 0}}));
  EXPECT_EQ(header["kind"], "comparison");
  EXPECT_EQ(header["tool_version"], "0.1.0");
  EXPECT_EQ(first["type"], "archive_created");
  EXPECT_EQ(first["schema"], header["schema"]);
  EXPECT_EQ(first["archive_id"], header["archive_id"]);
  EXPECT_EQ(first["header_sha256"], sha256_hex(slurp(dir / "a/header.json")));
  for (const std::string name : {"policy", "plan", "host"}) {
    const std::string digest = sha256_hex(slurp(dir / ("a/" + name + ".json")));
    EXPECT_EQ(header["digests"][name + ".json"], digest);
    EXPECT_EQ(first[name + "_sha256"], digest);
  }
}

TEST(ArchiveWriter, every_document_and_line_is_canonical_json_with_a_line_feed) {
  const TempDir dir;
  write_finished_archive(dir / "a");
  for (const char* name :
       {"header.json", "policy.json", "plan.json", "host.json", "report.json", "inventory.json"}) {
    const std::string text = slurp(dir / ("a/" + std::string(name)));
    ASSERT_EQ(text.back(), '\n') << name;
    EXPECT_TRUE(parse_canonical_json(text.substr(0, text.size() - 1), name)) << name;
  }
  for (const std::string& line : lines_of(dir / "a/events.jsonl"))
    EXPECT_TRUE(parse_canonical_json(line, "events.jsonl")) << line;
}

TEST(ArchiveWriter, the_journal_is_a_gapless_hash_chain) {
  const TempDir dir;
  write_finished_archive(dir / "a");
  expect_whole_chain(dir / "a/events.jsonl");
  std::vector<std::string> types;
  for (const std::string& line : lines_of(dir / "a/events.jsonl")) {
    const Json event = Json::parse(line);
    types.push_back(event["type"]);
    EXPECT_THAT(event["utc"].get<std::string>(), MatchesRegex("[0-9-]{10}T[0-9:]{8}\\.[0-9]{9}Z"));
    EXPECT_THAT(event["monotonic_ns"].get<std::string>(), MatchesRegex("[0-9]+"));
    EXPECT_EQ(event["boot_id"], boot_id());
  }
  EXPECT_THAT(types, ::testing::ElementsAre("archive_created", "campaign_started", "pair_started",
                                            "pair_end", "pair_started", "pair_end", "finished"));
}

TEST(ArchiveWriter, each_pair_end_anchors_the_whole_samples_prefix) {
  const TempDir dir;
  write_finished_archive(dir / "a");
  const std::string samples = slurp(dir / "a/samples.jsonl");
  EXPECT_EQ(samples, pair_lines(0) + pair_lines(1));
  const std::vector<std::string> events = lines_of(dir / "a/events.jsonl");
  std::size_t bytes = 0;
  for (std::int64_t pair = 0; pair < 2; ++pair) {
    const Json anchor = Json::parse(events.at(static_cast<std::size_t>(3 + 2 * pair)));
    bytes += pair_lines(pair).size();
    EXPECT_EQ(anchor["batch"], 0);
    EXPECT_EQ(anchor["pair"], pair);
    EXPECT_EQ(anchor["last_seq"], 2 * pair + 1);
    EXPECT_EQ(anchor["samples_bytes"], bytes);
    EXPECT_EQ(anchor["samples_sha256"], sha256_hex(samples.substr(0, bytes)));
  }
}

// Runs a shell command; "" when it succeeds, else what it said.
std::string complaint(const std::string& command, const std::string& log) {
  const int status = std::system(("{ " + command + "; } >'" + log + "' 2>&1").c_str());
  return status == 0 ? "" : "status " + std::to_string(status) + ": " + slurp(log);
}

TEST(ArchiveWriter, a_finished_archive_satisfies_sha256sum) {
  const TempDir dir;
  write_finished_archive(dir / "a");
  const std::string check = "cd '" + (dir / "a") + "' && sha256sum -c --strict --quiet SHA256SUMS";
  EXPECT_EQ(complaint(check, dir / "log"), "");
  std::ofstream(dir / "a/samples.jsonl", std::ios::app) << "x";
  EXPECT_THAT(complaint(check, dir / "log"), HasSubstr("samples.jsonl: FAILED"));
}

TEST(ArchiveWriter, a_verifier_written_from_the_documentation_accepts_a_finished_archive) {
  const TempDir dir;
  write_finished_archive(dir / "a");
  const std::string check =
      "python3 '" ASSAY_SOURCE_DIR "/tests/unit/evidence/verify_archive.py' '" + (dir / "a") + "'";
  EXPECT_EQ(complaint(check, dir / "log"), "");
  std::filesystem::create_directory(dir / "a/extra");
  EXPECT_THAT(complaint(check, dir / "log"), HasSubstr("inventory"));
}

TEST(ArchiveWriter, the_terminal_event_carries_its_payload) {
  for (const std::string type : {"finished", "interrupted", "failed"}) {
    const TempDir dir;
    Result<ArchiveWriter> archive = new_archive(dir / "a");
    ASSERT_TRUE(archive->finalize(type, {{"reason", "sigint"}}, pass_report));
    const Json last = Json::parse(lines_of(dir / "a/events.jsonl").back());
    EXPECT_EQ(last["type"], type);
    EXPECT_EQ(last["reason"], "sigint");
  }
}

TEST(ArchiveWriter, the_report_may_be_derived_from_the_archive_itself) {
  const TempDir dir;
  Result<ArchiveWriter> archive = new_archive(dir / "a");
  ASSERT_TRUE(archive->append_samples(pair_lines(0), {0, 0, 1}));
  const auto derive = [&]() -> Result<Json> {
    ASSAY_TRY(const ArchiveReader reader, ArchiveReader::open(archive->path()));
    std::int64_t count = 0;
    ASSAY_TRY_VOID(reader.for_each_line("samples.jsonl", [&](std::string_view, std::int64_t) {
      ++count;
      return Result<void>{};
    }));
    std::string last;
    ASSAY_TRY_VOID(reader.for_each_line("events.jsonl", [&](std::string_view line, std::int64_t) {
      last = line;
      return Result<void>{};
    }));
    return Json{{"samples", count}, {"last", Json::parse(last)["type"]}};
  };
  ASSERT_TRUE(archive->finalize("interrupted", Json::object(), derive));
  EXPECT_EQ(slurp(dir / "a/report.json"), "{\"last\":\"interrupted\",\"samples\":2}\n");
}

TEST(ArchiveWriter, a_report_that_cannot_be_derived_leaves_no_report) {
  const TempDir dir;
  Result<ArchiveWriter> archive = new_archive(dir / "a");
  const auto derive = []() -> Result<Json> { return fail(ErrorCode::invalid_format, "broken"); };
  const Error error = archive->finalize("finished", Json::object(), derive).error();
  EXPECT_EQ(error.code, ErrorCode::not_persisted);
  EXPECT_THAT(error.what, ::testing::StartsWith("evidence not persisted: broken; no run had been"));
  EXPECT_FALSE(std::filesystem::exists(dir / "a/report.json"));
  EXPECT_FALSE(std::filesystem::exists(dir / "a/SHA256SUMS"));
  EXPECT_FALSE(archive->event("noise"));
}

TEST(ArchiveWriter, refuses_a_path_that_exists) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "a");
  std::ofstream(dir / "file") << "keep";
  EXPECT_EQ(new_archive(dir / "a").error().code, ErrorCode::already_exists);
  EXPECT_EQ(new_archive(dir / "file").error().code, ErrorCode::already_exists);
  EXPECT_EQ(test::count_entries(dir / "a"), 0U);
  EXPECT_EQ(slurp(dir / "file"), "keep");
}

TEST(ArchiveWriter, creates_missing_parents) {
  const TempDir dir;
  ASSERT_TRUE(new_archive(dir / "x/y/a"));
  EXPECT_TRUE(std::filesystem::exists(dir / "x/y/a/header.json"));
}

TEST(ArchiveWriter, a_300_character_name_is_a_clear_error) {
  const TempDir dir;
  const Error error = new_archive(dir / std::string(300, 'n')).error();
  EXPECT_EQ(error.code, ErrorCode::not_persisted);
  EXPECT_THAT(error.what, StartsWith("evidence not persisted: "));
  EXPECT_THAT(error.what, HasSubstr("File name too long"));
  EXPECT_EQ(test::count_entries(dir.path()), 0U);
}

TEST(ArchiveWriter, stores_equal_blobs_once_and_any_bytes) {
  const TempDir dir;
  Result<ArchiveWriter> archive = new_archive(dir / "a");
  const std::string bytes("\0\xff\n", 3);
  const std::string digest = archive->store_blob(bytes).value();
  EXPECT_EQ(digest, sha256_hex(bytes));
  EXPECT_EQ(archive->store_blob(bytes).value(), digest);
  EXPECT_EQ(archive->store_blob("").value(), sha256_hex(""));
  EXPECT_EQ(slurp(dir / ("a/blobs/sha256/" + digest.substr(0, 2) + "/" + digest)), bytes);
}

TEST(ArchiveWriter, text_that_is_not_utf8_is_refused_and_harms_nothing) {
  const TempDir dir;
  EXPECT_EQ(
      ArchiveWriter::create(dir / "b", {"comparison", "1"}, {{"x", "\xff"}}, "{}\n", Json::object())
          .error()
          .code,
      ErrorCode::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(dir / "b"));
  Result<ArchiveWriter> archive = new_archive(dir / "a");
  const Error error = archive->event("setup", {{"command", {{"text", "a\xff"}}}}).error();
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_THAT(error.what, HasSubstr("/command/text: the text is not UTF-8"));
  ASSERT_TRUE(archive->event("setup", {{"command", "ok"}}));
  ASSERT_TRUE(archive->finalize("finished", Json::object(), pass_report));
  expect_whole_chain(dir / "a/events.jsonl");
}

TEST(ArchiveWriter, a_calibration_record_is_added_once) {
  const TempDir dir;
  Result<ArchiveWriter> archive = new_archive(dir / "a");
  ASSERT_TRUE(archive->add_calibration({{"rate", 0.05}}));
  ASSERT_TRUE(archive->finalize("finished", Json::object(), pass_report));
  EXPECT_EQ(slurp(dir / "a/calibration.json"), "{\"rate\":0.05}\n");
}

TEST(ArchiveWriter, is_unusable_after_finalising) {
  const TempDir dir;
  Result<ArchiveWriter> archive = new_archive(dir / "a");
  ASSERT_TRUE(archive->finalize("finished", Json::object(), pass_report));
  const std::string before = slurp(dir / "a/events.jsonl");
  EXPECT_EQ(archive->event("noise").error().code, ErrorCode::not_persisted);
  EXPECT_EQ(archive->append_samples("{}\n", {}).error().code, ErrorCode::not_persisted);
  EXPECT_EQ(archive->store_blob("x").error().code, ErrorCode::not_persisted);
  EXPECT_EQ(archive->sync().error().code, ErrorCode::not_persisted);
  EXPECT_EQ(archive->finalize("failed", Json::object(), pass_report).error().code,
            ErrorCode::not_persisted);
  EXPECT_EQ(slurp(dir / "a/events.jsonl"), before);
}

TEST(ArchiveWriterDeathTest, the_table_of_events_is_closed) {
  const TempDir dir;
  Result<ArchiveWriter> archive = new_archive(dir / "a");
  EXPECT_DEATH((void)archive->event("pair_ended"), "not in the table");
  EXPECT_DEATH((void)archive->event("finished"), "calls of their own");
  EXPECT_DEATH((void)archive->event("noise", {{"seq", 1}}), "one of the chain's own");
  EXPECT_DEATH((void)archive->append_samples("{}", {}), "whole lines");
  for (const char* type : {"archive_created", "pair_end", "recovered", "look"})
    EXPECT_TRUE(is_event_type(type));
  EXPECT_FALSE(is_event_type("Look"));
  EXPECT_FALSE(is_event_type(""));
}

// The whole budget of an archive is below 1 KiB per run; samples take about 690 of it.
TEST(ArchiveWriter, the_journal_takes_at_most_305_bytes_per_run) {
  const TempDir dir;
  Result<ArchiveWriter> archive = new_archive(dir / "a");
  constexpr std::int64_t kFirst = 10000;
  for (std::int64_t pair = 0; pair < 20; ++pair) {
    ASSERT_TRUE(archive->event("pair_started", {{"first_seq", kFirst + 2 * pair}}));
    ASSERT_TRUE(
        archive->append_samples(std::string(1380, 'x') + "\n", {99, pair, kFirst + 2 * pair + 1}));
  }
  ASSERT_TRUE(archive->sync());
  // The monotonic clock counts from boot, so its digits grow with the host's uptime: 13 up to three
  // hours, at most 19. Those beyond 13 are not counted, or the bound would depend on the host.
  constexpr std::size_t kClockDigits = 13;
  std::size_t bytes = 0;
  std::vector<std::string> lines = lines_of(dir / "a/events.jsonl");
  lines.erase(lines.begin());  // archive_created is not the pairs'
  for (const std::string& line : lines) {
    const std::size_t digits = Json::parse(line).at("monotonic_ns").get<std::string>().size();
    bytes += line.size() + 1 - (digits > kClockDigits ? digits - kClockDigits : 0);
  }
  const double per_run = static_cast<double>(bytes) / 40;
  RecordProperty("journal_bytes_per_run", std::to_string(per_run));
  EXPECT_LE(per_run, 305);
}

}  // namespace
}  // namespace assay::evidence
