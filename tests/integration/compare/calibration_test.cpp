// What `assay calibrate` leaves behind, and what later comparisons on the host make of it.
#include "harness.h"

#include "assay/base/sha256.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <signal.h>
#include <sstream>
#include <sys/file.h>
#include <unistd.h>

namespace assay::testing_compare {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class Calibration : public CompareTest {
 protected:
  // Runs the smallest calibration that reaches a state; the name of its record.
  std::string calibrate() {
    const Finished done =
        assay({"calibrate", "--archive", "aa", "--batches", "20", "--work", "1ms"});
    EXPECT_THAT(done.exit_code, AnyOf(0, 1)) << done.err << done.out;
    const std::vector<std::string> files = records();
    if (files.size() != 1) {
      ADD_FAILURE() << files.size() << " records; " << done.out << done.err;
      return "";
    }
    EXPECT_THAT(done.out, HasSubstr("record: " + path(files.front())));
    // An iteration takes between 0.1 and 100 ns on any machine; a measurement of nothing gave
    // 10^12.
    const auto policy = parse_json(read("aa/policy.json"), "policy.json");
    const long iterations =
        policy ? std::stol(policy->at("arguments_of_built_in").at(0).get<std::string>()) : 0;
    EXPECT_GT(iterations, 5'000);
    EXPECT_LT(iterations, 10'000'000);
    return files.front();
  }
  // A real record of this host; only the first test that asks waits for a calibration.
  std::string put_record() {
    static std::string bytes;
    if (bytes.empty()) {
      const std::string name = calibrate();
      bytes = read(name);
      return name;
    }
    const std::string name = "state/assay/calibration/record.json";
    std::filesystem::create_directories(path("state/assay/calibration"));
    write(name, bytes);
    return name;
  }
  std::vector<std::string> records() const {
    std::vector<std::string> files;
    if (exists("state/assay/calibration"))
      for (const auto& entry : std::filesystem::directory_iterator(path("state/assay/calibration")))
        files.push_back("state/assay/calibration/" + entry.path().filename().string());
    return files;
  }
  // Changes one value of a record in place.
  void edit(const std::string& name, const char* pointer, Json value) const {
    auto record = parse_json(read(name), name);
    ASSERT_TRUE(record);
    (*record)[Json::json_pointer(pointer)] = std::move(value);
    write(name, canonical_json(*record) + "\n");
  }
  Finished short_compare(const std::string& archive = "archive") {
    return assay({"compare", "--archive", archive, "--batches", "8", "--pairs", "1", "-w", "0",
                  "--fail-if-slower", "10000", "true", "true"});
  }
  Json calibration_fact() const {
    const auto host = parse_json(read("archive/host.json"), "host.json");
    return host ? host->value("calibration", Json(nullptr)) : Json(nullptr);
  }
  void expect_passed_over(const std::string& code) {
    EXPECT_EQ(report().at("calibration"), nullptr);
    EXPECT_FALSE(exists("archive/calibration.json"));
    EXPECT_EQ(calibration_fact().at("reason"), code);
    EXPECT_THAT(report().at("limits"), AllOf(Contains(code), Contains("host_not_calibrated")));
  }
};

// One pair of files for all campaigns would make the placement of their pages a property of the
// host.
TEST_F(Calibration, every_campaign_has_copies_of_its_own) {
  write("subject", "#!/bin/sh\nstat -c %w-%i \"$0\" >>" + path("seen") + "\n");
  std::filesystem::permissions(path("subject"), std::filesystem::perms{0755});
  const Finished done =
      assay({"calibrate", "--archive", "aa", "--batches", "21", "--", path("subject")});
  EXPECT_THAT(done.exit_code, AnyOf(0, 1)) << done.err << done.out;
  std::istringstream lines(read("seen"));
  std::set<std::string> files;
  for (std::string line; std::getline(lines, line);)
    files.insert(line);
  EXPECT_EQ(files.size(), 6U);  // two for each of three campaigns
}

TEST_F(Calibration, copies_that_a_killed_calibration_left_are_removed_and_those_in_use_are_not) {
  for (const char* name : {"assay-aa-killed", "assay-aa-in-use", "assay-other"}) {
    std::filesystem::create_directory(path(name));
    write(std::string(name) + "/a", "a copy");
  }
  const int in_use = ::open(path("assay-aa-in-use").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(in_use, LOCK_EX), 0);
  environment_["TMPDIR"] = dir_;
  const Finished done = assay({"calibrate", "--archive", "aa", "--batches", "1", "--work", "1ms"});
  EXPECT_EQ(done.exit_code, 3) << done.err;
  EXPECT_FALSE(exists("assay-aa-killed"));
  EXPECT_EQ(read("assay-aa-in-use/a"), "a copy");
  EXPECT_EQ(read("assay-other/a"), "a copy");
  ::close(in_use);
  const auto left = std::filesystem::directory_iterator(dir_);
  EXPECT_EQ(std::count_if(begin(left), end(left),
                          [](const auto& entry) {
                            return entry.path().filename().string().rfind("assay-aa-", 0) == 0;
                          }),
            1)
      << "its own copies go too";
}

TEST_F(Calibration, an_archive_that_exists_is_refused_before_anything_runs) {
  write("taken", "precious");
  std::filesystem::create_directory(path("there"));
  const std::string ran = path("ran");
  for (const char* name : {"taken", "taken/", "there", "there/"}) {
    const Finished done =
        assay({"calibrate", "--archive", name, "--batches", "1", "--", "touch", ran});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err, HasSubstr(std::string("--archive ") + name + ": exists already"));
    EXPECT_FALSE(exists("ran")) << "the program was run";
  }
  EXPECT_EQ(read("taken"), "precious");
  EXPECT_TRUE(std::filesystem::is_empty(path("there")));
}

TEST_F(Calibration, a_program_that_is_replaced_meanwhile_ends_it) {
  write("subject", "#!/bin/sh\necho >>" + path("subject") + "\n");
  std::filesystem::permissions(path("subject"), std::filesystem::perms{0755});
  const Finished done =
      assay({"calibrate", "--archive", "aa", "--batches", "11", "--", path("subject")});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("the program changed while it was measured"));
  EXPECT_THAT(done.err, HasSubstr(path("subject")));
}

