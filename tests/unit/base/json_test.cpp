#include "assay/base/json.h"

#include "assay/base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace assay {
namespace {

using ::testing::HasSubstr;

std::string round_trip(std::string_view text) {
  const Result<Json> json = parse_json(text, "t");
  return json ? canonical_json(*json) : "error: " + json.error().message();
}

std::string reason(std::string_view text) {
  const Result<Json> json = parse_json(text, "t.json");
  if (json)
    return "accepted";
  EXPECT_EQ(json.error().code, ErrorCode::invalid_format);
  EXPECT_EQ(json.error().where, "t.json");
  return json.error().what;
}

TEST(JsonReader, refuses_duplicate_keys_at_any_depth) {
  EXPECT_EQ(reason(R"({"a":1,"b":2,"a":3})"), "at byte 16: duplicate key \"a\"");
  EXPECT_THAT(reason(R"([{"x":{"v":"PASS","\u0076":"FAIL"}}])"), HasSubstr("duplicate key \"v\""));
  EXPECT_EQ(round_trip(R"([{"a":1},{"a":{"a":2}}])"), R"([{"a":1},{"a":{"a":2}}])");
}

TEST(JsonReader, refuses_numbers_that_are_not_exact_or_not_finite) {
  EXPECT_THAT(reason("9223372036854775808"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(reason("-9223372036854775809"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(reason("18446744073709551616"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(reason("-0"), HasSubstr("negative zero"));
  EXPECT_THAT(reason("[-0.0]"), HasSubstr("negative zero"));
  EXPECT_THAT(reason("-0e5"), HasSubstr("negative zero"));
  EXPECT_THAT(reason("1e-400"), HasSubstr("too small"));
  for (const char* bad : {"1e400", "-1e400", "NaN", "Infinity", "-Infinity", "nan", "+1", "01",
                          "1.", ".5", "0x10", "1e", "--1"})
    EXPECT_NE(reason(bad), "accepted") << bad;
}

TEST(JsonReader, keeps_integers_exact_over_the_whole_range) {
  EXPECT_EQ(round_trip("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(round_trip("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(round_trip("9007199254740993"), "9007199254740993");
  EXPECT_TRUE(parse_json("1", "t")->is_number_integer());
  EXPECT_TRUE(parse_json("1.0", "t")->is_number_float());
  EXPECT_EQ(round_trip("[0,0.0,1.0,1.50,1E2,0e7]"), "[0,0,1,1.5,100,0]");
}

TEST(JsonReader, refuses_text_that_is_not_utf8) {
  for (const char* bad : {"\"\xff\"", "\"\xc3\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"",
                          "\"\xf4\x90\x80\x80\"", "{\"\xff\":1}", "\xff"})
    EXPECT_NE(reason(bad), "accepted") << bad;
  EXPECT_THAT(reason("\xef\xbb\xbf{}"), HasSubstr("byte order mark"));
}

TEST(JsonReader, refuses_lone_surrogates) {
  for (const char* bad : {R"("\ud800")", R"("\udc00")", R"("\ud800\u0041")", R"("\ud800x")"})
    EXPECT_NE(reason(bad), "accepted") << bad;
  EXPECT_EQ(round_trip(R"("\ud83d\ude00")"), "\"\xf0\x9f\x98\x80\"");
}

TEST(JsonReader, refuses_what_follows_the_value) {
  EXPECT_NE(reason("{} x"), "accepted");
  EXPECT_NE(reason("1 2"), "accepted");
  EXPECT_NE(reason("[1],"), "accepted");
  EXPECT_THAT(reason(std::string_view("1\0garbage", 9)), HasSubstr("NUL"));
  EXPECT_EQ(reason("{}\n"), "accepted");
}

TEST(JsonReader, refuses_malformed_documents) {
  for (const char* bad : {"", " ", "{", "[1,]", "{\"a\":1,}", "{'a':1}", "// c\n1", "/**/1", "tru",
                          "\"a\tb\"", "\"\n\"", "{\"a\"}", "{1:2}", "\"\\x\"", "\"a"})
    EXPECT_NE(reason(bad), "accepted") << bad;
}

TEST(JsonReader, tells_the_byte_where_reading_stopped) {
  EXPECT_THAT(reason("{\"abc\": tru}"), HasSubstr("at byte 12"));
  EXPECT_THAT(reason("[1,2,-0,3]"), HasSubstr("at byte 8"));
}

TEST(JsonReader, allows_64_levels_and_no_more) {
  const std::string deep = std::string(64, '[') + std::string(64, ']');
  EXPECT_EQ(round_trip(deep), deep);
  EXPECT_THAT(reason(std::string(65, '[') + std::string(65, ']')), HasSubstr("64 levels"));
  std::string objects;
  for (int i = 0; i < 65; ++i)
    objects += "{\"a\":";
  EXPECT_THAT(reason(objects + "1" + std::string(65, '}')), HasSubstr("64 levels"));
  EXPECT_THAT(reason(std::string(1000000, '[')), HasSubstr("64 levels"));
}

TEST(JsonWriter, sorts_keys_bytewise_and_writes_no_spaces) {
  EXPECT_EQ(round_trip(" { \"b\" : 1 , \"a\" : [ true , null ] , \"B\" : {} , \"\" : \"\" } "),
            R"({"":"","B":{},"a":[true,null],"b":1})");
  // By bytes U+FF5E sorts before U+1F600; by UTF-16 units it would not.
  EXPECT_EQ(round_trip("{\"\xf0\x9f\x98\x80\":1,\"\xef\xbd\x9e\":2}"),
            "{\"\xef\xbd\x9e\":2,\"\xf0\x9f\x98\x80\":1}");
}

TEST(JsonWriter, escapes_only_what_must_be_escaped) {
  EXPECT_EQ(round_trip(R"("\u0000\u0007\b\t\n\u000b\f\r\u001f\"\\\/\u007f\u00e9\u2028")"),
            "\"\\u0000\\u0007\\b\\t\\n\\u000b\\f\\r\\u001f\\\"\\\\/\x7f\xc3\xa9\xe2\x80\xa8\"");
}

TEST(JsonWriter, canonical_text_is_a_fixed_point) {
  for (const char* text :
       {R"({"a":[1,-2,0.5,1e-7,1e+21,"x"],"b":null})", "[]", "0", "\"\"", "1e+300"}) {
    EXPECT_EQ(round_trip(text), text);
    EXPECT_TRUE(parse_canonical_json(text, "t")) << text;
  }
}

TEST(JsonWriter, canonical_reading_refuses_every_other_spelling) {
  for (const char* text : {"1.0", "[1, 2]", R"({"b":1,"a":2})", R"("\u0041")", "1e2", "1E+21",
                           "{}\n", " 1", "1e21", "0.50", R"("\/")"})
    EXPECT_FALSE(parse_canonical_json(text, "t")) << text;
  EXPECT_THAT(parse_canonical_json("[1, 2]", "t").error().what,
              HasSubstr("at byte 3: not in canonical"));
}

TEST(JsonWriterDeathTest, refuses_what_json_cannot_say) {
  EXPECT_DEATH(canonical_json(Json(std::nan(""))), "no NaN");
  EXPECT_DEATH(canonical_json(Json(INFINITY)), "no infinity");
  EXPECT_DEATH(canonical_json(Json("\xff")), "must be UTF-8");
  EXPECT_DEATH(canonical_json(Json(std::uint64_t{1} << 63)), "must be written as a string");
}

TEST(JsonWriter, foreign_values_are_refused_with_their_pointer) {
  EXPECT_EQ(try_canonical_json({{"b", 1}, {"a", "x"}}, "t").value(), R"({"a":"x","b":1})");
  const Error error = try_canonical_json({{"a", {1, "\xff"}}}, "host").error();
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(error.message(), "host: /a/1: the text is not UTF-8");
  EXPECT_FALSE(try_canonical_json({{"\xff", 1}}, "t"));
  EXPECT_FALSE(try_canonical_json(Json(std::nan("")), "t"));
  EXPECT_FALSE(try_canonical_json({{"a", std::uint64_t{1} << 63}}, "t"));
  EXPECT_FALSE(try_canonical_json(Json::binary({1, 2}), "t"));
  Json deep = 1;
  for (int i = 0; i < 64; ++i)
    deep = Json::array({deep});
  EXPECT_TRUE(parse_json(try_canonical_json(deep, "t").value(), "t"));
  EXPECT_FALSE(try_canonical_json(Json::array({deep}), "t"));
}

// The sample values of RFC 8785, appendix B, by their bit patterns.
TEST(FormatDouble, writes_the_samples_of_rfc_8785) {
  const std::vector<std::pair<std::uint64_t, std::string>> samples = {
      {0x0000000000000000, "0"},
      {0x8000000000000000, "0"},
      {0x0000000000000001, "5e-324"},
      {0x8000000000000001, "-5e-324"},
      {0x7fefffffffffffff, "1.7976931348623157e+308"},
      {0xffefffffffffffff, "-1.7976931348623157e+308"},
      {0x4340000000000000, "9007199254740992"},
      {0xc340000000000000, "-9007199254740992"},
      {0x4430000000000000, "295147905179352830000"},
      {0x44b52d02c7e14af5, "9.999999999999997e+22"},
      {0x44b52d02c7e14af6, "1e+23"},
      {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
      {0x444b1ae4d6e2ef4e, "999999999999999700000"},
      {0x444b1ae4d6e2ef4f, "999999999999999900000"},
      {0x444b1ae4d6e2ef50, "1e+21"},
      {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
      {0x3eb0c6f7a0b5ed8d, "0.000001"},
      {0x41b3de4355555553, "333333333.3333332"},
      {0x41b3de4355555554, "333333333.33333325"},
      {0x41b3de4355555555, "333333333.3333333"},
      {0x41b3de4355555556, "333333333.3333334"},
      {0x41b3de4355555557, "333333333.33333343"},
      {0xbecbf647612f3696, "-0.0000033333333333333333"},
      {0x43143ff3c1cb0959, "1424953923781206.2"},
  };
  for (const auto& [bits, expected] : samples) {
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    EXPECT_EQ(format_double(value), expected);
  }
  EXPECT_EQ(format_double(1e-7), "1e-7");
  EXPECT_EQ(format_double(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(format_double(-123.25), "-123.25");
}

TEST(FormatDouble, reads_back_to_the_same_double_through_the_reader) {
  Xoshiro256 random(12);
  int checked = 0;
  while (checked < 20000) {
    const std::uint64_t bits = random.next();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value))
      continue;
    const Result<Json> json = parse_json(format_double(value), "t");
    ASSERT_TRUE(json) << format_double(value);
    ASSERT_EQ(json->get<double>(), value);
    ++checked;
  }
  for (const double value : {1e19, 1e20, 9.3e18, 295147905179352830000.0, -1e20,
                             9223372036854775808.0, 18446744073709551616.0}) {
    const std::string text = format_double(value);
    ASSERT_EQ(parse_json(text, "t").value().get<double>(), value) << text;
    EXPECT_EQ(round_trip(text), text);
  }
}

TEST(Utf8, tells_valid_from_invalid) {
  for (const char* good : {"", "abc", "\xc2\x80", "\xe0\xa0\x80", "\xef\xbf\xbf",
                           "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"})
    EXPECT_TRUE(is_valid_utf8(good));
  for (const char* bad :
       {"\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "a\xc3", "\xe2\x82", "\xc3(", "\xfe"})
    EXPECT_FALSE(is_valid_utf8(bad)) << bad;
}

TEST(Utf8, sanitising_replaces_only_the_bad_bytes) {
  EXPECT_EQ(sanitize_utf8("a\xff"
                          "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(sanitize_utf8("\xe2\x82"), "\xef\xbf\xbd");
  EXPECT_EQ(sanitize_utf8("\xc3\xa4\xe2\x82\xac"), "\xc3\xa4\xe2\x82\xac");
  EXPECT_TRUE(is_valid_utf8(sanitize_utf8("\xed\xa0\x80\xf4\x90")));
}

TEST(Json, numbers_beyond_a_double_are_refused_at_their_first_byte_in_our_own_words) {
  for (const char* number : {"1e999", "-1e999", "123e400"}) {
    const auto value = parse_json(std::string("[1,") + number + "]", "f");
    ASSERT_FALSE(value.has_value()) << number;
    EXPECT_EQ(value.error().message(),
              "f: at byte 3: the number " + std::string(number) + " is too large for a double");
  }
  for (const char* text : {"", "{", "[1,]", "nul", "1 2", "\"\\u12\"", "\"\xff\""})
    EXPECT_EQ(parse_json(text, "f").error().message().find("json.exception"), std::string::npos);
}

}  // namespace
}  // namespace assay
