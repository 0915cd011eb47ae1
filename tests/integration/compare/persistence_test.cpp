// When the disk refuses: the campaign stops, says that its evidence was not kept, and never passes.
#include "harness.h"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <filesystem>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::testing_compare {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Persistence : public CompareTest {
 protected:
  void expect_stopped(const Finished& done) {
    EXPECT_EQ(done.exit_code, 2) << done.err;
    EXPECT_THAT(done.err, HasSubstr("evidence not persisted"));
    EXPECT_THAT(done.out, Not(HasSubstr("PASS")));
  }
};

TEST_F(Persistence, a_file_that_may_not_grow_stops_the_campaign) {
  // 64 KiB hold the plan and some 60 pairs, not all 600.
  before_exec_ = [] {
    const rlimit limit{64 << 10, 64 << 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  };
  const Finished done = compare({"--batches", "10", "--pairs", "60", "-w", "0", "--fail-if-slower",
                                 "10000", payload("exit 0"), payload("exit 0")});
  expect_stopped(done);
  EXPECT_TRUE(exists("archive/samples.jsonl"));
  EXPECT_GT(read("archive/samples.jsonl").size(), 1000U) << "what was kept stays";
  EXPECT_THAT(done.err, HasSubstr("ulimit -f"));
  const std::string kept = std::to_string(samples().size());
  EXPECT_THAT(done.err, HasSubstr("kept in archive: " + kept + " complete runs"));
  EXPECT_FALSE(exists("archive/report.json"));
}

TEST_F(Persistence, an_archive_that_is_removed_under_the_campaign_stops_it_and_stays_away) {
  const Finished done = compare({"--batches", "2", "--pairs", "2", "-w", "0", "-C",
                                 "rm -rf " + path("archive"), "true", "true"});
  expect_stopped(done);
  EXPECT_THAT(done.err, HasSubstr("nothing is kept in archive"));
  EXPECT_FALSE(exists("archive"));
}

TEST_F(Persistence, a_file_of_the_archive_that_something_changes_is_never_certified) {
  const std::string archive = path("archive");
  struct Attack {
    const char* script;
    const char* node;
    const char* said;
  };
  const Attack attacks[] = {
      {"echo >> ARCHIVE/plan.json", "plan.json", "does not hold what was"},
      {"echo >> ARCHIVE/policy.json", "policy.json", "does not hold what was"},
      {"echo >> ARCHIVE/host.json", "host.json", "does not hold what was"},
      {"rm -f ARCHIVE/host.json", "host.json", "is gone"},
      {"find ARCHIVE -path '*/sha256/*' -type f -delete", "blobs", "is gone"},
      {"touch ARCHIVE/note.txt", "note.txt", "was not written by this"},
      {"touch ARCHIVE/seal.dsse.json", "seal.dsse.json", "was not written by this"},
      {"chmod 600 ARCHIVE/plan.json", "plan.json", "its mode is 0600"},
      {"cd ARCHIVE && [ -d blobs ] && mkdir -p blobs/mine; true", "blobs/mine",
       "was not written by this"}};
  for (const auto& [attack, node, said] : attacks) {
    std::string script = attack;
    script.replace(script.find("ARCHIVE"), 7, archive);
    write("attack.sh", script + "\n");
    const Finished done =
        compare({"--batches", "1", "--pairs", "2", "-w", "0", "-C", "sh " + path("attack.sh"),
                 "--fail-if-slower", "10000", "echo x", "echo x"});
    expect_stopped(done);
    EXPECT_THAT(done.err, HasSubstr(std::string("archive/") + node));
    EXPECT_THAT(done.err, HasSubstr(said));
    EXPECT_THAT(done.err, HasSubstr("kept in archive: 4 complete runs"));
    EXPECT_FALSE(exists("archive/report.json")) << attack;
    EXPECT_FALSE(exists("archive/SHA256SUMS")) << attack;
    std::filesystem::remove_all(archive);
  }
}

TEST_F(Persistence, what_was_set_up_is_cleaned_up_when_evidence_fails) {
  write("spoil.sh", "[ -e " + path("archive/samples.jsonl") + " ] && echo >> " +
                        path("archive/samples.jsonl") + "\n");
  const Finished done = compare({"--batches", "1", "--pairs", "2", "-w", "0", "--setup",
                                 payload("log " + path("log") + " setup"), "--cleanup",
                                 payload("log " + path("log") + " cleanup"), "-C",
                                 "sh " + path("spoil.sh"), "true", "/bin/true"});
  expect_stopped(done);
  for (const char* call :
       {"setup reference", "setup candidate", "cleanup reference", "cleanup candidate"})
    EXPECT_THAT(read("log"), HasSubstr(call));
}

TEST_F(Persistence, an_archive_that_cannot_be_begun_leaves_nothing_behind_and_names_its_flag) {
  before_exec_ = [] {
    const rlimit limit{100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  };
  const Finished done = assay({"compare", "--archive", "new/archive/.", "true", "true"});
  expect_stopped(done);
  EXPECT_THAT(done.err, HasSubstr("--archive new/archive"));
  EXPECT_FALSE(exists("new"));
}

TEST_F(Persistence, a_disk_that_fills_up_in_the_middle_stops_the_campaign) {
  ::mkdir(path("small").c_str(), 0755);
  const std::string mount_point = path("small");
  before_exec_ = [mount_point] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=256k") != 0)
      ::_exit(77);
  };
  const Finished done =
      assay({"compare", "--archive", "small/archive", "--batches", "10", "--pairs", "60", "-w", "0",
             "--fail-if-slower", "10000", payload("exit 0"), payload("exit 0")});
  if (done.exit_code == 77)
    GTEST_SKIP() << "needs the right to mount a small file system";
  expect_stopped(done);
  EXPECT_THAT(done.err, HasSubstr("No space left on device (free some there"));
}

TEST_F(Persistence, a_read_only_directory_is_refused_before_the_first_run) {
  ::mkdir(path("locked").c_str(), 0755);
  const std::string mount_point = path("locked");
  before_exec_ = [mount_point] {
    if (::geteuid() != 0) {
      ::chmod(mount_point.c_str(), 0555);
      return;
    }
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", mount_point.c_str(), "tmpfs", MS_RDONLY, nullptr) != 0)
      ::_exit(77);
  };
  const std::string log = payload("log " + path("ran") + " x");
  const Finished done = assay({"compare", "--archive", "locked/archive", log, log});
  if (done.exit_code == 77)
    GTEST_SKIP() << "needs the right to mount a read-only file system";
  EXPECT_EQ(done.exit_code, 2) << done.err;
  EXPECT_THAT(done.err, HasSubstr("locked"));
  EXPECT_FALSE(exists("ran"));
}

// Root may write everywhere, so the command runs as another user where the test is root.
TEST_F(Persistence, an_export_into_a_directory_without_permission_is_refused_before_the_first_run) {
  constexpr uid_t kOther = 65534;
  const bool is_root = ::geteuid() == 0;
  ::mkdir(path("locked").c_str(), 0555);
  write("locked/older", "older", 0666);  // a file of that name may be written, but not replaced
  if (is_root && ::chown(dir_.c_str(), kOther, kOther) != 0)
    GTEST_SKIP() << "needs the right to give a directory away";
  before_exec_ = [is_root] {
    if (is_root && (::setgroups(0, nullptr) != 0 || ::setresgid(kOther, kOther, kOther) != 0 ||
                    ::setresuid(kOther, kOther, kOther) != 0))
      ::_exit(77);
    if (::access(ASSAY_BINARY_DIR "/assay", X_OK) != 0)
      ::_exit(78);
  };
  const std::string log = payload("log " + path("ran") + " x");
  const auto with_export = [&](const std::string& flag, const std::string& file) {
    return compare({flag, file, "--batches", "1", "--pairs", "1", "-w", "0", log, log});
  };
  for (const char* kind :
       {"json", "csv", "markdown", "asciidoc", "orgmode", "junit", "github", "hyperfine"}) {
    for (const char* name : {"locked/new", "locked/older"}) {
      const std::string flag = std::string("--export-") + kind;
      const Finished done = with_export(flag, name);
      if (done.exit_code == 77)
        GTEST_SKIP() << "needs the right to become another user";
      if (done.exit_code == 78)
        GTEST_SKIP() << "another user may not run the built programs in " << ASSAY_BINARY_DIR;
      EXPECT_EQ(done.exit_code, 2) << done.err;
      EXPECT_THAT(done.err, AllOf(HasSubstr(flag + " " + name), HasSubstr("Permission denied")));
      EXPECT_EQ(done.out, "");
      EXPECT_FALSE(exists("ran")) << "a command was run";
      EXPECT_FALSE(exists("archive")) << "an archive was made";
    }
  }
  EXPECT_EQ(read("locked/older"), "older");
  ::chmod(path("locked").c_str(), 0755);  // or whoever is not root cannot remove it
  // The same user, the same campaign, a directory of his own: nothing else was in the way.
  const Finished done = with_export("--export-json", "new");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(exists("ran") && exists("archive/SHA256SUMS") && exists("new"));
}

TEST_F(Persistence, stdout_that_cannot_be_written_is_an_error_and_the_archive_is_kept) {
  before_exec_ = [] {
    const int full = ::open("/dev/full", O_WRONLY);
    ::dup2(full, 1);
  };
  const Finished done = compare({"--batches", "1", "--pairs", "1", "true", "true"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_TRUE(exists("archive/SHA256SUMS"));
}

}  // namespace
}  // namespace assay::testing_compare
