#include "assay/base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/base/temp_dir.h"

namespace assay {
namespace {

using test::count_entries;
using test::TempDir;
using ::testing::HasSubstr;

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0);
  return status.st_mode & 07777U;
}

// Runs `body` in a child whose files cannot grow beyond `bytes`; returns its exit code.
template <typename Body>
int with_file_limit(rlim_t bytes, Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(body());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ReadFile, gives_every_byte) {
  const TempDir dir;
  const std::string bytes = std::string(700000, 'x') + std::string("\0\n\xff", 3);
  std::ofstream(dir / "f", std::ios::binary) << bytes;
  EXPECT_EQ(read_file(dir / "f").value(), bytes);
  std::ofstream(dir / "empty");
  EXPECT_EQ(read_file(dir / "empty").value(), "");
  EXPECT_FALSE(read_file("/proc/self/status").value().empty());
  EXPECT_EQ(read_file("/dev/null").value(), "");
}

TEST(ReadFile, refuses_more_than_the_bound) {
  const TempDir dir;
  std::ofstream(dir / "f") << "12345";
  EXPECT_EQ(read_file(dir / "f", 5).value(), "12345");
  const Error error = read_file(dir / "f", 4).error();
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_THAT(error.what, HasSubstr("larger than 4 bytes"));
  EXPECT_EQ(read_file("/dev/zero", 1000).error().code, ErrorCode::io);
}

TEST(ReadFile, tells_absent_from_unreadable) {
  const TempDir dir;
  EXPECT_EQ(read_file(dir / "absent").error().code, ErrorCode::not_found);
  EXPECT_EQ(read_file(dir.path()).error().code, ErrorCode::io);
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(read_file(dir / "fifo").error().code, ErrorCode::io);
  std::ofstream(dir / "f") << "x";
  ASSERT_EQ(::symlink("f", (dir / "link").c_str()), 0);
  EXPECT_THAT(read_file(dir / "link").error().message(), HasSubstr("symbolic link"));
  EXPECT_EQ(read_file(dir / std::string(300, 'n')).error().code, ErrorCode::io);
}

TEST(WriteNewFile, writes_bytes_and_mode_and_leaves_nothing_else) {
  const TempDir dir;
  const mode_t old_mask = ::umask(077);
  ASSERT_TRUE(write_new_file(dir / "f", "hello", 0640));
  ::umask(old_mask);
  EXPECT_EQ(slurp(dir / "f"), "hello");
  EXPECT_EQ(mode_of(dir / "f"), 0640U);
  EXPECT_EQ(count_entries(dir.path()), 1U);
}

TEST(WriteNewFile, never_overwrites) {
  const TempDir dir;
  std::ofstream(dir / "f") << "old";
  EXPECT_EQ(write_new_file(dir / "f", "new").error().code, ErrorCode::already_exists);
  EXPECT_EQ(slurp(dir / "f"), "old");
  ASSERT_EQ(::symlink("nowhere", (dir / "link").c_str()), 0);
  EXPECT_EQ(write_new_file(dir / "link", "new").error().code, ErrorCode::already_exists);
  EXPECT_EQ(count_entries(dir.path()), 2U);
}

TEST(WriteNewFile, takes_names_as_long_as_the_file_system_does) {
  const TempDir dir;
  EXPECT_TRUE(write_new_file(dir / std::string(255, 'n'), "x"));
  const Error error = write_new_file(dir / std::string(300, 'n'), "x").error();
  EXPECT_EQ(error.code, ErrorCode::not_persisted);
  EXPECT_THAT(error.what, HasSubstr("File name too long"));
  EXPECT_EQ(count_entries(dir.path()), 1U);
}

TEST(WriteNewFile, a_missing_directory_is_an_error) {
  const TempDir dir;
  const Error error = write_new_file(dir / "a/b", "x").error();
  EXPECT_EQ(error.code, ErrorCode::not_persisted);
  EXPECT_THAT(error.message(), HasSubstr("/a: cannot open the directory"));
}

