// Allocation records: both kinds are read, and everything that is wrong with one is named.
#include "assay/suite/allocation.h"

#include "assay/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

namespace assay::suite {
namespace {

using ::testing::HasSubstr;

// What libassay_alloc.so writes for its calibration program.
constexpr char kOurs[] =
    R"({"schema":{"name":"assay.alloc_profile","major":1,"minor":0},"coverage":"whole_heap",)"
    R"("scope_end":"entry_return","valid":true,"reasons":[],"allocations":"107","heap_frees":"106",)"
    R"("live_allocations":"1","peak_live_allocations":"100","total_requested_bytes":"11897",)"
    R"("live_requested_bytes":"4000","peak_live_requested_bytes":"5050",)"
    R"("total_usable_bytes":"12856","live_usable_bytes":"4008","peak_live_usable_bytes":"5920",)"
    R"("reallocations":"3","unknown_frees":"0","errors":"0","peak_observer_bytes":"98304",)"
    R"("allocations_before_entry":"2","frees_of_earlier_blocks":"1"})";

// A published record of a tree walk.
constexpr char kShared[] =
    R"({"schema_version":1,"coverage":"shared_header_arc","scope_end":"entry_return","valid":true,)"
    R"("allocations":16777204,"heap_allocations":16777204,"arena_allocations":0,)"
    R"("heap_frees":16777204,"arena_reclaims":0,"total_data_bytes":536870438,)"
    R"("total_header_bytes":268435264,"live_allocations":0,"peak_live_allocations":1048575,)"
    R"("live_data_bytes":0,"peak_live_data_bytes":33554400,"live_header_bytes":0,)"
    R"("retain_calls":16777200,"release_calls":33554404,"retain_ops":16777200,)"
    R"("release_ops":33554404,"unknown_frees":0,"errors":0,"peak_observer_bytes":42467288})";

std::string our_line(const std::string& json = kOurs) {
  return "ASSAY_ALLOC_PROFILE " + json + "\n";
}
std::string shared_line(const std::string& json = kShared) {
  return "TURBO_ALLOC_PROFILE " + json + "\n";
}

Result<AllocationProfile> read(const std::string& text, const AllocationRules& rules = {}) {
  return read_allocation_profile(text, rules, "stderr of one/a");
}
std::string error_of(const std::string& text, const AllocationRules& rules = {}) {
  const auto profile = read(text, rules);
  if (profile)
    return "no error";
  EXPECT_EQ(profile.error().code, ErrorCode::invalid_format);
  EXPECT_EQ(profile.error().where, "stderr of one/a");
  return profile.error().what;
}

std::vector<std::string> keys_of(const char* record) {
  const Json json = Json::parse(record);
  std::vector<std::string> keys;
  for (auto member = json.begin(); member != json.end(); ++member)
    keys.push_back(member.key());
  return keys;
}
std::vector<std::string> counters_of(const char* record) {
  std::vector<std::string> keys = keys_of(record);
  keys.erase(std::remove_if(keys.begin(), keys.end(),
                            [](const std::string& key) {
                              return key == "schema" || key == "schema_version" ||
                                     key == "coverage" || key == "scope_end" || key == "valid" ||
                                     key == "reasons";
                            }),
             keys.end());
  return keys;
}

// The error after `key` has been replaced by the JSON text `value`, or removed.
std::string ours_with(const std::string& key, const std::string& value,
                      const AllocationRules& rules = {}) {
  Json json = Json::parse(kOurs);
  json[key] = Json::parse(value);
  return error_of(our_line(json.dump()), rules);
}
std::string shared_with(const std::string& key, const std::string& value,
                        const AllocationRules& rules = {}) {
  Json json = Json::parse(kShared);
  json[key] = Json::parse(value);
  return error_of(shared_line(json.dump()), rules);
}

TEST(AllocationRecord, our_own_gives_every_counter) {
  const auto profile = read(our_line());
  ASSERT_TRUE(profile) << profile.error().message();
  const auto& counters = std::get<WholeHeapCounters>(profile->counters);
  EXPECT_EQ(counters.allocations, 107U);
  EXPECT_EQ(counters.heap_frees, 106U);
  EXPECT_EQ(counters.live_allocations, 1U);
  EXPECT_EQ(counters.peak_live_allocations, 100U);
  EXPECT_EQ(counters.total_requested_bytes, 11897U);
  EXPECT_EQ(counters.live_requested_bytes, 4000U);
  EXPECT_EQ(counters.peak_live_requested_bytes, 5050U);
  EXPECT_EQ(counters.total_usable_bytes, 12856U);
  EXPECT_EQ(counters.live_usable_bytes, 4008U);
  EXPECT_EQ(counters.peak_live_usable_bytes, 5920U);
  EXPECT_EQ(counters.reallocations, 3U);
  EXPECT_EQ(counters.peak_observer_bytes, 98304U);
  EXPECT_EQ(counters.allocations_before_entry, 2U);
  EXPECT_EQ(counters.frees_of_earlier_blocks, 1U);
  EXPECT_EQ(profile->other_stderr, "");
}

TEST(AllocationRecord, what_the_meter_writes_today_is_accepted) {
  const std::string build = ASSAY_BINARY_DIR;
  const std::string command = "LD_PRELOAD='" + build +
                              "/libassay_alloc.so' ASSAY_ALLOC_PROFILE=1 '" + build +
                              "/assay-alloc-calibration' 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c): a test's own words
  ASSERT_NE(pipe, nullptr);
  std::string text;
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe))
    text.append(buffer, got);
  EXPECT_EQ(pclose(pipe), 0);
  const auto profile = read(text);
  ASSERT_TRUE(profile) << profile.error().message() << text;
  const auto& counters = std::get<WholeHeapCounters>(profile->counters);
  EXPECT_EQ(counters.allocations, 107U);
  EXPECT_EQ(counters.total_requested_bytes, 11897U);
}

