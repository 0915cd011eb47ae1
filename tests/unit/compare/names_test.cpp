#include "compare/names.h"

#include "assay/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace assay::compare {
namespace {

TEST(Names, short_plain_names_are_kept) {
  EXPECT_EQ(short_name("candidate{n=4,mode=fast}"), "candidate{n=4,mode=fast}");
  EXPECT_EQ(short_name(std::string(64, 'a')), std::string(64, 'a'));
}

TEST(Names, hostile_names_become_short_visible_utf8) {
  const std::vector<std::string> hostile = {std::string(300, 'x'),
                                            "a/b:c",
                                            "line\nbreak",
                                            "tab\there",
                                            "\xff\xfe",
                                            "\xf0\x9f\x90\x8d snake",
                                            "\x1b[31mred",
                                            "<script>",
                                            "\xe2\x80\xae"
                                            "rtl",
                                            ""};
  for (const std::string& raw : hostile) {
    const std::string name = short_name(raw);
    EXPECT_LE(name.size(), 64U);
    EXPECT_TRUE(is_valid_utf8(name));
    for (const char c : name)
      EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << raw;
  }
}

TEST(Names, cutting_never_splits_a_character) {
  for (std::size_t lead = 0; lead < 4; ++lead) {
    std::string raw(lead, 'a');
    for (int i = 0; i < 100; ++i)
      raw += "\xf0\x9f\x90\x8d";
    EXPECT_TRUE(is_valid_utf8(short_name(raw)));
  }
}

TEST(Names, names_that_share_their_first_64_bytes_stay_distinct) {
  const std::string same(64, 'n');
  const auto names = unique_names({same + "one", same + "two"});
  EXPECT_NE(names[0], names[1]);
}

TEST(Names, equal_looks_and_equal_names_stay_distinct) {
  const auto names =
      unique_names({"a\xff", "a\xfe", "b", "b", "b", std::string(300, 'c'), std::string(300, 'c')});
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(names[2], "b") << "the first keeps its plain name";
}

}  // namespace
}  // namespace assay::compare
