#include "assay/verdict/plan.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace assay::verdict {
namespace {

PlanOptions options() {
  return {.seed = 42, .batches = 10, .pairs = 6, .warmups = 1, .cases = {"one", "two", "three"}};
}

TEST(Plan, the_same_seed_gives_the_same_bytes) {
  EXPECT_EQ(plan_text(make_plan(options())), plan_text(make_plan(options())));
}

TEST(Plan, another_seed_gives_another_order) {
  PlanOptions other = options();
  other.seed = 43;
  EXPECT_NE(plan_text(make_plan(options())), plan_text(make_plan(other)));
}

// Pins the generator and the order of its draws: an old archive's plan must stay f(seed, options).
TEST(Plan, the_first_runs_of_a_known_seed_never_change) {
  const Plan plan = make_plan({.seed = 1, .batches = 2, .pairs = 4, .warmups = 0, .cases = {"c"}});
  std::string order;
  for (const PlannedRun& run : plan.runs)
    if (run.position == 0)
      order += run.side == Side::reference ? 'r' : 'c';
  EXPECT_EQ(order, "rcrcrccr");
  EXPECT_EQ(plan.padding, (std::vector<int>{2879, 2131}));
}

TEST(Plan, every_batch_and_case_has_half_its_pairs_reference_first) {
  std::map<std::pair<int, int>, int> reference_first;
  for (const PlannedRun& run : make_plan(options()).runs)
    if (run.phase == Phase::measurement && run.position == 0 && run.side == Side::reference)
      ++reference_first[{run.batch, run.case_index}];
  EXPECT_EQ(reference_first.size(), 30U);
  for (const auto& [key, count] : reference_first)
    EXPECT_EQ(count, 3) << "batch " << key.first << " case " << key.second;
}

TEST(Plan, an_odd_pair_alternates_between_batches) {
  PlanOptions odd = options();
  odd.pairs = 1;
  std::map<int, std::string> order;
  for (const PlannedRun& run : make_plan(odd).runs)
    if (run.phase == Phase::measurement && run.position == 0)
      order[run.case_index] += run.side == Side::reference ? 'r' : 'c';
  for (const auto& [index, text] : order)
    EXPECT_TRUE(text == "rcrcrcrcrc" || text == "crcrcrcrcr") << text;
}

TEST(Plan, every_case_runs_in_every_batch_with_adjacent_pairs_and_warmups_first) {
  const Plan plan = make_plan(options());
  ASSERT_EQ(plan.runs.size(), 10U * 3 * 7 * 2);
  std::map<std::pair<int, int>, int> last_phase;
  for (std::size_t i = 0; i < plan.runs.size(); i += 2) {
    const PlannedRun& a = plan.runs[i];
    const PlannedRun& b = plan.runs[i + 1];
    EXPECT_EQ(a.seq, static_cast<std::int64_t>(i));
    EXPECT_EQ(std::tuple(a.batch, a.pair, a.case_index, a.phase),
              std::tuple(b.batch, b.pair, b.case_index, b.phase));
    EXPECT_NE(a.side, b.side);
    EXPECT_EQ(a.position, 0);
    EXPECT_EQ(b.position, 1);
    int& last = last_phase[{a.batch, a.case_index}];
    EXPECT_LE(last, static_cast<int>(a.phase));
    last = static_cast<int>(a.phase);
  }
  EXPECT_EQ(last_phase.size(), 30U);
}

TEST(Plan, case_order_differs_between_batches) {
  std::set<std::vector<int>> orders;
  std::map<int, std::vector<int>> by_batch;
  for (const PlannedRun& run : make_plan(options()).runs) {
    auto& order = by_batch[run.batch];
    if (order.empty() || order.back() != run.case_index)
      order.push_back(run.case_index);
  }
  for (const auto& [batch, order] : by_batch) {
    EXPECT_EQ(order.size(), 3U);
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 1U);
}

TEST(Plan, layout_padding_changes_the_padding_and_nothing_else) {
  PlanOptions off = options();
  off.layout_padding = false;
  const Plan padded = make_plan(options());
  const Plan plain = make_plan(off);
  EXPECT_EQ(plain.padding, std::vector<int>(10, 0));
  std::set<int> distinct(padded.padding.begin(), padded.padding.end());
  EXPECT_GT(distinct.size(), 5U);
  EXPECT_GE(*distinct.begin(), 0);
  EXPECT_LE(*distinct.rbegin(), 4095);
  ASSERT_EQ(padded.runs.size(), plain.runs.size());
  for (std::size_t i = 0; i < plain.runs.size(); ++i)
    EXPECT_EQ(padded.runs[i].side, plain.runs[i].side);
}

TEST(Plan, blocks_order_puts_all_reference_runs_of_a_batch_first) {
  const Plan plan = make_plan(
      {.seed = 1, .batches = 1, .pairs = 3, .warmups = 1, .blocks_order = true, .cases = {"c"}});
  std::string order;
  for (const PlannedRun& run : plan.runs)
    order += run.side == Side::reference ? 'r' : 'c';
  EXPECT_EQ(order, "rrrrcccc");
}

TEST(Plan, text_is_canonical_json_and_reads_back) {
  const std::string text = plan_text(make_plan(options()));
  ASSERT_EQ(text.back(), '\n');
  const auto json = parse_canonical_json(std::string_view(text).substr(0, text.size() - 1), "plan");
  ASSERT_TRUE(json.has_value()) << json.error().message();
  const auto plan = parse_plan(text, "plan.json");
  ASSERT_TRUE(plan.has_value()) << plan.error().message();
  EXPECT_EQ(plan_text(*plan), text);
}

TEST(Plan, a_run_costs_less_than_25_bytes) {
  PlanOptions big = options();
  big.batches = 100;
  const Plan plan = make_plan(big);
  EXPECT_LT(plan_text(plan).size(), plan.runs.size() * 25);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Plan, a_plan_that_is_not_the_one_of_its_seed_is_refused) {
  const std::string text = plan_text(make_plan(options()));
  const std::vector<std::pair<std::string, std::string>> edits = {
      {"\"seed\":42", "\"seed\":41"},
      {"\"batches\":10", "\"batches\":9"},
      {"\"pairs\":6", "\"pairs\":5"},
      {"\"warmups\":1", "\"warmups\":2"},
      {"[0,0,0,", "[0,0,1,"},
      {"\"one\"", "\"two\""},
      {"\"padding_bytes\":[", "\"padding_bytes\":[1,"},
      {"\"looks\":[]", "\"looks\":[8]"},
      {"\"major\":1", "\"major\":2"},
      {"\"blocks_order\":false", "\"blocks_order\":true"},
      {"{\"generator\"", "{\"extra\":1,\"generator\""}};
  for (const auto& [from, to] : edits) {
    const auto plan = parse_plan(replaced(text, from, to), "plan.json");
    ASSERT_FALSE(plan.has_value()) << from << " -> " << to;
    EXPECT_EQ(plan.error().code, ErrorCode::invalid_format);
    EXPECT_EQ(plan.error().where.rfind("plan.json", 0), 0U) << plan.error().message();
  }
}

TEST(Plan, two_swapped_sides_are_named_by_run) {
  const std::string text = plan_text(make_plan(options()));
  const std::size_t at = text.find("\"runs\":[[0,");
  ASSERT_NE(at, std::string::npos);
  const std::size_t row_end = text.find(']', at);
  std::string changed = text;
  char& side = changed[row_end - 5];  // ...,side,position,phase]
  side = side == '0' ? '1' : '0';
  const auto plan = parse_plan(changed, "plan.json");
  ASSERT_FALSE(plan.has_value());
  EXPECT_NE(plan.error().what.find("run 0"), std::string::npos) << plan.error().what;
}

TEST(Plan, a_huge_plan_is_refused_without_being_built) {
  const auto plan = parse_plan(
      R"({"options":{"batches":1000000,"blocks_order":false,"cases":["a"],"layout_padding":true,)"
      R"("looks":[],"pairs":1000000,"seed":1,"warmups":0},"runs":[]})",
      "plan.json");
  EXPECT_FALSE(plan.has_value());
}

TEST(Names, sides_and_phases_read_back_and_unknown_ones_are_refused) {
  for (const Side side : {Side::reference, Side::candidate})
    EXPECT_EQ(*parse_side(side_name(side)), side);
  for (const Phase phase :
       {Phase::warmup, Phase::measurement, Phase::profile, Phase::capacity, Phase::churn})
    EXPECT_EQ(*parse_phase(phase_name(phase)), phase);
  EXPECT_FALSE(parse_side("left").has_value());
  EXPECT_FALSE(parse_phase("").has_value());
}

}  // namespace
}  // namespace assay::verdict