TEST(AllocationRecord, a_shared_header_record_gives_every_counter) {
  const auto profile = read(shared_line(), {.require_zero_live = true});
  ASSERT_TRUE(profile) << profile.error().message();
  const auto& counters = std::get<SharedHeaderCounters>(profile->counters);
  EXPECT_EQ(counters.allocations, 16777204U);
  EXPECT_EQ(counters.heap_allocations, 16777204U);
  EXPECT_EQ(counters.heap_frees, 16777204U);
  EXPECT_EQ(counters.total_data_bytes, 536870438U);
  EXPECT_EQ(counters.total_header_bytes, 268435264U);
  EXPECT_EQ(counters.peak_live_allocations, 1048575U);
  EXPECT_EQ(counters.peak_live_data_bytes, 33554400U);
  EXPECT_EQ(counters.retain_calls, 16777200U);
  EXPECT_EQ(counters.release_calls, 33554404U);
  EXPECT_EQ(counters.retain_ops, 16777200U);
  EXPECT_EQ(counters.release_ops, 33554404U);
  EXPECT_EQ(counters.peak_observer_bytes, 42467288U);
}

TEST(AllocationRecord, the_largest_counter_keeps_all_its_digits) {
  Json json = Json::parse(kOurs);
  json["peak_observer_bytes"] = "18446744073709551615";
  const auto profile = read(our_line(json.dump()));
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(std::get<WholeHeapCounters>(profile->counters).peak_observer_bytes, UINT64_MAX);
}

TEST(AllocationRecord, a_missing_one_is_never_a_count_of_zero) {
  EXPECT_THAT(error_of(""), HasSubstr("no allocation record"));
  EXPECT_THAT(error_of("ASSAY_ALLOC_PROFILE\n", {.allow_other_stderr = true}),
              HasSubstr("no allocation record"));
  EXPECT_THAT(error_of("warning\n", {.allow_other_stderr = true}),
              HasSubstr("no allocation record"));
}

TEST(AllocationRecord, two_of_either_kind_are_refused) {
  for (const std::string& text : {our_line() + our_line(), shared_line() + shared_line(),
                                  our_line() + shared_line(), shared_line() + "x\n" + our_line()})
    EXPECT_THAT(error_of(text, {.allow_other_stderr = true}), HasSubstr("more than one")) << text;
}