TEST(WriteNewFile, a_full_file_system_leaves_no_file_and_no_temp) {
  const TempDir dir;
  const int code = with_file_limit(1000, [&] {
    const Result<void> written = write_new_file(dir / "f", std::string(3000, 'x'));
    return !written && written.error().code == ErrorCode::not_persisted ? 7 : 1;
  });
  EXPECT_EQ(code, 7);
  EXPECT_EQ(count_entries(dir.path()), 0U);
}

TEST(ReplaceFile, replaces_atomically_and_keeps_the_old_bytes_on_failure) {
  const TempDir dir;
  ASSERT_TRUE(replace_file(dir / "f", "one"));
  ASSERT_TRUE(replace_file(dir / "f", "two"));
  EXPECT_EQ(slurp(dir / "f"), "two");
  const int code =
      with_file_limit(10, [&] { return replace_file(dir / "f", std::string(100, 'x')) ? 1 : 7; });
  EXPECT_EQ(code, 7);
  EXPECT_EQ(slurp(dir / "f"), "two");
  EXPECT_EQ(count_entries(dir.path()), 1U);
}

TEST(ReplaceFile, refuses_to_replace_what_is_not_a_regular_file) {
  const TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("f", (dir / "link").c_str()), 0);
  ASSERT_EQ(::mkdir((dir / "d").c_str(), 0700), 0);
  for (const char* name : {"fifo", "link", "d"}) {
    EXPECT_FALSE(replace_file(dir / name, "x")) << name;
    EXPECT_EQ(check_writable(dir / name).error().code, ErrorCode::invalid_argument) << name;
  }
  EXPECT_EQ(check_writable("/dev/null").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(count_entries(dir.path()), 3U);
}

TEST(CheckWritable, leaves_no_trace) {
  const TempDir dir;
  std::ofstream(dir / "old") << "old";
  EXPECT_TRUE(check_writable("-"));
  EXPECT_TRUE(check_writable(dir / "new"));
  EXPECT_TRUE(check_writable(dir / "old"));
  EXPECT_EQ(slurp(dir / "old"), "old");
  EXPECT_EQ(count_entries(dir.path()), 1U);
}

TEST(CheckWritable, names_what_cannot_be_written) {
  const TempDir dir;
  const Error absent = check_writable(dir / "absent/f").error();
  EXPECT_EQ(absent.code, ErrorCode::invalid_argument);
  EXPECT_THAT(absent.message(), HasSubstr(dir / "absent"));
  EXPECT_FALSE(check_writable(dir / std::string(300, 'n')));
  EXPECT_FALSE(check_writable(""));
  EXPECT_FALSE(check_writable(dir.path() + "/"));
  EXPECT_FALSE(check_writable("/proc/assay-cannot-write-here"));
}

TEST(MakeDirectories, creates_missing_levels_and_accepts_existing_ones) {
  const TempDir dir;
  ASSERT_TRUE(make_directories(dir / "a/b/c"));
  ASSERT_TRUE(make_directories(dir / "a/b/c/"));
  ASSERT_TRUE(make_directories(dir / "a//b/d"));
  EXPECT_TRUE(std::filesystem::is_directory(dir / "a/b/c"));
  EXPECT_TRUE(std::filesystem::is_directory(dir / "a/b/d"));
  EXPECT_TRUE(make_directories("."));
  std::ofstream(dir / "file") << "x";
  EXPECT_EQ(make_directories(dir / "file/x").error().code, ErrorCode::not_persisted);
}

TEST(MakeDirectory, refuses_what_exists) {
  const TempDir dir;
  ASSERT_TRUE(make_directory(dir / "a", 0700));
  EXPECT_EQ(mode_of(dir / "a"), 0700U);
  EXPECT_EQ(make_directory(dir / "a").error().code, ErrorCode::already_exists);
  EXPECT_EQ(make_directory(dir / "x/y").error().code, ErrorCode::not_persisted);
}

