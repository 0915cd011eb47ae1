#include "assay/verdict/policy.h"

#include "fixture.h"

#include <gtest/gtest.h>

namespace assay::verdict {
namespace {

ComparePolicy full_policy() {
  ComparePolicy p = make_inputs({.cases = {"a", "b{N=1}"}}).policy;
  p.cases[1].parameters = {{"N", "1"}};
  p.cases[1].oracle_sha256 = std::string(64, 'd');
  p.gates = {.wall_cap = 1.05, .cpu_cap = 1.02, .rss_cap = 1.1, .tail = true};
  p.adaptive = true;
  p.smallest_difference = 0.01;
  p.oracle_kind = "file";
  p.require_empty_stderr = true;
  p.ignored_exit_codes = {1, 2};
  p.timeout_ns = 5'000'000'000;
  p.cpus = {1};
  p.environment = {{"LC_ALL", "C"}};
  p.hooks = {{"prepare", {"sync", "true"}}};
  p.hook_timeout_ns = 600'000'000'000;
  p.host_bounds = HostBounds{.load1 = 1.2, .steal_share = 0.01};
  p.input = "{repo}/input";
  p.input_sha256 = std::string(64, 'e');
  return p;
}

TEST(Policy, reads_back_to_the_same_json) {
  for (const ComparePolicy& policy : {full_policy(), make_inputs().policy}) {
    const Json json = policy_json(policy);
    const auto read = parse_compare_policy(json, "policy.json");
    ASSERT_TRUE(read.has_value()) << read.error().message();
    EXPECT_EQ(policy_json(*read), json);
  }
}

TEST(Policy, wrong_or_unknown_fields_are_refused_with_their_pointer) {
  const std::vector<std::pair<std::string, Json>> edits = {
      {"/extra", 1},
      {"/gates/extra", 1},
      {"/gates/wall_cap", "1.05"},
      {"/gates/wall_cap", 0},
      {"/gates/wall_cap", -1},
      {"/level", 1.5},
      {"/cases/1/name", 5},
      {"/cases/1/reference/argv", Json::array({1})},
      {"/cases/0", 5},
      {"/ignored_exit_codes", Json::array({"1"})},
      {"/timeout_ns", 0},
      {"/environment", Json{{"LC_ALL", 1}}},
      {"/hooks", Json{{"prepare", "sync"}}},
      {"/hook_timeout_ns", 0},
      {"/host_bounds", 1},
      {"/host_bounds", Json{{"load1", 1.2}}},
      {"/host_bounds", Json{{"load1", "1.2"}, {"steal_share", 0.01}}},
      {"/host_bounds", Json{{"load1", 1.2}, {"steal_share", 0.01}, {"more", 1}}},
      {"/bootstrap_draws", 0},
      {"/oracle_kind", nullptr},
      {"/schema/major", 2},
  };
  for (const auto& [pointer, value] : edits) {
    Json json = policy_json(full_policy());
    json[Json::json_pointer(pointer)] = value;
    const auto read = parse_compare_policy(json, "policy.json");
    ASSERT_FALSE(read.has_value()) << pointer;
    EXPECT_NE(read.error().message().find("policy.json"), std::string::npos);
  }
  const Json complete = policy_json(full_policy());
  for (const auto& [key, value] : complete.items()) {
    Json json = complete;
    json.erase(key);
    // Absent where no such limit governed the campaign.
    const bool optional = key == "hook_timeout_ns" || key == "host_bounds";
    EXPECT_EQ(parse_compare_policy(json, "policy.json").has_value(), optional) << key;
  }
}

TEST(Policy, an_unknown_version_is_not_rederivable_rather_than_damaged) {
  Json json = policy_json(full_policy());
  json["schema"]["major"] = 2;
  const auto read = parse_compare_policy(json, "policy.json");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::unsupported);
  EXPECT_NE(read.error().what.find("not_rederivable_by_this_version"), std::string::npos);
}

TEST(Policy, the_expectation_of_a_case_is_the_policys_and_its_own_oracle) {
  const ComparePolicy policy = full_policy();
  EXPECT_FALSE(expectation_of(policy, policy.cases[0]).stdout_sha256.has_value());
  const Expectation e = expectation_of(policy, policy.cases[1]);
  EXPECT_EQ(e.stdout_sha256, std::string(64, 'd'));
  EXPECT_TRUE(e.require_empty_stderr);
  EXPECT_EQ(e.ignored_exit_codes, (std::vector<int>{1, 2}));
}

}  // namespace
}  // namespace assay::verdict