TEST(AllocationRecord, other_text_on_stderr_is_refused_or_handed_back) {
  const std::string text = "before\n" + our_line() + "after\nand more";
  EXPECT_THAT(error_of(text), HasSubstr("more than the allocation record: before"));
  EXPECT_THAT(error_of("\n" + our_line()), HasSubstr("more than the allocation record"));
  const auto profile = read(text, {.allow_other_stderr = true});
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(profile->other_stderr, "before\nafter\nand more");
}

TEST(AllocationRecord, a_line_that_begins_or_ends_otherwise_is_refused) {
  const AllocationRules rules = {.allow_other_stderr = true};
  EXPECT_THAT(error_of("progress: " + our_line(), rules), HasSubstr("in the middle of a line"));
  EXPECT_THAT(error_of("x" + shared_line(), rules), HasSubstr("in the middle of a line"));
  std::string cut = our_line();
  cut.pop_back();
  EXPECT_THAT(error_of(cut), HasSubstr("cut off"));
  EXPECT_THAT(error_of(our_line("{\"schema\"")), HasSubstr("at byte"));
  EXPECT_THAT(error_of(our_line(std::string(kOurs) + " x")), HasSubstr("at byte"));
  EXPECT_THAT(error_of(our_line("[]")), HasSubstr("expected"));
}

TEST(AllocationRecord, another_schema_is_named) {
  EXPECT_THAT(ours_with("schema", R"({"name":"assay.other","major":1,"minor":0})"),
              HasSubstr("/schema/name"));
  EXPECT_THAT(ours_with("schema", R"({"name":"assay.alloc_profile","major":2,"minor":0})"),
              HasSubstr("/schema/major"));
  EXPECT_THAT(ours_with("schema", R"({"name":"assay.alloc_profile","major":true,"minor":0})"),
              HasSubstr("/schema/major"));
  EXPECT_THAT(ours_with("schema", R"({"name":"assay.alloc_profile","major":1.0,"minor":0})"),
              HasSubstr("/schema/major"));
  EXPECT_THAT(ours_with("schema", R"({"name":"assay.alloc_profile","major":1,"minor":1})"),
              HasSubstr("/schema/minor"));
  EXPECT_THAT(ours_with("schema", R"({"name":"assay.alloc_profile","major":1,"minor":0,"x":1})"),
              HasSubstr("/schema/x"));
  for (const char* version : {"true", "1.0", "2", "0", "\"1\"", "null"})
    EXPECT_THAT(shared_with("schema_version", version), HasSubstr("/schema_version")) << version;
}

TEST(AllocationRecord, another_coverage_or_scope_is_named) {
  EXPECT_THAT(ours_with("coverage", R"("shared_header_arc")"), HasSubstr("/coverage"));
  EXPECT_THAT(ours_with("coverage", R"("scope_not_covered")"), HasSubstr("/coverage"));
  EXPECT_THAT(ours_with("scope_end", R"("exit")"), HasSubstr("/scope_end"));
  EXPECT_THAT(shared_with("coverage", R"("whole_heap")"), HasSubstr("/coverage"));
  EXPECT_THAT(shared_with("scope_end", R"("exit")"), HasSubstr("/scope_end"));
}

TEST(AllocationRecord, an_invalid_one_gives_its_reasons) {
  Json json = Json::parse(kOurs);
  json["valid"] = false;
  json["coverage"] = "scope_not_covered";
  json["reasons"] = {"threads_alive", "overflow"};
  const std::string what = error_of(our_line(json.dump()));
  EXPECT_THAT(what, HasSubstr("/valid"));
  EXPECT_THAT(what, HasSubstr("threads_alive, overflow"));
  EXPECT_THAT(ours_with("valid", "false"), HasSubstr("/reasons"));
  EXPECT_THAT(ours_with("reasons", R"(["overflow"])"), HasSubstr("/reasons"));
  EXPECT_THAT(ours_with("reasons", "[1]"), HasSubstr("/reasons"));
  EXPECT_THAT(ours_with("valid", "1"), HasSubstr("/valid"));
  for (const char* value : {"false", "1", "\"true\"", "null"})
    EXPECT_THAT(shared_with("valid", value), HasSubstr("/valid")) << value;
}