TEST(AppendFile, appends_and_counts) {
  const TempDir dir;
  Result<AppendFile> file = AppendFile::create(dir / "log");
  ASSERT_TRUE(file);
  EXPECT_EQ(mode_of(dir / "log"), 0644U);
  ASSERT_TRUE(file->append("one\n"));
  ASSERT_TRUE(file->append(""));
  ASSERT_TRUE(file->append("two\n"));
  EXPECT_EQ(file->size(), 8);
  ASSERT_TRUE(file->sync());
  ASSERT_TRUE(file->close());
  EXPECT_EQ(slurp(dir / "log"), "one\ntwo\n");
  EXPECT_EQ(file->append("three\n").error().code, ErrorCode::not_persisted);
  EXPECT_EQ(file->sync().error().code, ErrorCode::not_persisted);
  EXPECT_EQ(file->close().error().code, ErrorCode::not_persisted);
}

TEST(AppendFile, never_takes_over_an_existing_file) {
  const TempDir dir;
  std::ofstream(dir / "log") << "old";
  EXPECT_EQ(AppendFile::create(dir / "log").error().code, ErrorCode::already_exists);
  EXPECT_EQ(slurp(dir / "log"), "old");
}

TEST(AppendFile, cuts_a_torn_append_away_and_can_go_on) {
  const TempDir dir;
  const int code = with_file_limit(10, [&] {
    Result<AppendFile> file = AppendFile::create(dir / "log");
    if (!file || !file->append("12345\n"))
      return 1;
    const Result<void> torn = file->append("6789ABCDEF\n");  // only 4 of its 11 bytes fit
    if (torn || torn.error().code != ErrorCode::not_persisted || file->size() != 6)
      return 2;
    return file->append("7\n") && file->sync() ? 7 : 3;
  });
  EXPECT_EQ(code, 7);
  EXPECT_EQ(slurp(dir / "log"), "12345\n7\n");
}

TEST(AppendFile, an_append_onto_a_file_of_another_size_breaks_it_for_good) {
  const TempDir dir;
  Result<AppendFile> file = AppendFile::create(dir / "log");
  ASSERT_TRUE(file && file->append("12345\n"));
  ASSERT_EQ(::truncate((dir / "log").c_str(), 3), 0);
  EXPECT_EQ(file->append("6\n").error().code, ErrorCode::not_persisted);
  EXPECT_FALSE(file->append("7\n"));
  EXPECT_FALSE(file->sync());
  EXPECT_EQ(slurp(dir / "log"), "1236\n");
}

TEST(AppendFile, a_size_that_is_not_its_own_breaks_it_for_good) {
  const TempDir dir;
  Result<AppendFile> file = AppendFile::create(dir / "log");
  ASSERT_TRUE(file && file->append("12345\n"));
  ASSERT_EQ(::truncate((dir / "log").c_str(), 3), 0);
  const Result<void> synced = file->sync();
  ASSERT_FALSE(synced);
  EXPECT_THAT(synced.error().what, HasSubstr("6 bytes were written but the file has 3"));
  EXPECT_FALSE(file->append("x\n"));
  EXPECT_EQ(slurp(dir / "log"), "123");
}

TEST(Fd, is_closed_once_by_its_owner) {
  int raw = -1;
  {
    Fd a(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    raw = a.get();
    ASSERT_TRUE(a.valid());
    Fd b = std::move(a);
    EXPECT_FALSE(a.valid());
    EXPECT_EQ(b.get(), raw);
    EXPECT_EQ(::fcntl(raw, F_GETFD), FD_CLOEXEC);
  }
  EXPECT_EQ(::fcntl(raw, F_GETFD), -1);
}

}  // namespace
}  // namespace assay
