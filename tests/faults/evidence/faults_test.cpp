// Fails, cuts short, fakes or kills every mutating system call of one archive's life, one at a
// time, through strace, and checks what is left on disk.
#include "acknowledged.h"

#include "assay/base/files.h"
#include "assay/base/sha256.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/base/temp_dir.h"

namespace assay::faults {
namespace {

constexpr int kNotPersisted = 3;

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

bool exists(const std::string& path) {
  return std::filesystem::symlink_status(path).type() != std::filesystem::file_type::not_found;
}

struct Call {
  std::string name;
  int number = 0;  // as strace's when= counts it
  long result = 0;
  std::string line;
};

struct Outcome {
  bool killed = false;
  int exit_code = -1;
  Acknowledged acknowledged{};
};

// One life of the driver in a fresh directory. Memory-backed where possible: only the calls matter.
class Life {
 public:
  Life() : base_(make_base()) {
    std::ofstream(base_ + "/neighbour") << "keep";
    std::ofstream(base_ + "/page", std::ios::binary) << std::string(sizeof(Acknowledged), '\0');
  }
  ~Life() {
    std::error_code ignored;
    std::filesystem::remove_all(base_, ignored);
  }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  std::string archive() const { return base_ + "/archive"; }
  std::string at(const std::string& name) const { return archive() + "/" + name; }
  std::string trace_log() const { return base_ + "/trace"; }
  std::string base() const { return base_; }

  Outcome run(const std::vector<std::string>& strace_options) const {
    std::vector<std::string> argv = {"strace", "-qq", "-o", trace_log()};
    argv.insert(argv.end(), strace_options.begin(), strace_options.end());
    argv.insert(argv.end(), {FAULT_DRIVER, archive(), base_ + "/page"});
    std::vector<char*> raw;
    for (std::string& word : argv)
      raw.push_back(word.data());
    raw.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      const int log = ::open((base_ + "/stderr").c_str(), O_WRONLY | O_CREAT, 0600);
      ::dup2(log, 2);
      ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // not possible under strace
      ::alarm(60);                                    // a hang guard only
      ::execvp("strace", raw.data());
      ::_exit(127);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    Outcome outcome;
    // strace ends as its tracee ended.
    outcome.killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    const std::string page = slurp(base_ + "/page");
    std::memcpy(&outcome.acknowledged, page.data(), sizeof outcome.acknowledged);
    return outcome;
  }

