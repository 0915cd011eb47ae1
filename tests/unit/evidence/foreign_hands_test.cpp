// What others do to an archive while it is written never gets under its seal, and is never undone.
#include "archive_fixture.h"

#include "assay/base/sha256.h"

#include <gmock/gmock.h>

#include <sys/stat.h>
#include <unistd.h>

namespace assay::evidence {
namespace {

using test::TempDir;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ForeignHands : public ::testing::Test {
 protected:
  ForeignHands() : archive_(new_archive(at("a"))) {
    EXPECT_TRUE(archive_->append_samples(pair_lines(0), {0, 0, 1}));
    digest_ = archive_->store_blob("output\n").value();
  }
  std::string at(const std::string& name) const { return dir_ / name; }
  static void put(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  // What finalising says when `act` happens while the report is derived; "sealed" for success.
  std::string finalize(const std::function<void()>& act = [] {}) {
    const Result<void> end =
        archive_->finalize("finished", Json::object(), [&act]() -> Result<Json> {
          act();
          return pass_report();
        });
    if (end)
      return "sealed";
    EXPECT_EQ(end.error().code, ErrorCode::not_persisted);
    EXPECT_THAT(end.error().what, StartsWith("evidence not persisted: "));
    return end.error().message();
  }

  TempDir dir_;
  Result<ArchiveWriter> archive_;
  std::string digest_;
};

Result<void> ignore_line(std::string_view /*line*/, std::int64_t /*number*/) {
  return {};
}

TEST_F(ForeignHands, nothing_is_derived_from_bytes_that_were_changed_for_a_while) {
  const Result<void> end = archive_->finalize("finished", Json::object(), [this]() -> Result<Json> {
    put(at("a/samples.jsonl"), "{\"seq\":8}\n{\"seq\":9}\n");
    const auto read = archive_->reader().and_then([](const ArchiveReader& reader) {
      return reader.for_each_line("samples.jsonl", ignore_line);
    });
    put(at("a/samples.jsonl"), pair_lines(0));
    ASSAY_TRY_VOID(read);
    return pass_report();
  });
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::not_persisted);
  EXPECT_THAT(end.error().what,
              AllOf(StartsWith("evidence not persisted: "), HasSubstr("does not hold what was"),
                    HasSubstr("; kept in " + at("a") + ": 2 complete runs (1 pairs)")));
  EXPECT_FALSE(std::filesystem::exists(at("a/report.json")));
  EXPECT_FALSE(archive_->event("noise"));
}

template <typename T>
std::string said(const Result<T>& result) {
  return result ? "accepted" : result.error().what;
}

TEST_F(ForeignHands, a_verified_reader_gives_out_what_was_written_and_nothing_else) {
  const ArchiveReader reader = archive_->reader().value();
  EXPECT_TRUE(reader.document("policy.json"));
  EXPECT_TRUE(reader.for_each_line("samples.jsonl", ignore_line));
  EXPECT_TRUE(reader.for_each_line("events.jsonl", ignore_line));
  EXPECT_EQ(reader.blob(digest_).value(), "output\n");
  put(at("a/policy.json"), "{\"cap\":1.06}\n");  // as long as before
  EXPECT_THAT(said(reader.document("policy.json")), HasSubstr("does not hold what was"));
  EXPECT_THAT(said(reader.bytes("policy.json")), HasSubstr("does not hold what was"));
  std::ofstream(at("a/events.jsonl"), std::ios::app) << "{}\n";
  EXPECT_THAT(said(reader.for_each_line("events.jsonl", ignore_line)),
              HasSubstr("does not hold what was"));
  put(at("a/calibration.json"), "{}\n");
  EXPECT_THAT(said(reader.document("calibration.json")),
              HasSubstr("was not written by this campaign"));
  put(at("a/header.json"), "{}\n");
  EXPECT_THAT(said(archive_->reader()), HasSubstr("does not hold what was"));
}

TEST_F(ForeignHands, an_archive_that_took_the_place_of_ours_keeps_its_seal) {
  write_finished_archive(at("other"));
  const std::string report = slurp(at("other/report.json"));
  const std::string said = finalize([this] {
    std::filesystem::rename(at("a"), at("moved"));
    std::filesystem::rename(at("other"), at("a"));
  });
  EXPECT_THAT(said, AllOf(HasSubstr("was moved or replaced"),
                          HasSubstr("; kept in " + at("moved") + ": 2 complete runs"),
                          Not(HasSubstr("kept in " + at("a")))));
  for (const char* name : {"a/report.json", "a/inventory.json", "a/SHA256SUMS"})
    EXPECT_TRUE(std::filesystem::exists(at(name))) << name;
  EXPECT_EQ(slurp(at("a/report.json")), report);
  EXPECT_EQ(slurp(at("moved/samples.jsonl")), pair_lines(0));
  EXPECT_FALSE(std::filesystem::exists(at("moved/report.json")));
}

TEST_F(ForeignHands, an_archive_that_is_moved_away_is_not_sealed_elsewhere) {
  std::filesystem::rename(at("a"), at("moved"));
  ASSERT_TRUE(archive_->store_blob("more\n"));
  EXPECT_FALSE(std::filesystem::exists(at("a"))) << "a blob made the path again";
  EXPECT_THAT(finalize(), HasSubstr("was moved or replaced"));
}

TEST_F(ForeignHands, closing_files_of_others_are_refused_and_left_alone) {
  for (const char* name : {"report.json", "inventory.json", "SHA256SUMS"}) {
    const std::string path = at(name) + ".archive";
    Result<ArchiveWriter> archive = new_archive(path);
    const Result<void> end = archive->finalize("finished", Json::object(), [&]() -> Result<Json> {
      put(path + "/" + name, "mine");
      return pass_report();
    });
    ASSERT_FALSE(end) << name;
    EXPECT_EQ(slurp(path + "/" + name), "mine");
    for (const char* other : {"report.json", "inventory.json", "SHA256SUMS"})
      EXPECT_EQ(std::filesystem::exists(path + "/" + other), std::string(other) == name) << other;
  }
}

std::int64_t bytes_read() {
  std::ifstream io("/proc/self/io");
  std::string key;
  std::int64_t value = -1;
  io >> key >> value;
  return key == "rchar:" ? value : -1;
}

TEST_F(ForeignHands, a_huge_file_is_refused_without_being_read) {
  constexpr std::int64_t kHuge = INT64_C(64) << 20;
  if (bytes_read() < 0)
    GTEST_SKIP() << "/proc/self/io does not count";
  put(at("a/huge"), "");
  ASSERT_EQ(::truncate(at("a/huge").c_str(), kHuge), 0);
  std::int64_t before = bytes_read();
  EXPECT_THAT(finalize(), HasSubstr("huge: evidence not persisted: was not written by this"));
  EXPECT_LT(bytes_read() - before, kHuge / 8);

  Result<ArchiveWriter> grown = new_archive(at("b"));
  ASSERT_EQ(::truncate(at("b/plan.json").c_str(), kHuge), 0);
  before = bytes_read();
  EXPECT_FALSE(grown->reader().value().bytes("plan.json"));
  EXPECT_FALSE(grown->reader().value().for_each_line("plan.json", ignore_line));
  const Result<void> end = grown->finalize("finished", Json::object(), pass_report);
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().what, HasSubstr("does not hold what was written"));
  EXPECT_LT(bytes_read() - before, kHuge / 8);
}

TEST_F(ForeignHands, nothing_that_is_called_like_the_seal_is_sealed_in) {
  using Make = std::function<void(const std::string&)>;
  const std::vector<Make> makes = {
      [](const std::string& path) { ASSERT_EQ(::symlink("plan.json", path.c_str()), 0); },
      [](const std::string& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0644), 0); },
      [](const std::string& path) { std::filesystem::create_directory(path); },
      [](const std::string& path) { put(path, "{}\n"); }};
  for (const char* name : {"seal.dsse.json", "inventory.json", "SHA256SUMS"}) {
    for (std::size_t i = 0; i < makes.size(); ++i) {
      const std::string path = at(name) + std::to_string(i);
      Result<ArchiveWriter> archive = new_archive(path);
      makes[i](path + "/" + name);
      bool derived = false;
      EXPECT_FALSE(archive->finalize("finished", Json::object(), [&]() -> Result<Json> {
        derived = true;
        return pass_report();
      })) << path;
      EXPECT_FALSE(derived) << path;
      EXPECT_TRUE(std::filesystem::symlink_status(path + "/" + name).type() !=
                  std::filesystem::file_type::not_found);
    }
  }
}

