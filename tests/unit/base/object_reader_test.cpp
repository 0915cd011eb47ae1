#include "assay/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

Json sample() {
  return parse_json(R"({"n":3,"x":1.5,"one":1,"s":"t","b":true,"o":{},"a":[],"z":null})", "t")
      .value();
}

TEST(ObjectReader, reads_each_kind_of_value) {
  const Json json = sample();
  ObjectReader reader(json, "f.json");
  EXPECT_EQ(reader.integer("n", 0, 3).value(), 3);
  EXPECT_EQ(reader.number("x").value(), 1.5);
  EXPECT_EQ(reader.number("one").value(), 1.0);
  EXPECT_EQ(reader.text("s").value(), "t");
  EXPECT_TRUE(reader.boolean("b").value());
  EXPECT_TRUE(reader.object("o").value()->is_object());
  EXPECT_TRUE(reader.array("a").value()->is_array());
  EXPECT_TRUE(reader.any("z").value()->is_null());
  EXPECT_TRUE(reader.finish());
}

TEST(ObjectReader, names_file_pointer_expectation_and_value) {
  const Json json = sample();
  ObjectReader reader(json, "f.json", "/outer");
  EXPECT_EQ(reader.integer("x", 0, 9).error().message(),
            "f.json: /outer/x: expected an integer from 0 to 9, got 1.5");
  EXPECT_EQ(reader.integer("n", 4, 9).error().message(),
            "f.json: /outer/n: expected an integer from 4 to 9, got 3");
  EXPECT_EQ(reader.text("missing").error().message(),
            "f.json: /outer/missing: expected a value, got nothing");
  EXPECT_EQ(reader.number("s").error().message(), "f.json: /outer/s: expected a number, got \"t\"");
  EXPECT_THAT(reader.text("o").error().what, HasSubstr("expected a string, got an object"));
  EXPECT_THAT(reader.boolean("n").error().what, HasSubstr("expected true or false, got 3"));
  EXPECT_THAT(reader.object("a").error().what, HasSubstr("expected an object, got an array"));
  EXPECT_THAT(reader.array("z").error().what, HasSubstr("expected an array, got null"));
  EXPECT_EQ(reader.text("missing").error().code, ErrorCode::invalid_format);
}

TEST(ObjectReader, refuses_keys_that_nobody_asked_for) {
  const Json json = parse_json(R"({"a":1,"b~/c":2})", "t").value();
  ObjectReader reader(json, "f.json");
  ASSERT_TRUE(reader.integer("a", 0, 9));
  EXPECT_EQ(reader.finish().error().message(), "f.json: /b~0~1c: expected no such key, got 2");
  EXPECT_NE(reader.optional("b~/c"), nullptr);
  EXPECT_TRUE(reader.finish());
}

TEST(ObjectReader, an_optional_key_may_be_absent) {
  const Json json = sample();
  ObjectReader reader(json, "f.json");
  EXPECT_EQ(reader.optional("absent"), nullptr);
  ASSERT_NE(reader.optional("n"), nullptr);
  EXPECT_EQ(*reader.optional("n"), 3);
}

TEST(ObjectReader, a_document_that_is_no_object_is_an_error_not_a_crash) {
  const Json json = Json::array();
  ObjectReader reader(json, "f.json");
  EXPECT_EQ(reader.text("a").error().message(),
            "f.json: the document: expected an object, got an array");
  EXPECT_EQ(reader.optional("a"), nullptr);
  EXPECT_FALSE(reader.finish());
}

}  // namespace
}  // namespace assay
