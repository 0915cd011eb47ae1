#include "assay/verdict/sample.h"

#include "fixture.h"

#include "assay/base/json.h"

#include <gtest/gtest.h>

namespace assay::verdict {
namespace {

Sample sample() {
  return make_inputs().samples.at(0);
}

TEST(SampleLine, holds_exactly_the_documented_keys) {
  Sample s = sample();
  s.metrics = {{"p99_ns", 5}};
  s.load1 = std::nullopt;
  const Json json = Json::parse(sample_line(s));
  std::set<std::string> keys;
  for (const auto& [key, value] : json.items())
    keys.insert(key);
  const std::set<std::string> expected = {"seq",
                                          "batch",
                                          "pair",
                                          "case",
                                          "side",
                                          "position",
                                          "phase",
                                          "status",
                                          "exit_code",
                                          "signal",
                                          "bound_hit",
                                          "elapsed_ns",
                                          "user_ns",
                                          "system_ns",
                                          "peak_rss_bytes",
                                          "minor_faults",
                                          "major_faults",
                                          "stdout_sha256",
                                          "stderr_sha256",
                                          "voluntary_switches",
                                          "stdout_bytes",
                                          "stderr_bytes",
                                          "load1",
                                          "involuntary_switches",
                                          "steal_share",
                                          "descendants_left",
                                          "metrics",
                                          "start_monotonic_ns",
                                          "reasons"};
  EXPECT_EQ(keys, expected);
  EXPECT_EQ(json.at("reasons"), (Json{{"load1", "not_available"}}));
}

TEST(SampleLine, is_canonical_and_about_700_bytes) {
  const std::string line = sample_line(sample());
  EXPECT_TRUE(parse_canonical_json(line, "line").has_value());
  EXPECT_LT(line.size(), 720U);
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(SampleLine, start_is_a_string_and_reads_back) {
  Sample s = sample();
  s.start_monotonic_ns = INT64_C(9223372036854775807);
  const std::string line = sample_line(s);
  EXPECT_NE(line.find("\"start_monotonic_ns\":\"9223372036854775807\""), std::string::npos) << line;
  EXPECT_EQ(parse_sample(line, "l")->start_monotonic_ns, s.start_monotonic_ns);
}

TEST(SampleLine, every_null_gets_a_reason_and_reads_back_to_the_same_bytes) {
  Sample s;
  s.case_name = "c";
  s.status = "failed";
  s.signal = 9;
  s.reasons["peak_rss_bytes"] = "rss_quantised";
  const std::string line = sample_line(s);
  const Json json = Json::parse(line);
  int nulls = 0;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_null())
      continue;
    ++nulls;
    EXPECT_TRUE(json.at("reasons").contains(key)) << key;
  }
  EXPECT_EQ(nulls, 16);
  EXPECT_EQ(json.at("reasons").at("exit_code"), "ended_by_signal");
  EXPECT_EQ(json.at("reasons").at("peak_rss_bytes"), "rss_quantised");
  const auto read = parse_sample(line, "l");
  ASSERT_TRUE(read.has_value()) << read.error().message();
  EXPECT_EQ(sample_line(*read), line);
}

TEST(SampleLine, a_full_sample_reads_back_to_the_same_bytes) {
  for (const Sample& s : make_inputs({.batches = 2}).samples) {
    const std::string line = sample_line(s);
    const auto read = parse_sample(line, "samples.jsonl:1");
    ASSERT_TRUE(read.has_value()) << read.error().message();
    EXPECT_EQ(sample_line(*read), line);
  }
}

TEST(SampleLine, hostile_case_names_survive) {
  for (const std::string& name :
       {std::string(300, 'n'), std::string("a/b:c\nd\t\"e\"\\"), std::string("\xF0\x9F\x99\x82")}) {
    Sample s = sample();
    s.case_name = name;
    EXPECT_EQ(parse_sample(sample_line(s), "l")->case_name, name);
  }
}

TEST(SampleLine, damaged_lines_are_refused_with_their_place) {
  const std::string line = sample_line(sample());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string copy = line;
    const auto at = copy.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return copy.replace(at, from.size(), to);
  };
  const std::vector<std::string> bad = {
      "",
      "[]",
      "{}",
      line.substr(0, line.size() / 2),
      line + " ",
      with("\"exit_code\":0", "\"exit_code\":null"),
      with("\"exit_code\":0", "\"exit_code\":0.5"),
      with("\"seq\":0", "\"seq\":-1"),
      with("\"side\":\"", "\"side\":\"x"),
      with("\"phase\":\"warmup\"", "\"phase\":\"warm\""),
      with("\"signal\":0", "\"signal\":0,\"zzz\":1"),
      with("\"load1\":0.5", "\"load1\":\"0.5\""),
      with("\"start_monotonic_ns\":\"", "\"start_monotonic_ns\":\"-"),
      with(std::string(64, 'b'), std::string(63, 'b') + "G"),
      with("\"batch\":0", "\"batch\": 0"),
  };
  for (const std::string& text : bad) {
    const auto read = parse_sample(text, "samples.jsonl:7");
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_format) << text;
    EXPECT_NE(read.error().message().find("samples.jsonl:7"), std::string::npos);
  }
}

