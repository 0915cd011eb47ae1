#include "archive_fixture.h"

#include "assay/base/sha256.h"

#include <gmock/gmock.h>

#include <unistd.h>

namespace assay::evidence {
namespace {

using test::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<std::vector<std::string>> read_lines(const ArchiveReader& reader, const std::string& name) {
  std::vector<std::string> lines;
  ASSAY_TRY_VOID(reader.for_each_line(name, [&](std::string_view line, std::int64_t number) {
    EXPECT_EQ(number, static_cast<std::int64_t>(lines.size()) + 1);
    lines.emplace_back(line);
    return Result<void>{};
  }));
  return lines;
}

class Reader : public ::testing::Test {
 protected:
  void SetUp() override {
    write_finished_archive(dir_ / "a");
    reader_.emplace(ArchiveReader::open(dir_ / "a").value());
  }
  void overwrite(const std::string& name, const std::string& bytes) {
    std::ofstream(dir_ / ("a/" + name), std::ios::binary) << bytes;
  }
  TempDir dir_;
  std::optional<ArchiveReader> reader_;
};

TEST_F(Reader, gives_documents_bytes_lines_and_blobs) {
  EXPECT_EQ(reader_->document("policy.json").value()["cap"], 1.05);
  EXPECT_EQ(reader_->bytes("plan.json").value(), "{\"seed\":5}\n");
  EXPECT_THAT(read_lines(*reader_, "samples.jsonl").value(),
              ElementsAre("{\"seq\":0}", "{\"seq\":1}", "{\"seq\":2}", "{\"seq\":3}"));
  EXPECT_EQ(reader_->blob(sha256_hex("output\n")).value(), "output\n");
}

TEST_F(Reader, opens_only_archives_of_its_own_schema) {
  EXPECT_EQ(ArchiveReader::open(dir_ / "absent").error().code, ErrorCode::not_found);
  EXPECT_EQ(ArchiveReader::open(dir_ / "a/plan.json").error().code, ErrorCode::invalid_format);
  EXPECT_THAT(ArchiveReader::open(dir_.path()).error().message(), HasSubstr("no header.json"));
  overwrite("header.json", R"({"schema":{"major":2,"minor":0,"name":"assay.archive"}})"
                           "\n");
  EXPECT_EQ(ArchiveReader::open(dir_ / "a").error().code, ErrorCode::unsupported);
  overwrite("header.json", R"({"schema":{"major":1,"minor":0,"name":"other"}})"
                           "\n");
  EXPECT_EQ(ArchiveReader::open(dir_ / "a").error().code, ErrorCode::unsupported);
  overwrite("header.json", "{}\n");
  EXPECT_THAT(ArchiveReader::open(dir_ / "a").error().message(), HasSubstr("header.json: /schema"));
}

TEST_F(Reader, refuses_documents_that_are_not_canonical) {
  overwrite("policy.json", "{\"cap\": 1.05}\n");
  EXPECT_EQ(reader_->document("policy.json").error().code, ErrorCode::invalid_format);
  overwrite("policy.json", "{\"cap\":1.05}");
  EXPECT_THAT(reader_->document("policy.json").error().what, HasSubstr("line feed"));
  overwrite("policy.json", "{\"cap\":1,\"cap\":2}\n");
  EXPECT_THAT(reader_->document("policy.json").error().what, HasSubstr("duplicate key"));
  overwrite("policy.json", "");
  EXPECT_FALSE(reader_->document("policy.json"));
  overwrite("manifest.json", " {\"b\": 1, \"a\": 2} ");
  EXPECT_TRUE(reader_->document("manifest.json"));
  EXPECT_EQ(reader_->document("absent.json").error().code, ErrorCode::not_found);
}

TEST_F(Reader, a_torn_last_line_is_an_error_that_names_file_and_line) {
  overwrite("samples.jsonl", "{\"seq\":0}\n{\"seq\":1}\n{\"se");
  const Error error = read_lines(*reader_, "samples.jsonl").error();
  EXPECT_EQ(error.code, ErrorCode::invalid_format);
  EXPECT_THAT(error.message(), HasSubstr("samples.jsonl:3: the last line is torn: 4 bytes"));
  overwrite("samples.jsonl", "");
  EXPECT_TRUE(read_lines(*reader_, "samples.jsonl").value().empty());
}

TEST_F(Reader, joins_lines_that_span_reads) {
  const std::string big(300000, 'x');
  overwrite("samples.jsonl", "a\n" + big + "\n\nb" + big + "\n" + "c\n");
  EXPECT_THAT(read_lines(*reader_, "samples.jsonl").value(),
              ElementsAre("a", big, "", "b" + big, "c"));
}

TEST_F(Reader, stops_at_the_first_error_of_the_caller) {
  int calls = 0;
  const Result<void> done =
      reader_->for_each_line("samples.jsonl", [&](std::string_view, std::int64_t) -> Result<void> {
        ++calls;
        return fail(ErrorCode::invalid_format, "stop");
      });
  EXPECT_EQ(done.error().what, "stop");
  EXPECT_EQ(calls, 1);
}

TEST_F(Reader, does_not_follow_symlinks) {
  std::filesystem::rename(dir_ / "a/samples.jsonl", dir_ / "elsewhere");
  std::filesystem::rename(dir_ / "a/policy.json", dir_ / "policy");
  ASSERT_EQ(::symlink((dir_ / "elsewhere").c_str(), (dir_ / "a/samples.jsonl").c_str()), 0);
  ASSERT_EQ(::symlink((dir_ / "policy").c_str(), (dir_ / "a/policy.json").c_str()), 0);
  EXPECT_FALSE(read_lines(*reader_, "samples.jsonl"));
  EXPECT_FALSE(reader_->document("policy.json"));
}

TEST_F(Reader, a_blob_must_have_the_digest_that_names_it) {
  const std::string digest = sha256_hex("output\n");
  overwrite("blobs/sha256/" + digest.substr(0, 2) + "/" + digest, "other\n");
  EXPECT_EQ(reader_->blob(digest).error().code, ErrorCode::invalid_format);
  EXPECT_EQ(reader_->blob("../../../plan.json").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(reader_->blob(std::string(64, '0')).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace assay::evidence
