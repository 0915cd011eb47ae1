// The parts of the allocation meter that need no process: its arithmetic, its table, its text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>

#include "alloc/blocks.h"
#include "alloc/counters.h"
#include "alloc/record.h"

namespace assay::alloc {
namespace {

using ::testing::HasSubstr;

const void* address(std::uintptr_t number) {
  return reinterpret_cast<const void*>(number);  // NOLINT(performance-no-int-to-ptr)
}

std::string text_of(const Counters& counters, unsigned reasons = 0, Count observer = 0) {
  char line[kRecordBytes];
  return std::string(line, format_record(counters, reasons, observer, line));
}

TEST(AllocCounters, live_and_peak_follow_blocks_and_bytes) {
  Counters counters;
  counters.allocated({10, 24});
  counters.allocated({100, 104});
  counters.freed({10, 24});
  counters.allocated({1, 24});
  EXPECT_EQ(counters.blocks().total, 3U);
  EXPECT_EQ(counters.blocks().live, 2U);
  EXPECT_EQ(counters.blocks().peak, 2U);
  EXPECT_EQ(counters.requested().total, 111U);
  EXPECT_EQ(counters.requested().live, 101U);
  EXPECT_EQ(counters.requested().peak, 110U);
  EXPECT_EQ(counters.usable().total, 152U);
  EXPECT_EQ(counters.usable().live, 128U);
  EXPECT_EQ(counters.usable().peak, 128U);
  EXPECT_EQ(counters.heap_frees(), 1U);
  EXPECT_EQ(counters.reasons(), 0U);
}

TEST(AllocCounters, a_resized_block_adds_only_its_growth) {
  Counters counters;
  counters.allocated({10, 24});
  counters.resized({10, 24}, {20, 24});
  counters.resized({20, 24}, {5, 24});
  EXPECT_EQ(counters.blocks().total, 1U);
  EXPECT_EQ(counters.reallocations(), 2U);
  EXPECT_EQ(counters.requested().total, 20U);
  EXPECT_EQ(counters.requested().live, 5U);
  EXPECT_EQ(counters.requested().peak, 20U);
  EXPECT_EQ(counters.usable().total, 24U);
}

TEST(AllocCounters, an_overflow_makes_the_record_invalid_and_never_wraps) {
  Counters counters;
  counters.allocated({UINT64_MAX, UINT64_MAX});
  EXPECT_EQ(counters.reasons(), 0U);
  counters.allocated({1, 0});
  EXPECT_EQ(counters.requested().total, UINT64_MAX);
  EXPECT_EQ(counters.reasons(), unsigned{kOverflow});
  EXPECT_GT(counters.errors(), 0U);
  EXPECT_THAT(text_of(counters), HasSubstr(R"("valid":false,"reasons":["overflow"])"));
}

TEST(AllocCounters, a_count_below_zero_is_an_overflow_too) {
  Counters counters;
  counters.freed({1, 1});
  EXPECT_EQ(counters.blocks().live, 0U);
  EXPECT_EQ(counters.reasons(), unsigned{kOverflow});
}

TEST(AllocBlocks, blocks_are_found_once) {
  Pages pages;
  Blocks blocks(pages);
  Block block;
  EXPECT_FALSE(blocks.take(address(16), &block));
  EXPECT_EQ(blocks.put(address(16), {{5, 24}, true}), Put::fresh);
  EXPECT_EQ(blocks.put(address(32), {{6, 40}, false}), Put::fresh);
  ASSERT_TRUE(blocks.take(address(16), &block));
  EXPECT_EQ(block.sizes.requested, 5U);
  EXPECT_EQ(block.sizes.usable, 24U);
  EXPECT_TRUE(block.earlier);
  EXPECT_FALSE(blocks.take(address(16), &block));
  ASSERT_TRUE(blocks.take(address(32), &block));
  EXPECT_FALSE(block.earlier);
  EXPECT_EQ(blocks.size(), 0U);
  blocks.clear();
}

TEST(AllocBlocks, the_same_address_twice_is_told) {
  Pages pages;
  Blocks blocks(pages);
  Block block;
  EXPECT_EQ(blocks.put(address(16), {{5, 24}, false}), Put::fresh);
  EXPECT_EQ(blocks.put(address(16), {{7, 24}, false}), Put::replaced);
  EXPECT_EQ(blocks.size(), 1U);
  ASSERT_TRUE(blocks.take(address(16), &block));
  EXPECT_EQ(block.sizes.requested, 7U);
  blocks.clear();
}

TEST(AllocBlocks, a_long_random_history_equals_a_map) {
  Pages pages;
  Blocks blocks(pages);
  std::map<std::uintptr_t, Count> wanted;
  std::mt19937_64 random(7);  // NOLINT(cert-msc51-cpp): the same history every time
  for (Count step = 1; step <= 200000; ++step) {
    const std::uintptr_t at = 16 + 16 * (random() % 20000);
    Block block;
    if (random() % 3 != 0) {
      EXPECT_EQ(blocks.put(address(at), {{step, step}, false}),
                wanted.count(at) != 0 ? Put::replaced : Put::fresh);
      wanted[at] = step;
    } else {
      const bool known = wanted.erase(at) != 0;
      ASSERT_EQ(blocks.take(address(at), &block), known);
    }
  }
  ASSERT_EQ(blocks.size(), wanted.size());
  for (const auto& [at, step] : wanted) {
    Block block;
    ASSERT_TRUE(blocks.take(address(at), &block));
    EXPECT_EQ(block.sizes.requested, step);
  }
  EXPECT_EQ(blocks.size(), 0U);
  blocks.clear();
}

TEST(AllocBlocks, a_table_without_memory_says_so_and_keeps_what_it_has) {
  Pages pages(std::size_t{1} << 17U);  // the first table fits, its double does not
  Blocks blocks(pages);
  std::uintptr_t count = 0;
  while (blocks.put(address(16 * (count + 1)), {{count, 0}, false}) == Put::fresh)
    ++count;
  EXPECT_EQ(count, 3072U);
  EXPECT_EQ(blocks.size(), count);
  for (std::uintptr_t i = 0; i < count; ++i) {
    Block block;
    ASSERT_TRUE(blocks.take(address(16 * (i + 1)), &block));
    EXPECT_EQ(block.sizes.requested, i);
  }
  EXPECT_EQ(pages.peak(), 98304U);
  blocks.clear();
}

TEST(AllocRecord, the_longest_record_fits) {
  Counters counters;
  counters.allocated({UINT64_MAX, UINT64_MAX});
  const std::string text = text_of(counters, ~0U, UINT64_MAX);
  EXPECT_EQ(text.back(), '\n');
  EXPECT_THAT(text, HasSubstr("}\n"));
  // Every other counter could have twenty digits too.
  EXPECT_LT(text.size() + 12 * 19, kRecordBytes);
  EXPECT_THAT(text, HasSubstr(R"("coverage":"scope_not_covered")"));
  EXPECT_THAT(text, HasSubstr(R"("unknown_frees","threads_alive")"));
  EXPECT_THAT(text, HasSubstr(R"("total_usable_bytes":"18446744073709551615")"));
}

}  // namespace
}  // namespace assay::alloc
