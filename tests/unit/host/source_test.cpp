#include "fixture.h"

#include "assay/base/sha256.h"

#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::host {
namespace {

using std::string_literals::operator""s;
using Words = std::vector<std::string>;

const std::string kCommit(40, 'a');

bool has(const Words& argv, const std::string& word) {
  return std::find(argv.begin(), argv.end(), word) != argv.end();
}

// A git that knows one checkout whose status is `bytes`.
Runner git_with_status(const std::string& bytes) {
  return [bytes](const Words& argv) -> Result<std::string> {
    EXPECT_EQ(argv[0], "git");
    EXPECT_TRUE(has(argv, "--no-optional-locks"));
    if (has(argv, "--is-inside-work-tree"))
      return "true\n";
    if (has(argv, "rev-parse"))
      return kCommit + "\n";
    EXPECT_TRUE(has(argv, "--porcelain=v1") && has(argv, "-z"));
    return bytes;
  };
}

Json status(const std::string& bytes) {
  return source_state("/somewhere", git_with_status(bytes)).at("status");
}

TEST(SourceState, keeps_the_leading_blank_of_the_first_record) {
  // " M" is modified and unstaged; trimmed it would become "M ", which is staged.
  const std::string bytes = " M one\0M  two\0?? three four\0"s;
  const Json entries = status(bytes).at("value").at("entries");
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0], (Json{{"status", " M"}, {"path", "one"}}));
  EXPECT_EQ(entries[1], (Json{{"status", "M "}, {"path", "two"}}));
  EXPECT_EQ(entries[2], (Json{{"status", "??"}, {"path", "three four"}}));
  EXPECT_EQ(status(bytes).at("value").at("sha256"), sha256_hex(bytes));
}

TEST(SourceState, tells_clean_from_unknown) {
  EXPECT_EQ(status("").at("value").at("clean"), true);
  EXPECT_EQ(status(std::string(" M a\0", 5)).at("value").at("clean"), false);
  EXPECT_TRUE(status("garbage").at("value").is_null());
}

TEST(SourceState, attaches_the_origin_to_a_rename) {
  const Json value = status(std::string("R  new\0old\0 M x\0", 16)).at("value");
  EXPECT_EQ(value.at("entries")[0], (Json{{"status", "R "}, {"path", "new"}, {"from", "old"}}));
  EXPECT_EQ(value.at("entries")[1].at("path"), "x");
}

TEST(SourceState, refuses_records_that_git_does_not_write) {
  for (const std::string& bad :
       {std::string(" M\0", 3), std::string("M one\0", 6), std::string("XY one\0", 7),
        std::string(" M one"), std::string("R  new\0", 7), std::string("\0", 1)})
    EXPECT_EQ(status(bad).value("reason", ""), "unexpected_content") << bad;
}

TEST(SourceState, sanitises_paths_and_bounds_their_number) {
  EXPECT_EQ(status(std::string("?? \xff\0", 5)).at("value").at("entries")[0].at("path"),
            "\xef\xbf\xbd");
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += "?? f" + std::to_string(i) + '\0';
  const Json value = status(many).at("value");
  EXPECT_EQ(value.at("entries").size(), 200U);
  EXPECT_EQ(value.at("entries_total"), 1000);
}

TEST(SourceState, says_why_there_is_none) {
  const auto reason_with = [](Error error) {
    const Runner run = [error](const Words&) -> Result<std::string> {
      return tl::unexpected<Error>(error);
    };
    const Json state = source_state("/somewhere", run);
    EXPECT_TRUE(state.at("commit").at("value").is_null());
    EXPECT_EQ(state.at("commit"), state.at("status"));
    return state.at("commit").value("reason", "");
  };
  EXPECT_EQ(reason_with({ErrorCode::not_found, "no git"}), "git_not_installed");
  EXPECT_EQ(reason_with({ErrorCode::io, "exit 128"}), "not_a_git_checkout");
}

TEST(SourceState, refuses_a_commit_that_is_none) {
  const Runner run = [](const Words& argv) -> Result<std::string> {
    return has(argv, "--is-inside-work-tree") ? "true\n" : "HEAD\n";
  };
  EXPECT_EQ(source_state("/x", run).at("commit").value("reason", ""), "unexpected_content");
}

TEST(SourceState, passes_a_hostile_directory_as_one_word) {
  Words seen;
  const Runner run = [&](const Words& argv) -> Result<std::string> {
    seen = argv;
    return fail(ErrorCode::io, "no");
  };
  source_state("$(touch x) --upload-pack=y", run);
  EXPECT_TRUE(has(seen, "$(touch x) --upload-pack=y"));
  EXPECT_EQ(*(std::find(seen.begin(), seen.end(), "-C") + 1), "$(touch x) --upload-pack=y");
}

TEST(Toolchains, keep_the_first_line_or_say_why_there_is_none) {
  const Runner run = [](const Words& argv) -> Result<std::string> {
    EXPECT_EQ(argv.size(), 2U);
    EXPECT_EQ(argv[1], "--version");
    if (argv[0] == "gcc")
      return "gcc (Example) 12.2.0\nCopyright\n";
    if (argv[0] == "clang")
      return "\xff\n";
    if (argv[0] == "clang++")
      return fail(ErrorCode::launcher, "timed out");
    return fail(ErrorCode::not_found, "no such program");
  };
  const Json versions = toolchains(run);
  EXPECT_EQ(value(versions, "gcc"), "gcc (Example) 12.2.0");
  EXPECT_EQ(reason(versions, "clang"), "unexpected_content");
  EXPECT_EQ(reason(versions, "clang++"), "command_failed");
  EXPECT_EQ(reason(versions, "g++"), "not_installed");
  EXPECT_EQ(reason(versions, "rustc"), "not_installed");
}

class ProgramDigest : public HostTree {};

TEST_F(ProgramDigest, is_of_the_bytes_behind_symlinks) {
  put("program", "abc");
  std::filesystem::create_symlink("program", path("link"));
  const Json digest = program_digest(path("link"));
  EXPECT_EQ(digest.at("value").at("sha256"), sha256_hex("abc"));
  EXPECT_EQ(digest.at("value").at("bytes"), 3);
  EXPECT_EQ(digest.at("grade"), "observed");
}

TEST_F(ProgramDigest, says_why_there_is_none) {
  EXPECT_EQ(program_digest(path("absent")).value("reason", ""), "not_present");
  EXPECT_EQ(program_digest(path("")).value("reason", ""), "not_a_file");
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(program_digest(path("fifo")).value("reason", ""), "not_a_file");
  if (::geteuid() != 0) {
    put("secret", "x");
    ASSERT_EQ(::chmod(path("secret").c_str(), 0), 0);
    EXPECT_EQ(program_digest(path("secret")).value("reason", ""), "read_error");
  }
}

}  // namespace
}  // namespace assay::host