 private:
  static std::string make_base() {
    std::string pattern =
        ::access("/dev/shm", W_OK | X_OK) == 0
            ? "/dev/shm/assay-fault-XXXXXX"
            : (std::filesystem::temp_directory_path() / "assay-fault-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      std::abort();
    return pattern;
  }
  std::string base_;
};

// Whole lines form one chain from the zeros; returns their number.
int check_chain(const std::string& events) {
  std::string previous(64, '0');
  int count = 0;
  std::size_t at = 0;
  for (std::size_t lf = events.find('\n'); lf != std::string::npos; lf = events.find('\n', at)) {
    const std::string line = events.substr(at, lf - at);
    EXPECT_NE(line.find("\"prev\":\"" + previous + "\""), std::string::npos) << line;
    previous = sha256_hex(line);
    at = lf + 1;
    ++count;
  }
  return count;
}

void check_complete(const Life& life) {
  EXPECT_EQ(slurp(life.at("report.json")), "{\"verdict\":\"PASS\"}\n");
  std::istringstream sums(slurp(life.at("SHA256SUMS")));
  std::string digest;
  std::string path;
  int count = 0;
  while (sums >> digest >> path) {
    EXPECT_EQ(sha256_file(life.at(path)).value_or("unreadable"), digest) << path;
    ++count;
  }
  EXPECT_EQ(count, 9);
}

void check_lines(const Life& life, const Outcome& outcome) {
  std::string acknowledged;
  std::string all;
  for (int pair = 0; pair < kPairs; ++pair) {
    all += pair_lines(pair);
    if (pair < outcome.acknowledged.pairs)
      acknowledged = all;
  }
  const std::string samples = slurp(life.at("samples.jsonl"));
  EXPECT_EQ(samples.substr(0, acknowledged.size()), acknowledged) << "an acknowledged pair is lost";
  EXPECT_EQ(all.substr(0, samples.size()), samples) << "bytes that nobody wrote";
  const std::string events = slurp(life.at("events.jsonl"));
  EXPECT_GE(check_chain(events), outcome.acknowledged.events);
  if (!outcome.killed) {
    EXPECT_EQ(samples.size() % pair_lines(0).size(), 0U) << "a torn pair stayed behind";
    EXPECT_TRUE(events.empty() || events.back() == '\n') << "a torn event stayed behind";
  }
}

void check_no_temporary_file(const Life& life) {
  if (!exists(life.archive()))
    return;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(life.archive()))
    EXPECT_NE(entry.path().filename().string().substr(0, 5), ".tmp.") << entry.path();
}

void check_invariants(const Life& life, const Outcome& outcome) {
  EXPECT_EQ(slurp(life.base() + "/neighbour"), "keep");
  check_lines(life, outcome);
  if (outcome.killed) {
    if (exists(life.at("SHA256SUMS")))
      check_complete(life);
    return;
  }
  ASSERT_TRUE(outcome.exit_code == 0 || outcome.exit_code == kNotPersisted)
      << "exit " << outcome.exit_code << ": " << slurp(life.base() + "/stderr");
  check_no_temporary_file(life);
  if (outcome.exit_code == 0) {
    check_complete(life);
    return;
  }
  EXPECT_NE(slurp(life.base() + "/stderr").find("evidence not persisted: "), std::string::npos);
  EXPECT_FALSE(exists(life.at("report.json"))) << "a verdict after a persistence error";
  EXPECT_FALSE(exists(life.at("SHA256SUMS")));
}

// The calls of an undisturbed life from the first mkdir on (before it, the loader is at work).
class Faults : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Life life;
    const Outcome outcome =
        life.run({"-s", "2000", "-e",
                  "trace=mkdir,mkdirat,openat,write,fsync,fdatasync,renameat2,fchmod,close"});
    usable_ = outcome.exit_code == 0;
    reason_ = slurp(life.base() + "/stderr");
    std::istringstream log(slurp(life.trace_log()));
    std::map<std::string, int> numbers;
    bool started = false;
    for (std::string line; std::getline(log, line);) {
      Call call;
      call.name = line.substr(0, line.find('('));
      call.number = ++numbers[call.name];
      started = started || call.name.rfind("mkdir", 0) == 0;
      const std::size_t result = line.rfind(" = ");
      if (!started || result == std::string::npos)
        continue;
      call.line = line;
      call.result = std::atol(line.c_str() + result + 3);
      calls_.push_back(call);
    }
  }
  void SetUp() override {
    if (!usable_)
      GTEST_SKIP() << "strace cannot run the driver here: " << reason_;
  }

  // `fault` is the tail of an inject expression without when=. Returns the outcomes per call.
  static std::vector<Outcome> inject(const std::string& name, const std::string& fault,
                                     const std::vector<std::string>& more = {}) {
    std::vector<Outcome> outcomes;
    for (const Call& call : calls_) {
      if (call.name != name)
        continue;
      outcomes.push_back(inject_one(call, fault, more));
    }
    return outcomes;
  }

  static Outcome inject_one(const Call& call, const std::string& fault,
                            const std::vector<std::string>& more = {}) {
    SCOPED_TRACE(call.name + " number " + std::to_string(call.number) + ": " + fault);
    const Life life;
    std::vector<std::string> options = {
        "-e", "inject=" + call.name + ":" + fault + ":when=" + std::to_string(call.number)};
    options.insert(options.end(), more.begin(), more.end());
    const Outcome outcome = life.run(options);
    check_invariants(life, outcome);
    return outcome;
  }

  static void expect_all(const std::vector<Outcome>& outcomes, int exit_code, const char* what) {
    EXPECT_FALSE(outcomes.empty()) << what;
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      EXPECT_EQ(outcomes[i].exit_code, exit_code) << what << ", occurrence " << i + 1;
  }

  static bool usable_;
  static std::string reason_;
  static std::vector<Call> calls_;
};
bool Faults::usable_ = false;
std::string Faults::reason_;
std::vector<Call> Faults::calls_;

// Names of the calls from number `at` on, as far as `count` goes.
std::vector<std::string> names_from(const std::vector<Call>& calls, std::size_t at,
                                    std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = at; i < calls.size() && names.size() < count; ++i)
    names.push_back(calls[i].name);
  return names;
}

TEST_F(Faults, every_new_file_is_synced_before_and_its_directory_after_the_rename) {
  const std::vector<std::string> expected = {"openat", "write",     "fchmod", "fsync",
                                             "close",  "renameat2", "fsync"};
  int files = 0;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (calls_[i].name != "openat" || calls_[i].line.find(".tmp.") == std::string::npos)
      continue;
    ++files;
    EXPECT_EQ(names_from(calls_, i, expected.size()), expected) << calls_[i].line;
    EXPECT_NE(calls_[i].line.find("O_EXCL"), std::string::npos) << calls_[i].line;
    EXPECT_NE(calls_.at(i + 5).line.find("RENAME_NOREPLACE"), std::string::npos);
  }
  EXPECT_EQ(files, 8);
}