TEST_F(ForeignHands, a_directory_of_others_in_the_way_of_blobs_ends_the_campaign_at_once) {
  Result<ArchiveWriter> archive = new_archive(at("b"));
  std::filesystem::create_directory(at("b/blobs"));
  EXPECT_THAT(said(archive->store_blob("x")), HasSubstr("was not written by this campaign"));
  EXPECT_TRUE(std::filesystem::is_empty(at("b/blobs")));
}

TEST_F(ForeignHands, a_mode_that_is_not_as_it_was_made_is_not_sealed) {
  const struct {
    const char* node;
    mode_t mode;
    const char* said;
  } changes[] = {{"/plan.json", 0600, "its mode is 0600 and was 0644"},
                 {"/samples.jsonl", 0666, "its mode is 0666 and was 0644"},
                 {"/blobs", 0700, "its mode is 0700 and was"},
                 {"", 0700, "its mode is 0700 and was"},
                 {"", 01755, "its mode is 1755 and was"},
                 {"", 02755, "its mode is 2755 and was"}};
  int number = 0;
  for (const auto& [node, mode, said] : changes) {
    const std::string path = at("m" + std::to_string(number++));
    Result<ArchiveWriter> archive = new_archive(path);
    ASSERT_TRUE(archive->store_blob("x"));
    ASSERT_EQ(::chmod((path + node).c_str(), mode), 0);
    const Result<void> end = archive->finalize("finished", Json::object(), pass_report);
    ASSERT_FALSE(end) << path << node;
    EXPECT_THAT(end.error().what, HasSubstr(said));
  }
}

TEST_F(ForeignHands, a_directory_that_hands_down_its_group_gives_an_archive_without_special_bits) {
  std::filesystem::create_directory(at("group"));
  ASSERT_EQ(::chmod(at("group").c_str(), 02755), 0);
  write_finished_archive(at("group/a"));
  for (const char* name : {"group/a", "group/a/blobs"}) {
    struct stat status {};
    ASSERT_EQ(::stat(at(name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07000U, 0U) << name;
  }
}

TEST_F(ForeignHands, an_undisturbed_archive_is_sealed) {
  EXPECT_EQ(finalize(), "sealed");
}

}  // namespace
}  // namespace assay::evidence
