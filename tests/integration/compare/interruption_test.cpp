// Whatever ends a campaign early: every finished pair is kept and nothing is left running.
#include "harness.h"

#include <gmock/gmock.h>

#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace assay::testing_compare {
namespace {

using testing::HasSubstr;
using testing::Not;

class Interruption : public CompareTest {
 protected:
  // Starts a long campaign and waits until `runs` runs have begun.
  Running begin(std::size_t runs, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"compare", "--archive", "archive", "--batches",
                                     "10",      "--pairs",   "60"};
    args.insert(args.end(), more.begin(), more.end());
    const std::string command = "sh -c 'printf x >> " + path("begun") + "; exec " +
                                payload("sleep 30") + " " + token_ + "'";
    args.insert(args.end(), {command, command});
    Running running = start(args);
    EXPECT_TRUE(eventually([&] { return read("begun").size() >= runs; }));
    return running;
  }
  // A campaign in its first run, which does not end by itself.
  Running begin_sleeping() {
    Running running =
        start({"compare", "--archive", "archive", "-w", "0", "sleep 600", "sleep 600"});
    EXPECT_TRUE(eventually(
        [&] { return read("archive/events.jsonl").find("pair_started") != std::string::npos; }));
    return running;
  }
  std::size_t samples_on_disk() const {
    const std::string text = read("archive/samples.jsonl");
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  std::string token_ = "interruption-token-" + std::to_string(::getpid());
};

TEST_F(Interruption, issue_11_sigint_leaves_a_complete_archive_with_every_finished_pair) {
  // payload refuses the extra word, so that runs are short and fail: -i makes them measurements.
  Running running = begin(21, {"-i"});
  ::kill(running.pid(), SIGINT);
  const Finished done = running.wait();
  EXPECT_EQ(done.exit_code, 130) << done.err;
  const std::size_t kept = samples_on_disk();
  EXPECT_GE(kept, 20U) << "ten pairs had ended before the 21st run began";
  EXPECT_EQ(kept % 2, 0U);
  const Json made = report();
  EXPECT_EQ(made.at("status"), "interrupted");
  EXPECT_EQ(made.at("scope").at("runs_recorded"), kept);
  const Json end = lines("events.jsonl").back();
  EXPECT_EQ(end.at("type"), "interrupted");
  EXPECT_EQ(end.at("reason"), "sigint");
  EXPECT_EQ(processes_with(token_), 0);
  const std::string command = "cd " + path("archive") + " && sha256sum -c --quiet SHA256SUMS";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(Interruption, sigterm_exits_143_and_ends_a_run_that_sleeps) {
  Running running = begin_sleeping();
  ::kill(running.pid(), SIGTERM);
  const Finished done = running.wait();
  EXPECT_EQ(done.exit_code, 143) << done.err;
  EXPECT_EQ(report().at("status"), "interrupted");
  EXPECT_EQ(samples_on_disk(), 0U);
  EXPECT_EQ(lines("events.jsonl").back().at("reason"), "sigterm");
}

TEST_F(Interruption, sigquit_exits_131_and_leaves_a_complete_archive) {
  Running running = begin_sleeping();
  ::kill(running.pid(), SIGQUIT);
  const Finished done = running.wait();
  EXPECT_EQ(done.exit_code, 131) << done.err;
  EXPECT_EQ(lines("events.jsonl").back().at("reason"), "sigquit");
  EXPECT_TRUE(exists("archive/SHA256SUMS"));
}

TEST_F(Interruption, a_terminal_that_went_away_exits_129_though_nothing_can_be_printed) {
  before_exec_ = [] { ::dup2(::open("/dev/full", O_WRONLY), 1); };
  Running running = begin_sleeping();
  ::kill(running.pid(), SIGHUP);
  const Finished done = running.wait();
  EXPECT_EQ(done.exit_code, 129) << done.err;
  EXPECT_EQ(lines("events.jsonl").back().at("reason"), "sighup");
}

TEST_F(Interruption, an_interrupted_campaign_never_passes_its_gate) {
  Running running = begin(41, {"-i", "--fail-if-slower", "10000"});
  ::kill(running.pid(), SIGINT);
  const Finished done = running.wait();
  EXPECT_EQ(done.exit_code, 130);
  EXPECT_NE(report().at("overall").at("status"), "PASS");
}

TEST_F(Interruption, cleanup_runs_after_an_interruption) {
  Running running = start({"compare", "--archive", "archive", "-c",
                           payload("log " + path("log") + " cleanup"), "sleep 600", "sleep 600"});
  ASSERT_TRUE(eventually(
      [&] { return read("archive/events.jsonl").find("pair_started") != std::string::npos; }));
  ::kill(running.pid(), SIGINT);
  EXPECT_EQ(running.wait().exit_code, 130);
  EXPECT_THAT(read("log"), HasSubstr("cleanup reference"));
  EXPECT_THAT(read("log"), HasSubstr("cleanup candidate"));
}

TEST_F(Interruption, sigkill_loses_at_most_the_unfinished_pair_and_leaves_nothing_running) {
  Running running = begin(21, {"-i"});
  ::kill(running.pid(), SIGKILL);
  EXPECT_EQ(running.wait().exit_code, 128 + SIGKILL);
  EXPECT_GE(samples_on_disk(), 20U);
  EXPECT_TRUE(eventually([&] { return processes_with(token_) == 0; }));
  EXPECT_FALSE(exists("archive/report.json")) << "nobody closed it";
}

// A pipe that is full and has no reader: whatever is written to it waits.
class Blocked : public Interruption {
 protected:
  Blocked() {
    if (::pipe2(pipe_, O_CLOEXEC) != 0)
      std::abort();
    ::fcntl(pipe_[1], F_SETPIPE_SZ, 4096);
    const std::string page(4096, 'x');
    EXPECT_EQ(::write(pipe_[1], page.data(), page.size()), 4096);
  }
  ~Blocked() override {
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }
  void blocks(int fd) {
    before_exec_ = [this, fd] { ::dup2(pipe_[1], fd); };
  }
  // Whether the process sleeps, and still does a moment later: here that is the blocked write.
  static bool waits_for_a_reader(pid_t pid) {
    const auto sleeps = [pid] {
      std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
      std::string id, name, state;
      in >> id >> name >> state;
      return state == "S";
    };
    if (!sleeps())
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return sleeps();
  }
  // Waits at most a minute; -1 when the signal had no effect.
  static int end_of(Running& running, int signal) {
    ::kill(running.pid(), signal);
    siginfo_t info{};
    const bool ended = eventually([&] {
      return ::waitid(P_PID, static_cast<id_t>(running.pid()), &info,
                      WEXITED | WNOHANG | WNOWAIT) == 0 &&
             info.si_pid == running.pid();
    });
    if (!ended)
      ::kill(running.pid(), SIGKILL);
    const int code = running.wait().exit_code;
    return ended ? code : -1;
  }

  int pipe_[2] = {-1, -1};
};

TEST_F(Blocked, a_signal_ends_a_report_that_nobody_reads) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--json"}, {"--export-csv", "-"}}) {
    blocks(1);
    std::vector<std::string> args = {"compare", "--batches", "1",    "--pairs",
                                     "1",       "--store",   "store"};
    args.insert(args.end(), more.begin(), more.end());
    args.insert(args.end(), {"true", "true"});
    Running running = start(args);
    std::string archive;
    ASSERT_TRUE(eventually([&] {
      if (exists("store"))
        for (const auto& entry : std::filesystem::directory_iterator(path("store")))
          if (std::filesystem::exists(entry.path() / "SHA256SUMS"))
            archive = entry.path();
      return !archive.empty() && waits_for_a_reader(running.pid());
    }));
    EXPECT_EQ(end_of(running, SIGTERM), 143);
    std::filesystem::remove_all(path("store"));
  }
}