TEST_F(Faults, every_new_directory_is_synced_into_its_parent) {
  const std::vector<std::string> expected = {"mkdirat", "openat", "fsync"};
  int directories = 0;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (calls_[i].name != "mkdirat")
      continue;
    ++directories;
    EXPECT_EQ(names_from(calls_, i, expected.size()), expected) << calls_[i].line;
  }
  EXPECT_EQ(directories, 4);
}

TEST_F(Faults, a_pair_takes_one_write_one_barrier_and_then_its_anchor) {
  int pairs = 0;
  for (std::size_t i = 0; i + 2 < calls_.size(); ++i) {
    if (calls_[i].name != "write" || calls_[i].line.find("candidate") == std::string::npos)
      continue;
    ++pairs;
    EXPECT_EQ(names_from(calls_, i, 3), (std::vector<std::string>{"write", "fdatasync", "write"}));
  }
  EXPECT_EQ(pairs, kPairs);
}

TEST_F(Faults, the_journal_is_synced_at_the_start_on_request_and_at_the_end) {
  int found = 0;
  for (std::size_t i = 1; i < calls_.size(); ++i) {
    const std::string& line = calls_[i].line;
    if (line.find("archive_created") != std::string::npos) {
      EXPECT_EQ(names_from(calls_, i, 2), (std::vector<std::string>{"write", "fdatasync"}));
      ++found;
    }
    if (line.find("\\\"finished\\\"") != std::string::npos) {
      EXPECT_EQ(calls_[i - 1].name, "fdatasync");
      EXPECT_EQ(names_from(calls_, i, 5),
                (std::vector<std::string>{"write", "fsync", "close", "fsync", "close"}));
      ++found;
    }
  }
  EXPECT_EQ(found, 2);
}

TEST_F(Faults, every_failed_write_ends_the_campaign_without_a_verdict) {
  expect_all(inject("write", "error=ENOSPC"), kNotPersisted, "write ENOSPC");
  expect_all(inject("write", "error=EIO"), kNotPersisted, "write EIO");
}

TEST_F(Faults, a_torn_write_that_cannot_be_cut_away_ends_it_too) {
  expect_all(inject("write", "error=EIO", {"-e", "inject=ftruncate:error=EIO"}), kNotPersisted,
             "write and ftruncate EIO");
}

TEST_F(Faults, every_failed_sync_ends_the_campaign_without_a_verdict) {
  expect_all(inject("fsync", "error=EIO"), kNotPersisted, "fsync EIO");
  expect_all(inject("fdatasync", "error=EIO"), kNotPersisted, "fdatasync EIO");
}

TEST_F(Faults, every_failed_rename_mkdir_and_chmod_ends_it_too) {
  expect_all(inject("renameat2", "error=EIO"), kNotPersisted, "renameat2 EIO");
  expect_all(inject("mkdirat", "error=ENOSPC"), kNotPersisted, "mkdirat ENOSPC");
  expect_all(inject("fchmod", "error=EROFS"), kNotPersisted, "fchmod EROFS");
}

TEST_F(Faults, a_file_system_without_noreplace_renames_still_works) {
  expect_all(inject("renameat2", "error=EINVAL"), 0, "renameat2 EINVAL");
}

TEST_F(Faults, an_interrupted_write_is_written_again) {
  expect_all(inject("write", "error=EINTR"), 0, "write EINTR");
}

TEST_F(Faults, a_write_that_lies_is_found_out) {
  expect_all(inject("write", "retval=1"), kNotPersisted, "short lie");
  for (const Call& call : calls_) {
    if (call.name == "write") {
      EXPECT_EQ(inject_one(call, "retval=" + std::to_string(call.result)).exit_code, kNotPersisted)
          << "a write of " << call.result << " bytes that stored none";
    }
  }
}

TEST_F(Faults, failed_opens_and_closes_never_leave_a_false_verdict) {
  EXPECT_FALSE(inject("openat", "error=EMFILE").empty());
  EXPECT_FALSE(inject("close", "error=EIO").empty());
}

TEST_F(Faults, a_kill_at_any_call_loses_nothing_acknowledged) {
  int kills = 0;
  for (const char* name :
       {"mkdirat", "openat", "write", "fchmod", "fsync", "fdatasync", "renameat2"}) {
    for (const Outcome& outcome : inject(name, "signal=SIGKILL")) {
      EXPECT_TRUE(outcome.killed) << name;
      ++kills;
    }
  }
  EXPECT_GT(kills, 60);
}

}  // namespace
}  // namespace assay::faults
