// What a full or read-only disk does to an archive. strace-driven faults: tests/faults/evidence.
#include "archive_fixture.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::evidence {
namespace {

using test::TempDir;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A tiny file system of its own, where the caller may mount.
class Tmpfs {
 public:
  explicit Tmpfs(const std::string& where) : where_(where) {
    std::filesystem::create_directory(where_);
    mounted_ = ::mount("tmpfs", where_.c_str(), "tmpfs", 0, "size=64k") == 0;
    if (!mounted_)
      reason_ = std::strerror(errno);
  }
  ~Tmpfs() {
    if (mounted_)
      ::umount2(where_.c_str(), MNT_DETACH);
  }
  Tmpfs(const Tmpfs&) = delete;
  Tmpfs& operator=(const Tmpfs&) = delete;

  bool mounted() const { return mounted_; }
  const std::string& reason() const { return reason_; }
  bool make_read_only() const {
    return ::mount("tmpfs", where_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=64k") == 0;
  }

 private:
  std::string where_;
  std::string reason_;
  bool mounted_ = false;
};

std::string big_pair(std::int64_t pair) {
  const std::string number = std::to_string(pair);
  return number + std::string(1999 - number.size(), 's') + "\n";  // 2000 bytes
}

// Appends until the disk is full; returns how many pairs were acknowledged.
std::int64_t fill(ArchiveWriter& archive, Error* error) {
  for (std::int64_t pair = 0; pair < 10000; ++pair) {
    const Result<void> written = archive.append_samples(big_pair(pair), {0, pair, pair});
    if (!written) {
      *error = written.error();
      return pair;
    }
  }
  return -1;
}

void expect_refusal_after_failure(ArchiveWriter& archive, const std::string& path) {
  const std::string events = slurp(path + "/events.jsonl");
  EXPECT_EQ(archive.event("noise").error().code, ErrorCode::not_persisted);
  const Result<void> end = archive.finalize("finished", Json::object(), pass_report);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::not_persisted);
  EXPECT_THAT(end.error().what, StartsWith("evidence not persisted: "));
  EXPECT_FALSE(std::filesystem::exists(path + "/report.json"));
  EXPECT_FALSE(std::filesystem::exists(path + "/SHA256SUMS"));
  EXPECT_EQ(slurp(path + "/events.jsonl"), events);
}

void expect_acknowledged_pairs(const std::string& path, std::int64_t acknowledged) {
  std::string expected;
  for (std::int64_t pair = 0; pair < acknowledged; ++pair)
    expected += big_pair(pair);
  const std::string samples = slurp(path + "/samples.jsonl");
  EXPECT_THAT(samples, StartsWith(expected));
  EXPECT_EQ(samples.size() % big_pair(0).size(), 0U) << "a torn line stayed behind";
}

TEST(Persistence, a_full_disk_stops_the_campaign_and_keeps_every_acknowledged_pair) {
  const TempDir dir;
  const Tmpfs disk(dir / "disk");
  if (!disk.mounted())
    GTEST_SKIP() << "cannot mount a small tmpfs: " << disk.reason();
  const std::string path = dir / "disk/a";
  Result<ArchiveWriter> archive = new_archive(path);
  ASSERT_TRUE(archive) << archive.error().message();
  Error error;
  const std::int64_t acknowledged = fill(*archive, &error);
  ASSERT_GT(acknowledged, 0);
  EXPECT_EQ(error.code, ErrorCode::not_persisted);
  EXPECT_THAT(error.what, StartsWith("evidence not persisted: "));
  EXPECT_THAT(error.what, HasSubstr("No space left"));
  EXPECT_THAT(error.where, HasSubstr("/a/"));
  expect_acknowledged_pairs(path, acknowledged);
  expect_refusal_after_failure(*archive, path);
}

TEST(Persistence, a_file_size_limit_tears_an_append_that_is_then_cut_away) {
  const TempDir dir;
  const std::string path = dir / "a";
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {7000, 7000};  // in the middle of the fourth pair
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Result<ArchiveWriter> archive = new_archive(path);
    Error error;
    const std::int64_t acknowledged = archive ? fill(*archive, &error) : -1;
    if (acknowledged == 3 && error.code == ErrorCode::not_persisted &&
        !archive->finalize("finished", Json::object(), pass_report))
      ::_exit(7);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(slurp(path + "/samples.jsonl"), big_pair(0) + big_pair(1) + big_pair(2));
  EXPECT_FALSE(std::filesystem::exists(path + "/report.json"));
}

TEST(Persistence, a_read_only_directory_is_refused_before_anything_runs) {
  const TempDir dir;
  const Tmpfs disk(dir / "disk");
  if (!disk.mounted() || !disk.make_read_only()) {
    if (::geteuid() == 0)
      GTEST_SKIP() << "cannot mount a read-only tmpfs: " << disk.reason();
    ASSERT_EQ(::chmod((dir / "disk").c_str(), 0555), 0);
  }
  for (const std::string name : {"disk/a", "disk/x/a"}) {
    const Error error = new_archive(dir / name).error();
    EXPECT_EQ(error.code, ErrorCode::not_persisted);
    EXPECT_THAT(error.what, StartsWith("evidence not persisted: cannot create the directory"));
  }
}

TEST(Persistence, an_error_says_how_many_runs_are_kept_and_where) {
  const TempDir dir;
  Result<ArchiveWriter> archive = new_archive(dir / "a");
  std::filesystem::create_directories(dir / "a/blobs");
  std::ofstream(dir / "a/blobs/sha256") << "in the way";
  ASSERT_TRUE(archive->append_samples(pair_lines(0), {0, 0, 1}));
  ASSERT_TRUE(archive->append_samples(pair_lines(1), {0, 1, 3}));
  EXPECT_THAT(archive->store_blob("x").error().what,
              HasSubstr("; kept in " + (dir / "a") + ": 4 complete runs (2 pairs)"));
}

TEST(Persistence, an_archive_that_is_removed_is_noticed_at_once_and_does_not_come_back) {
  const TempDir dir;
  Result<ArchiveWriter> appended = new_archive(dir / "a");
  Result<ArchiveWriter> stored = new_archive(dir / "b");
  std::filesystem::remove_all(dir / "a");
  std::filesystem::remove_all(dir / "b");
  for (const Error& error : {appended->append_samples(pair_lines(0), {0, 0, 1}).error(),
                             stored->store_blob("x").error()}) {
    EXPECT_EQ(error.code, ErrorCode::not_persisted);
    EXPECT_THAT(error.what, HasSubstr("; nothing is kept in "));
  }
  EXPECT_FALSE(std::filesystem::exists(dir / "a"));
  EXPECT_FALSE(std::filesystem::exists(dir / "b"));
}

TEST(Persistence, an_archive_that_cannot_be_begun_leaves_nothing_behind) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "old");
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {10, 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Result<ArchiveWriter> archive = new_archive(dir / "old/new/deep/a");
    const bool named = !archive && archive.error().what.find("ulimit -f") != std::string::npos;
    ::_exit(named ? 7 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_TRUE(std::filesystem::exists(dir / "old")) << "it was there before";
  EXPECT_FALSE(std::filesystem::exists(dir / "old/new"));
}

TEST(Persistence, samples_that_change_under_the_writer_are_never_judged) {
  const TempDir dir;
  Result<ArchiveWriter> archive = new_archive(dir / "a");
  ASSERT_TRUE(archive->append_samples(pair_lines(0), {0, 0, 1}));
  {
    std::fstream file(dir / "a/samples.jsonl", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(7);
    file.put('9');
  }
  bool derived = false;
  const Result<void> end = archive->finalize("finished", Json::object(), [&]() -> Result<Json> {
    derived = true;
    return pass_report();
  });
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().what, HasSubstr("does not hold what was written"));
  EXPECT_FALSE(derived);
  EXPECT_FALSE(std::filesystem::exists(dir / "a/report.json"));
}

TEST(Persistence, a_foreign_node_in_the_archive_withdraws_the_report) {
  const TempDir dir;
  Result<ArchiveWriter> archive = new_archive(dir / "a");
  ASSERT_TRUE(archive->append_samples(pair_lines(0), {0, 0, 1}));
  ASSERT_EQ(::symlink("plan.json", (dir / "a/extra").c_str()), 0);
  const Result<void> end = archive->finalize("finished", Json::object(), pass_report);
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().message(), HasSubstr("symbolic links are not allowed"));
  EXPECT_FALSE(std::filesystem::exists(dir / "a/report.json"));
  EXPECT_EQ(slurp(dir / "a/samples.jsonl"), pair_lines(0));
}

TEST(Persistence, a_blob_that_cannot_be_stored_is_final_too) {
  const TempDir dir;
  Result<ArchiveWriter> archive = new_archive(dir / "a");
  std::filesystem::create_directories(dir / "a/blobs");
  std::ofstream(dir / "a/blobs/sha256") << "in the way";
  EXPECT_EQ(archive->store_blob("x").error().code, ErrorCode::not_persisted);
  EXPECT_EQ(slurp(dir / "a/blobs/sha256"), "in the way");
  expect_refusal_after_failure(*archive, dir / "a");
}

}  // namespace
}  // namespace assay::evidence