TEST_F(Blocked, a_signal_ends_a_campaign_whose_shown_outputs_nobody_reads) {
  blocks(2);
  const std::string print = payload("print 100000");
  Running running = start({"compare", "--archive", "archive", "--style", "none", "--show-output",
                           "-w", "0", print, print});
  ASSERT_TRUE(eventually([&] {
    return read("archive/events.jsonl").find("pair_started") != std::string::npos &&
           waits_for_a_reader(running.pid());
  }));
  EXPECT_EQ(end_of(running, SIGINT), 130);
  EXPECT_EQ(report().at("status"), "interrupted");
  EXPECT_TRUE(exists("archive/SHA256SUMS"));
}

TEST_F(Blocked, a_signal_ends_a_campaign_whose_progress_nobody_reads) {
  blocks(2);
  Running running = start({"compare", "--archive", "archive", "-w", "0", "true", "true"});
  ASSERT_TRUE(eventually([&] {
    return read("archive/events.jsonl").find("pair_finished") != std::string::npos ||
           (!read("archive/samples.jsonl").empty() && waits_for_a_reader(running.pid()));
  }));
  EXPECT_EQ(end_of(running, SIGINT), 130);
  EXPECT_EQ(report().at("status"), "interrupted");
}

TEST_F(Blocked, an_interrupted_campaign_still_prints_its_report_where_it_is_read) {
  Running running = begin(5, {"-i"});
  ::kill(running.pid(), SIGINT);
  const Finished done = running.wait();
  EXPECT_EQ(done.exit_code, 130);
  EXPECT_THAT(done.out, HasSubstr("archive: "));
}

TEST_F(Blocked, a_calibration_that_is_interrupted_exits_so_though_nothing_can_be_printed) {
  before_exec_ = [] { ::dup2(::open("/dev/full", O_WRONLY), 1); };
  Running running = start({"calibrate", "--archive", "aa", "--batches", "100000", "--work", "1ms"});
  ASSERT_TRUE(eventually([&] { return !read("aa/samples.jsonl").empty(); }));
  ::kill(running.pid(), SIGTERM);
  const Finished done = running.wait();
  EXPECT_EQ(done.exit_code, 143);
  EXPECT_THAT(done.err, HasSubstr("stopped by SIGTERM"));
  EXPECT_THAT(done.err, HasSubstr("No space left"));
}

TEST_F(Interruption, a_lost_launcher_interrupts_the_campaign_with_its_reason) {
  Running running = start({"compare", "--archive", "archive", "-w", "0", "sleep 600", "sleep 600"});
  ASSERT_TRUE(eventually([&] {
    return read("archive/events.jsonl").find("pair_started") != std::string::npos &&
           processes_with("assay-launch") > 0;
  }));
  // The guard first, then the worker below it.
  for (const pid_t guard : children_of(running.pid())) {
    const std::vector<pid_t> workers = children_of(guard);
    ::kill(guard, SIGKILL);
    for (const pid_t worker : workers)
      ::kill(worker, SIGKILL);
  }
  const Finished done = running.wait();
  EXPECT_EQ(done.exit_code, 2) << done.err;
  EXPECT_EQ(report().at("status"), "interrupted");
  EXPECT_EQ(lines("events.jsonl").back().at("reason"), "launcher_lost");
  EXPECT_THAT(done.err, HasSubstr("launcher"));
}

}  // namespace
}  // namespace assay::testing_compare