TEST_F(Calibration, the_record_of_this_host_is_copied_into_the_archive_and_cited) {
  const std::string name = calibrate();
  const Finished done = short_compare();
  EXPECT_EQ(done.exit_code, report().at("overall").at("status") == "PASS" ? 0 : 4) << done.err;
  const auto record = parse_json(read(name), name);
  ASSERT_TRUE(record);
  EXPECT_EQ(read("archive/calibration.json"), read(name));
  const Json cited = report().at("calibration");
  EXPECT_EQ(cited.at("archive_id"), record->at("archive_id"));
  EXPECT_EQ(cited.at("created_utc"), record->at("created_utc"));
  EXPECT_EQ(cited.at("states").at("wall"), record->at("calibration").at("wall").at("state"));
  EXPECT_EQ(calibration_fact().at("value").at("sha256"), sha256_hex(read(name)));
  EXPECT_THAT(report().at("limits"), Not(Contains("host_not_calibrated")));
  const std::string created = record->at("created_utc").get<std::string>();
  EXPECT_THAT(done.out, HasSubstr("calibrated " + created.substr(0, created.find('.')) + "Z: "));
  EXPECT_THAT(read("archive/SHA256SUMS"), HasSubstr("  calibration.json\n"));
  // The record's evidence is the calibration's archive.
  EXPECT_EQ(report("aa").at("archive_id"), record->at("archive_id"));
}

TEST_F(Calibration, without_an_archive_the_report_cites_the_record_too) {
  const std::string name = put_record();
  const Finished done = assay(
      {"compare", "--no-archive", "--json", "--batches", "1", "--pairs", "1", "true", "true"});
  const auto made = parse_json(done.out.substr(0, done.out.size() - 1), "stdout");
  ASSERT_TRUE(made) << done.err;
  EXPECT_EQ(made->at("calibration").at("archive_id"),
            parse_json(read(name), name)->at("archive_id"));
}

TEST_F(Calibration, a_failed_calibration_of_this_host_withholds_the_verdict) {
  edit(put_record(), "/calibration/wall/state", "FAILED");
  EXPECT_EQ(short_compare().exit_code, 4);
  EXPECT_THAT(report().at("overall").at("reasons"), Contains("host_calibration_failed"));
}

TEST_F(Calibration, an_expired_record_is_not_cited_and_the_report_says_so) {
  edit(put_record(), "/created_utc", "2001-02-03T04:05:06.000000000Z");
  const Finished done = short_compare();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  expect_passed_over("calibration_expired");
  EXPECT_THAT(done.err, AllOf(HasSubstr("no calibration record is cited"), HasSubstr("days old")));
  EXPECT_THAT(done.out, HasSubstr("too old to be cited"));
}