TEST(AllocationRecord, every_key_of_ours_is_due_and_no_other) {
  for (const std::string& key : keys_of(kOurs)) {
    Json json = Json::parse(kOurs);
    json.erase(key);
    EXPECT_THAT(error_of(our_line(json.dump())), HasSubstr("/" + key));
  }
  EXPECT_THAT(ours_with("extra", "1"), HasSubstr("/extra"));
}

TEST(AllocationRecord, every_key_of_a_shared_header_record_is_due_and_no_other) {
  EXPECT_EQ(counters_of(kShared).size(), 19U);
  for (const std::string& key : keys_of(kShared)) {
    Json json = Json::parse(kShared);
    json.erase(key);
    EXPECT_THAT(error_of(shared_line(json.dump())), HasSubstr("/" + key));
  }
  EXPECT_THAT(shared_with("extra", "1"), HasSubstr("/extra"));
}

TEST(AllocationRecord, a_counter_of_ours_is_a_string_of_digits_in_range) {
  for (const char* value :
       {R"("")", R"("-1")", R"("+1")", R"("01")", R"("1.0")", R"(" 1")", R"("1 ")", R"("0x1")",
        R"("18446744073709551616")", "107", "true", "1.5", "null"})
    for (const std::string& key : counters_of(kOurs))
      EXPECT_THAT(ours_with(key, value), HasSubstr("/" + key)) << value;
}

TEST(AllocationRecord, a_counter_of_a_shared_header_record_is_an_integer_in_range) {
  for (const char* value : {"-1", "1.0", "true", R"("1")", "null"})
    for (const std::string& key : counters_of(kShared))
      EXPECT_THAT(shared_with(key, value), HasSubstr("/" + key)) << value;
  // Where a double would lose digits the JSON text itself is refused.
  EXPECT_THAT(shared_with("retain_ops", "18446744073709551615"), HasSubstr("18446744073709551615"));
  EXPECT_THAT(shared_with("retain_ops", "18446744073709551616"), HasSubstr("/retain_ops"));
}

TEST(AllocationRecord, our_own_must_balance) {
  const std::vector<std::array<const char*, 3>> cases = {
      {"errors", "1", "errors (1) must be 0"},
      {"unknown_frees", "2", "unknown_frees (2) must be 0"},
      {"allocations", "108", "is not heap_frees (106) + live_allocations (1)"},
      {"heap_frees", "107", "allocations (107) is not"},
      {"heap_frees", "18446744073709551615", "allocations (107) is not"},
      {"live_allocations", "0", "allocations (107) is not"},
      {"peak_live_allocations", "0", "live_allocations (1) is more than peak_live_allocations (0)"},
      {"peak_live_allocations", "108", "is more than allocations (107)"},
      {"live_requested_bytes", "5051", "is more than peak_live_requested_bytes (5050)"},
      {"peak_live_requested_bytes", "11898", "is more than total_requested_bytes (11897)"},
      {"live_usable_bytes", "5921", "is more than peak_live_usable_bytes (5920)"},
      {"peak_live_usable_bytes", "12857", "is more than total_usable_bytes (12856)"},
      {"live_usable_bytes", "3999", "live_requested_bytes (4000) is more than live_usable_bytes"},
      {"peak_live_usable_bytes", "5049",
       "peak_live_requested_bytes (5050) is more than peak_live_usable_bytes"},
      {"frees_of_earlier_blocks", "3", "is more than allocations_before_entry (2)"},
  };
  for (const auto& [key, value, what] : cases)
    EXPECT_THAT(ours_with(key, "\"" + std::string(value) + "\""), HasSubstr(what)) << key;
}

TEST(AllocationRecord, bytes_need_blocks) {
  Json json = Json::parse(kOurs);
  for (const std::string& key : counters_of(kOurs))
    json[key] = "0";
  EXPECT_EQ(error_of(our_line(json.dump())), "no error");
  Json more = json;
  more["reallocations"] = "1";
  EXPECT_THAT(error_of(our_line(more.dump())), HasSubstr("reallocations (1) without any"));
  more = json;
  more["total_usable_bytes"] = "24";
  EXPECT_THAT(error_of(our_line(more.dump())), HasSubstr("total_usable_bytes (24) without any"));
  more["peak_live_usable_bytes"] = more["live_usable_bytes"] = "24";
  EXPECT_THAT(error_of(our_line(more.dump())), HasSubstr("live_usable_bytes (24) without any"));
  more = json;
  more["allocations"] = more["heap_frees"] = "1";
  EXPECT_THAT(error_of(our_line(more.dump())), HasSubstr("allocations (1) without any"));
}