struct RejectionCase {
  std::string name;
  std::function<void(Sample&, Expectation&)> change;
  std::string expected;
};

TEST(Rejection, names_why_a_run_is_no_measurement) {
  const std::vector<RejectionCase> table = {
      {"plain", [](Sample&, Expectation&) {}, ""},
      {"exit 1", [](Sample& s, Expectation&) { s.status = "failed", s.exit_code = 1; }, "failed"},
      {"ignored exit code",
       [](Sample& s, Expectation& e) {
         s.status = "failed", s.exit_code = 3, e.ignored_exit_codes = {2, 3};
       },
       ""},
      {"another exit code",
       [](Sample& s, Expectation& e) {
         s.status = "failed", s.exit_code = 4, e.ignored_exit_codes = {2, 3};
       },
       "failed"},
      {"a signal is no exit code",
       [](Sample& s, Expectation& e) {
         s.status = "failed", s.exit_code = 3, s.signal = 11, e.ignored_exit_codes = {3};
       },
       "failed"},
      {"all failures ignored",
       [](Sample& s, Expectation& e) {
         s.status = "failed", s.signal = 11, e.ignore_all_failures = true;
       },
       ""},
      {"a timeout is never ignored",
       [](Sample& s, Expectation& e) { s.status = "timeout", e.ignore_all_failures = true; },
       "timeout"},
      {"output limit", [](Sample& s, Expectation&) { s.status = "output_limit"; }, "output_limit"},
      {"launch error", [](Sample& s, Expectation&) { s.status = "launch_error"; }, "launch_error"},
      {"unknown status", [](Sample& s, Expectation&) { s.status = "odd"; }, "failed"},
      {"right output", [](Sample& s, Expectation& e) { e.stdout_sha256 = s.stdout_sha256; }, ""},
      {"wrong output", [](Sample&, Expectation& e) { e.stdout_sha256 = std::string(64, '0'); },
       "wrong_output"},
      {"unknown output is not the right one",
       [](Sample& s, Expectation& e) {
         e.stdout_sha256 = s.stdout_sha256, s.stdout_sha256 = std::nullopt;
       },
       "wrong_output"},
      {"ignored failure with wrong output",
       [](Sample& s, Expectation& e) {
         s.status = "failed", e.ignore_all_failures = true, e.stdout_sha256 = std::string(64, '0');
       },
       "wrong_output"},
      {"stderr is free by default", [](Sample& s, Expectation&) { s.stderr_bytes = 9; }, ""},
      {"noisy stderr",
       [](Sample& s, Expectation& e) { s.stderr_bytes = 9, e.require_empty_stderr = true; },
       "noisy_stderr"},
      {"unknown stderr",
       [](Sample& s, Expectation& e) {
         s.stderr_bytes = std::nullopt, e.require_empty_stderr = true;
       },
       "noisy_stderr"},
  };
  for (const RejectionCase& row : table) {
    Sample s = sample();
    Expectation e;
    row.change(s, e);
    EXPECT_EQ(rejection(s, e), row.expected) << row.name;
  }
}

}  // namespace
}  // namespace assay::verdict
