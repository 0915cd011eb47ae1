#include "compare/calibration_store.h"

#include "assay/base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::compare {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kNow = "2026-03-31T12:00:00.000000000Z";
constexpr const char* kDayBefore = "2026-03-30T12:00:00.000000000Z";

Json facts(const std::string& kernel) {
  return {{"kernel_release", {{"value", kernel}, {"grade", "observed"}}},
          {"governor", {{"value", nullptr}, {"grade", "not_available"}, {"reason", "not_present"}}},
          {"load1", {{"value", 0.25}, {"grade", "observed"}}}};
}

class CalibrationStore : public testing::Test {
 protected:
  CalibrationStore() {
    std::string pattern = testing::TempDir() + "/records-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    dir_ = root_ + "/assay/calibration";
  }
  ~CalibrationStore() override { std::filesystem::remove_all(root_); }

  static Json metric(const char* state) {
    const Json rate = {
        {"alarms", 1}, {"campaigns", 20}, {"rate", 0.05}, {"lower95", 0.0}, {"upper95", 0.2}};
    return {{"state", state},
            {"reasons", Json::array()},
            {"batches", 200},
            {"pairs", 1200},
            {"pairs_below_resolution", 0},
            {"pairs_rejected", 0},
            {"batches_still_needed", 0},
            {"direct", rate},
            {"relabelled_pairs", rate},
            {"relabelled_batches", rate},
            {"tail_p", {{"up", 0.5}, {"down", 1.0}}}};
  }
  static Json report(const std::string& id, const std::string& created) {
    return {{"schema", {{"name", "assay.report.calibration"}, {"major", 1}, {"minor", 0}}},
            {"archive_id", id + "-0000-4000-8000-000000000000"},
            {"created_utc", created},
            {"limits", {"other_workload_not_excluded"}},
            {"calibration", {{"wall", metric("DIRECT")}, {"cpu", metric("BY DESIGN")}}}};
  }
  static Json record(const std::string& id, const std::string& created,
                     const std::string& kernel = "6.1.0") {
    return calibration_record(report(id, created), facts(kernel));
  }
  std::string keep(const Json& made) const {
    auto path = keep_calibration(dir_, made);
    EXPECT_TRUE(path) << (path ? "" : path.error().message());
    return path.value_or("");
  }
  std::string put(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(dir_);
    std::ofstream(dir_ + "/" + name, std::ios::binary) << bytes;
    return dir_ + "/" + name;
  }
  CalibrationChoice choose(const Json& host = facts("6.1.0")) const {
    return choose_calibration(dir_, host, kNow);
  }
  // The first eight digits of the record that is cited, "" for none.
  static std::string id_of(const CalibrationChoice& choice) {
    return choice.record ? choice.record->at("archive_id").get<std::string>().substr(0, 8) : "";
  }

  std::string root_, dir_;
};

TEST_F(CalibrationStore, a_kept_record_is_chosen_unchanged_and_named_by_time_and_id) {
  const Json made = record("0000000a", kDayBefore);
  const std::string path = keep(made);
  EXPECT_EQ(path, dir_ + "/20260330T120000Z-0000000a.json");
  EXPECT_EQ(*read_file(path), canonical_json(made) + "\n");
  const CalibrationChoice choice = choose();
  ASSERT_TRUE(choice.record);
  EXPECT_EQ(*choice.record, made);
  EXPECT_EQ(choice.absent, "");
  EXPECT_THAT(choice.warnings, IsEmpty());
  EXPECT_EQ(made.at("schema").at("name"), "assay.calibration");
  EXPECT_EQ(made.at("host").at("kernel_release"), "6.1.0");
  EXPECT_FALSE(made.at("host").contains("load1")) << "the load is no property of the host";
}

