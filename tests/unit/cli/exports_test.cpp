#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "cli/cli.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class Exports : public testing::Test {
 protected:
  Exports() {
    std::string pattern = (fs::temp_directory_path() / "assay-cli-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      std::abort();
    root_ = pattern;
  }
  ~Exports() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  std::string path(const std::string& name) const { return root_ + "/" + name; }
  std::string refusal(const std::vector<Export>& exports, bool stdout_taken = false) {
    const auto checked = check_exports(exports, stdout_taken);
    if (checked)
      return "";
    EXPECT_EQ(checked.error().code, ErrorCode::invalid_argument) << checked.error().message();
    return checked.error().message();
  }

  std::string root_;
};

TEST_F(Exports, that_can_be_written_pass_and_leave_no_trace) {
  EXPECT_EQ(
      refusal({{"--export-json", path("a")}, {"--export-csv", path("b")}, {"--export-junit", "-"}}),
      "");
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(Exports, to_a_directory_or_into_a_missing_one_are_refused_by_flag) {
  EXPECT_THAT(refusal({{"--export-json", root_}}), HasSubstr("--export-json"));
  EXPECT_THAT(refusal({{"--export-json", root_}}), HasSubstr("directory"));
  EXPECT_THAT(refusal({{"--export-csv", path("no/such/file")}}), HasSubstr("--export-csv"));
  EXPECT_THAT(refusal({{"--export-csv", ""}}), HasSubstr("empty"));
}

TEST_F(Exports, to_one_file_twice_are_refused_however_it_is_spelled) {
  EXPECT_THAT(refusal({{"--export-json", path("a")}, {"--export-csv", root_ + "/.//a"}}),
              HasSubstr("--export-json"));
}

TEST_F(Exports, share_stdout_with_nobody) {
  EXPECT_THAT(refusal({{"--export-json", "-"}, {"--export-csv", "-"}}), HasSubstr("stdout"));
  EXPECT_THAT(refusal({{"--export-csv", "-"}}, true), HasSubstr("--json"));
}

TEST_F(Exports, replace_an_older_file_and_write_exact_bytes) {
  std::ofstream(path("a")) << "older and longer";
  const std::string bytes("x\0\n", 3);
  ASSERT_TRUE(write_export({"--export-json", path("a")}, bytes).has_value());
  std::ifstream in(path("a"), std::ios::binary);
  std::stringstream read;
  read << in.rdbuf();
  EXPECT_EQ(read.str(), bytes);
}

TEST_F(Exports, that_fail_name_flag_and_path) {
  const auto written = write_export({"--export-json", path("no/file")}, "x");
  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().message(), HasSubstr("--export-json " + path("no/file")));
}

}  // namespace
}  // namespace assay::cli
