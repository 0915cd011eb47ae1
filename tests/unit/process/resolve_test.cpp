#include "process/resolve.h"

#include "support.h"

#include <cstdlib>
#include <sys/stat.h>

namespace assay::process::testing {
namespace {

// Sets PATH for one test.
class Path {
 public:
  explicit Path(const std::string& value) : before_(getenv("PATH")) {
    setenv("PATH", value.c_str(), 1);
  }
  ~Path() { setenv("PATH", before_.c_str(), 1); }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

 private:
  std::string before_;
};

std::string message_for(const std::string& name) {
  const auto result = resolve_program(name);
  return result ? "" : result.error().message();
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Resolve, finds_what_execvp_would_run) {
  const TempDir first;
  const TempDir second;
  first.write("tool", "#!/bin/sh\n", 0644);  // not executable: the search goes on
  const std::string wanted = second.write("tool", "#!/bin/sh\n", 0755);
  const Path path(first.file("") + ":" + second.file(""));
  EXPECT_EQ(resolve_program("tool").value(), second.file("") + "/tool");
  EXPECT_EQ(resolve_program(wanted).value(), wanted);
}

TEST(Resolve, an_empty_path_entry_is_the_working_directory) {
  const Path path(":/bin");
  EXPECT_EQ(find_program("sh").path, "/bin/sh");
  EXPECT_EQ(find_program("no-such-program").error, ENOENT);
}

TEST(Resolve, tells_apart_why_a_program_cannot_run) {
  const TempDir directory;
  EXPECT_HAS(message_for("no-such-program"), "is in no folder of PATH");
  EXPECT_HAS(message_for("no-such-program"), "./no-such-program");
  EXPECT_HAS(message_for("/no/such/program"), "command not found");
  EXPECT_HAS(message_for("/tmp"), "is a directory");
  EXPECT_HAS(message_for(""), "no program name");
  EXPECT_HAS(message_for(directory.write("plain", "#!/bin/sh\n", 0644)), "chmod +x");
  EXPECT_HAS(message_for(directory.write("script", "#!/no/such/shell -e\n", 0755)),
             "bad interpreter '/no/such/shell'");
  EXPECT_HAS(message_for(directory.write("dos", "#!/bin/sh\r\n", 0755)), "CR LF");
  EXPECT_HAS(message_for(directory.write("empty-line", "#! \n", 0755)), "names no interpreter");
}

TEST(Resolve, error_codes_separate_missing_from_unusable) {
  EXPECT_EQ(resolve_program("no-such-program").error().code, ErrorCode::not_found);
  EXPECT_EQ(resolve_program("/tmp").error().code, ErrorCode::invalid_argument);
}

TEST(Resolve, a_file_that_is_not_executable_on_the_path_is_named) {
  const TempDir directory;
  directory.write("tool", "#!/bin/sh\n", 0644);
  const Path path(directory.file(""));
  EXPECT_HAS(message_for("tool"), "not executable");
}

TEST(Resolve, accepts_programs_and_scripts) {
  EXPECT_TRUE(resolve_program("true"));
  EXPECT_TRUE(resolve_program(fixture("process_noop")));
  const TempDir directory;
  EXPECT_TRUE(resolve_program(directory.write("s", "#!/bin/sh", 0755)));
}

TEST(Resolve, long_and_odd_names_are_printed_safely) {
  const std::string message = message_for(std::string(300, 'n') + "\n\xff");
  EXPECT_LT(message.size(), 600U);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace assay::process::testing
