#include "compare/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace assay::compare {
namespace {

using testing::MatchesRegex;

TEST(Place, archives_are_named_by_time_and_id_inside_the_chosen_store) {
  ::unsetenv("ASSAY_STORE");
  EXPECT_THAT(default_archive_path({}, "0123456789"),
              MatchesRegex("assay-archives/[0-9]{8}T[0-9]{6}Z-01234567"));
  EXPECT_THAT(default_archive_path("/s"), MatchesRegex("/s/[0-9TZ]+-[0-9a-f]{8}"));
  ::setenv("ASSAY_STORE", "/from/environment", 1);
  EXPECT_THAT(default_archive_path(), MatchesRegex("/from/environment/.*"));
  EXPECT_THAT(default_archive_path("/s"), MatchesRegex("/s/.*")) << "the flag wins";
  ::unsetenv("ASSAY_STORE");
}

TEST(Place, trailing_slashes_and_dots_are_no_part_of_an_archives_name) {
  std::string pattern = testing::TempDir() + "/place-XXXXXX";
  const std::string dir = ::mkdtemp(pattern.data());
  for (const char* tail : {"", "/", "//", "/.", "/./", "//.//", "/././."})
    EXPECT_EQ(named_archive(dir + "/new" + tail).value_or("refused"), dir + "/new") << tail;
  for (const char* tail : {"", "/", "/.", "/./"}) {
    const auto place = named_archive(dir + tail);
    ASSERT_FALSE(place) << tail;
    EXPECT_EQ(place.error().code, ErrorCode::already_exists);
    EXPECT_EQ(place.error().where, "--archive " + dir + tail);
  }
  for (const char* name : {"/new/..", "/new/../"})
    EXPECT_EQ(named_archive(dir + name).error().code, ErrorCode::invalid_argument) << name;
  EXPECT_EQ(named_archive(dir + "/new/.hidden").value_or("refused"), dir + "/new/.hidden");
  EXPECT_EQ(named_archive(dir + "/new.").value_or("refused"), dir + "/new.");
  EXPECT_TRUE(std::filesystem::is_empty(dir));
  std::filesystem::remove_all(dir);
}

TEST(Place, an_error_of_making_the_archive_names_the_flag_once) {
  const Error error{ErrorCode::not_persisted, "no space", "a/plan.json"};
  EXPECT_EQ(in_archive_flag(error, "a").where, "--archive a: a/plan.json");
  EXPECT_EQ(in_archive_flag({ErrorCode::io, "no space", "a"}, "a").where, "--archive a");
  EXPECT_EQ(in_archive_flag(error, "").where, "a/plan.json") << "no flag named it";
}

}  // namespace
}  // namespace assay::compare