TEST_F(CalibrationStore, a_record_is_never_overwritten) {
  const std::string path = keep(record("0000000a", kDayBefore));
  const auto again = keep_calibration(dir_, record("0000000a", kDayBefore, "6.2.0"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::already_exists);
  EXPECT_THAT(*read_file(path), HasSubstr("6.1.0"));
}

TEST_F(CalibrationStore, the_newest_by_its_own_date_wins_whatever_the_files_are_called) {
  put("a.json", canonical_json(record("0000000b", "2026-03-29T00:00:00.000000000Z")) + "\n");
  put("z.json", canonical_json(record("0000000a", "2026-03-28T00:00:00.000000000Z")) + "\n");
  EXPECT_EQ(id_of(choose()), "0000000b");
}

TEST_F(CalibrationStore, a_record_serves_for_thirty_days_to_the_second) {
  keep(record("0000000a", "2026-03-01T12:00:00.000000000Z"));
  EXPECT_EQ(id_of(choose()), "0000000a");
  std::filesystem::remove_all(dir_);
  keep(record("0000000b", "2026-03-01T11:59:59.000000000Z"));
  const CalibrationChoice choice = choose();
  EXPECT_FALSE(choice.record);
  EXPECT_EQ(choice.absent, "calibration_expired");
  EXPECT_THAT(choice.detail, AllOf(HasSubstr("0000000b.json"), HasSubstr("is 30 days old")));
}

TEST_F(CalibrationStore, a_record_of_another_host_is_passed_over_and_what_changed_is_named) {
  keep(record("0000000a", kDayBefore, "5.10.0"));
  const CalibrationChoice choice = choose();
  EXPECT_FALSE(choice.record);
  EXPECT_EQ(choice.absent, "calibration_of_another_host");
  EXPECT_THAT(choice.detail, HasSubstr(R"(kernel_release was "5.10.0", is "6.1.0")"));
  // The same facts on another machine.
  std::filesystem::remove_all(dir_);
  Json other = record("0000000b", kDayBefore);
  other["host"]["machine"] = std::string(64, '0');
  keep(other);
  EXPECT_EQ(choose().absent, "calibration_of_another_host");
  EXPECT_THAT(choose().detail, HasSubstr("another machine"));
}

TEST_F(CalibrationStore, an_older_record_of_this_host_beats_a_newer_one_of_another) {
  keep(record("0000000a", "2026-03-20T12:00:00.000000000Z"));
  keep(record("0000000b", kDayBefore, "5.10.0"));
  EXPECT_EQ(id_of(choose()), "0000000a");
}

TEST_F(CalibrationStore, an_expired_record_of_this_host_says_more_than_one_of_another) {
  keep(record("0000000a", "2025-03-20T12:00:00.000000000Z"));
  keep(record("0000000b", kDayBefore, "5.10.0"));
  EXPECT_EQ(choose().absent, "calibration_expired");
}

TEST_F(CalibrationStore, a_fact_that_appeared_or_went_is_a_change) {
  keep(record("0000000a", kDayBefore));
  Json now = facts("6.1.0");
  now["governor"] = {{"value", "performance"}, {"grade", "observed"}};
  EXPECT_THAT(choose(now).detail, HasSubstr(R"(governor was null, is "performance")"));
}

TEST_F(CalibrationStore,
       a_damaged_or_impossible_record_is_a_warning_with_its_path_and_never_an_end) {
  const Json good = record("0000000a", kDayBefore);
  const auto with = [&good](const char* pointer, Json value) {
    Json changed = good;
    changed[Json::json_pointer(pointer)] = std::move(value);
    return canonical_json(changed) + "\n";
  };
  const std::string bytes = canonical_json(good) + "\n";
  std::map<std::string, std::string> damaged = {
      {"empty", ""},
      {"torn", bytes.substr(0, bytes.size() / 2)},
      {"no line feed", bytes.substr(0, bytes.size() - 1)},
      {"not canonical", " " + bytes},
      {"no object", "[]\n"},
      {"another schema", with("/schema/name", "assay.report.calibration")},
      {"another version", with("/schema/major", 2)},
      {"another minor version", with("/schema/minor", 1)},
      {"an unknown state", with("/calibration/wall/state", "FINE")},
      {"a negative count", with("/calibration/wall/pairs", -1)},
      {"a count that is none", with("/calibration/cpu/batches", 1.5)},
      {"more alarms than campaigns", with("/calibration/wall/direct/alarms", 21)},
      {"a rate that is not theirs", with("/calibration/wall/direct/rate", 0.06)},
      {"a rate above 1", with("/calibration/cpu/relabelled_pairs/rate", 1.5)},
      {"a limit above 1", with("/calibration/cpu/relabelled_pairs/upper95", 1.5)},
      {"limits below the rate", with("/calibration/wall/relabelled_batches/upper95", 0.04)},
      {"limits above the rate", with("/calibration/wall/relabelled_batches/lower95", 0.06)},
      {"a probability above 1", with("/calibration/wall/tail_p/up", 2)},
      {"no rates", with("/calibration/wall/direct", nullptr)},
      {"no limits", with("/limits", nullptr)},
      {"no id", with("/archive_id", 7)},
      {"no state", with("/calibration/cpu", Json::object())},
      {"no host", with("/host", nullptr)},
      {"no date", with("/created_utc", "2026-03-30")},
      {"a date with more", with("/created_utc", "2026-03-30T12:00:00.000000000+00:00")},
      {"dated in the future", with("/created_utc", "2026-04-01T12:00:01.000000000Z")}};
  for (const auto& [what, text] : damaged) {
    const std::string path = put("damaged.json", text);
    const CalibrationChoice choice = choose();
    EXPECT_FALSE(choice.record) << what;
    EXPECT_EQ(choice.absent, "calibration_unreadable") << what;
    EXPECT_THAT(choice.warnings, ElementsAre(HasSubstr(path))) << what;
  }
  put("sound.json", bytes);
  EXPECT_EQ(id_of(choose()), "0000000a");
  EXPECT_EQ(choose().warnings.size(), 1U);
}

TEST_F(CalibrationStore, any_number_of_damaged_records_is_one_warning) {
  for (int i = 0; i < 300; ++i)
    put(std::to_string(1000 + i) + ".json", "{}\n");
  EXPECT_THAT(
      choose().warnings,
      ElementsAre(AllOf(HasSubstr("300 damaged calibration records in " + dir_ + " ignored"),
                        HasSubstr("1299.json"))));
}

TEST_F(CalibrationStore, a_state_without_rates_is_incomplete) {
  Json made = record("0000000a", kDayBefore);
  for (const char* key : {"direct", "relabelled_pairs", "relabelled_batches", "tail_p"})
    made["calibration"]["cpu"].erase(key);
  made["calibration"]["cpu"]["state"] = "INCOMPLETE";
  keep(made);
  EXPECT_EQ(id_of(choose()), "0000000a");
  EXPECT_THAT(choose().warnings, IsEmpty());
}

TEST_F(CalibrationStore, odd_nodes_are_counted_and_temporary_names_are_nothing) {
  const std::string bytes = canonical_json(record("0000000a", kDayBefore)) + "\n";
  put(".tmp.1.2.x.json", bytes);
  put("notes.txt", bytes);
  EXPECT_EQ(choose().absent, "no_record");
  EXPECT_THAT(choose().warnings, IsEmpty());
  ASSERT_EQ(::mkfifo((dir_ + "/fifo.json").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("notes.txt", (dir_ + "/link.json").c_str()), 0);
  ASSERT_EQ(::mkdir((dir_ + "/folder.json").c_str(), 0700), 0);
  EXPECT_FALSE(choose().record);
  EXPECT_THAT(choose().warnings, ElementsAre(HasSubstr("3 damaged calibration records")));
}

TEST_F(CalibrationStore, no_directory_is_no_record_and_a_file_in_its_place_is_a_warning) {
  EXPECT_EQ(choose().absent, "no_record");
  EXPECT_EQ(choose().detail, "");
  EXPECT_THAT(choose().warnings, IsEmpty());
  EXPECT_EQ(choose_calibration(std::nullopt, facts("6.1.0"), kNow).absent, "no_record");
  std::ofstream(root_ + "/assay") << "a file";
  EXPECT_EQ(choose().absent, "calibration_unreadable");
  EXPECT_THAT(choose().warnings, ElementsAre(HasSubstr(dir_)));
  const auto kept = keep_calibration(dir_, record("0000000a", kDayBefore));
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, ErrorCode::not_persisted);
  EXPECT_FALSE(keep_calibration(std::nullopt, record("0000000a", kDayBefore)));
}

TEST_F(CalibrationStore, the_fact_in_host_json_binds_the_record_or_says_why_there_is_none) {
  EXPECT_EQ(choose().fact(),
            (Json{{"value", nullptr}, {"grade", "not_available"}, {"reason", "no_record"}}));
  const std::string path = keep(record("0000000a", kDayBefore));
  const Json fact = choose().fact();
  EXPECT_EQ(fact.at("grade"), "observed");
  EXPECT_EQ(fact.at("value").at("archive_id"), "0000000a-0000-4000-8000-000000000000");
  const std::string command = "sha256sum " + path + " > " + root_ + "/digest";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(fact.at("value").at("sha256"), read_file(root_ + "/digest")->substr(0, 64));
}

TEST(CalibrationDirectory, is_below_the_state_directory_and_relative_places_do_not_count) {
  const auto set = [](const char* name, const char* value) {
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  };
  const char* home = std::getenv("HOME");
  const std::string kept = home == nullptr ? "" : home;
  set("HOME", "/somewhere");
  set("XDG_STATE_HOME", "/state");
  EXPECT_EQ(calibration_directory(), "/state/assay/calibration");
  for (const char* value : {static_cast<const char*>(nullptr), "", "relative"}) {
    set("XDG_STATE_HOME", value);
    EXPECT_EQ(calibration_directory(), "/somewhere/.local/state/assay/calibration");
  }
  set("HOME", nullptr);
  EXPECT_EQ(calibration_directory(), std::nullopt);
  set("HOME", home == nullptr ? nullptr : kept.c_str());
}

}  // namespace
}  // namespace assay::compare