TEST(AllocationRecord, a_shared_header_record_must_balance) {
  const std::vector<std::array<const char*, 3>> cases = {
      {"errors", "1", "errors (1) must be 0"},
      {"unknown_frees", "1", "unknown_frees (1) must be 0"},
      {"heap_allocations", "16777203",
       "is not heap_allocations (16777203) + arena_allocations (0)"},
      {"arena_allocations", "1", "allocations (16777204) is not heap_allocations"},
      {"heap_frees", "16777203", "is not heap_frees (16777203) + arena_reclaims"},
      {"arena_reclaims", "1", "is not heap_frees"},
      {"live_allocations", "1", "is not heap_frees"},
      {"peak_live_allocations", "16777205", "is more than allocations"},
      {"live_data_bytes", "33554401", "is more than peak_live_data_bytes"},
      {"peak_live_data_bytes", "536870439", "is more than total_data_bytes"},
      {"live_header_bytes", "268435265", "is more than total_header_bytes"},
  };
  for (const auto& [key, value, what] : cases)
    EXPECT_THAT(shared_with(key, value), HasSubstr(what)) << key;
}

TEST(AllocationRecord, each_kind_of_shared_header_frees_has_its_own_allocations) {
  Json json = Json::parse(kShared);
  json["heap_frees"] = 16777203;
  json["arena_reclaims"] = 1;
  EXPECT_THAT(error_of(shared_line(json.dump())), HasSubstr("arena_reclaims (1) is more than"));
  json = Json::parse(kShared);
  json["heap_allocations"] = 16777203;
  json["arena_allocations"] = 1;
  EXPECT_THAT(error_of(shared_line(json.dump())), HasSubstr("heap_frees (16777204) is more than"));
  json = Json::parse(kShared);
  json["heap_frees"] = 0;
  json["live_allocations"] = 16777204;
  EXPECT_THAT(error_of(shared_line(json.dump())), HasSubstr("is more than peak_live_allocations"));
}

TEST(AllocationRecord, zero_live_blocks_are_required_only_when_asked_for) {
  const AllocationRules rules = {.require_zero_live = true};
  EXPECT_THAT(error_of(our_line(), rules), HasSubstr("live_allocations is 1 where at most 0"));
  Json json = Json::parse(kShared);
  json["live_data_bytes"] = 8;
  EXPECT_EQ(error_of(shared_line(json.dump())), "no error");
  EXPECT_THAT(error_of(shared_line(json.dump()), rules), HasSubstr("live_data_bytes is 8"));
  EXPECT_THAT(shared_with("live_header_bytes", "16", rules), HasSubstr("live_header_bytes is 16"));
  json = Json::parse(kShared);
  json["heap_frees"] = 16777203;
  json["live_allocations"] = 1;
  EXPECT_THAT(error_of(shared_line(json.dump()), rules), HasSubstr("live_allocations is 1"));
}

TEST(AllocationRecord, what_an_empty_program_leaves_live_is_allowed) {
  WholeHeapCounters baseline;
  baseline.live_allocations = 1;
  baseline.live_requested_bytes = 4000;
  baseline.live_usable_bytes = 4008;
  AllocationRules rules = {.require_zero_live = true, .baseline = &baseline};
  EXPECT_EQ(error_of(our_line(), rules), "no error");
  baseline.live_requested_bytes = 3999;
  EXPECT_THAT(error_of(our_line(), rules), HasSubstr("live_requested_bytes is 4000"));
  baseline.live_requested_bytes = 4000;
  baseline.live_usable_bytes = 4007;
  EXPECT_THAT(error_of(our_line(), rules), HasSubstr("live_usable_bytes is 4008"));
}

}  // namespace
}  // namespace assay::suite