TEST_F(Calibration, a_record_of_another_host_is_not_cited_and_what_differs_is_named) {
  edit(put_record(), "/host/kernel_release", "1.2.3-elsewhere");
  const Finished done = short_compare();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  expect_passed_over("calibration_of_another_host");
  EXPECT_THAT(done.err, HasSubstr("kernel_release was \"1.2.3-elsewhere\""));
}

TEST_F(Calibration, a_damaged_record_is_named_in_a_warning_and_a_sound_one_is_still_cited) {
  const std::string name = put_record();
  write("state/assay/calibration/damaged.json", read(name).substr(0, 100));
  Finished done = short_compare();
  EXPECT_THAT(done.err, HasSubstr("1 damaged calibration record in " +
                                  path("state/assay/calibration") + " ignored"));
  EXPECT_TRUE(report().at("calibration").is_object());
  std::filesystem::remove(path(name));
  done = assay({"compare", "--archive", "b", "--batches", "1", "--pairs", "1", "true", "true"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(report("b").at("limits"), Contains("calibration_unreadable"));
}

TEST_F(Calibration, a_state_directory_that_cannot_be_used_stops_neither_command) {
  write("state", "a file");
  Finished done = short_compare();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  expect_passed_over("calibration_unreadable");
  done = assay({"calibrate", "--archive", "aa", "--batches", "20", "--work", "1ms"});
  EXPECT_THAT(done.exit_code, AnyOf(0, 1)) << done.err;
  EXPECT_THAT(done.err, HasSubstr("record could not be kept"));
  EXPECT_TRUE(exists("aa/SHA256SUMS"));
}

TEST_F(Calibration, without_a_home_there_is_no_record_and_nothing_fails) {
  environment_["XDG_STATE_HOME"] = "";
  environment_["HOME"] = "";
  const Finished done = short_compare();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(calibration_fact().at("reason"), "no_record");
  EXPECT_THAT(report().at("limits"), Contains("host_not_calibrated"));
  EXPECT_THAT(done.err, Not(HasSubstr("calibration")));
}

TEST_F(Calibration, what_says_nothing_of_the_usual_host_leaves_no_record) {
  Finished done = assay({"calibrate", "--archive", "few", "--batches", "2", "--work", "1ms"});
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_THAT(done.out, HasSubstr("record: none: there were too few batches"));
  done = assay({"calibrate", "--archive", "blocks", "--blocks", "--batches", "1", "--work", "1ms"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("record: none: blocks order"));
  done =
      assay({"calibrate", "--archive", "busy", "--busy", "1", "--batches", "20", "--work", "1ms"});
  EXPECT_THAT(done.out, HasSubstr("record: none: the load of --busy"));
  EXPECT_TRUE(records().empty());
}

TEST_F(Calibration, an_interrupted_calibration_keeps_its_evidence_and_leaves_no_record) {
  Running running = start({"calibrate", "--archive", "aa", "--batches", "100000", "--work", "1ms"});
  ASSERT_TRUE(eventually([&] {
    const std::string events = read("aa/events.jsonl");
    return events.find("\"batch\":25,") != std::string::npos;
  }));
  ::kill(running.pid(), SIGINT);
  const Finished done = running.wait();
  EXPECT_EQ(done.exit_code, 130) << done.err;
  EXPECT_THAT(done.out, HasSubstr("record: none: the calibration did not run to its end"));
  EXPECT_TRUE(records().empty());
  EXPECT_TRUE(exists("aa/SHA256SUMS"));
}

// Whether a process has a handler for a signal: before that, the signal would simply kill it.
bool handles(pid_t pid, int signal) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("SigCgt:", 0) == 0)
      return ((std::strtoull(line.c_str() + 7, nullptr, 16) >> (signal - 1)) & 1) != 0;
  return false;
}

TEST_F(Calibration, sigint_and_sigterm_end_a_simulation_that_would_take_days) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Running running = start({"calibrate", "--simulate", "--replications", "10000000"});
    ASSERT_TRUE(eventually([&] { return handles(running.pid(), signal); }));
    ::kill(running.pid(), signal);
    const Finished done = running.wait();
    EXPECT_EQ(done.exit_code, 128 + signal);
    EXPECT_THAT(done.err, HasSubstr("stopped: a part of the grid shows nothing"));
    EXPECT_EQ(done.out, "");
  }
}

}  // namespace
}  // namespace assay::testing_compare
