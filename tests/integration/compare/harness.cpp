#include "harness.h"

#include <chrono>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <signal.h>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace assay::testing_compare {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kHangGuard = std::chrono::minutes(10);

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

void drain(int& fd, std::string& into) {
  char block[65536];
  const ssize_t got = ::read(fd, block, sizeof block);
  if (got > 0) {
    into.append(block, static_cast<std::size_t>(got));
  } else if (got == 0 || errno != EINTR) {
    ::close(fd);
    fd = -1;
  }
}

}  // namespace

Finished Running::wait() {
  Finished done;
  const auto limit = Clock::now() + kHangGuard;
  while (out_ >= 0 || err_ >= 0) {
    pollfd fds[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
    ::poll(fds, 2, 1000);
    if (fds[0].revents != 0)
      drain(out_, done.out);
    if (fds[1].revents != 0)
      drain(err_, done.err);
    if (Clock::now() > limit) {
      ::kill(pid_, SIGKILL);
      ADD_FAILURE() << "assay hung; stderr so far: " << done.err;
      break;
    }
  }
  int status = 0;
  rusage usage{};
  while (::wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  done.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  done.peak_rss_kib = usage.ru_maxrss;
  return done;
}

CompareTest::CompareTest() {
  std::string pattern = ::testing::TempDir() + "/assay-compare-XXXXXX";
  dir_ = ::mkdtemp(pattern.data());
  environment_ = {{"NO_COLOR", ""}, {"ASSAY_STORE", ""}, {"XDG_STATE_HOME", dir_ + "/state"}};
}

CompareTest::~CompareTest() {
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

Running CompareTest::start(const std::vector<std::string>& args) {
  int out[2], err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0)
    std::abort();
  const std::string program = std::string(ASSAY_BINARY_DIR) + "/assay";
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& word : args)
    argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::signal(SIGHUP, SIG_DFL);  // the tests themselves may run under nohup
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    const int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, 0);
    for (const auto& [name, value] : environment_)
      value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
    if (::chdir(dir_.c_str()) != 0)
      ::_exit(127);
    if (before_exec_)
      before_exec_();
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  ::close(out[1]);
  ::close(err[1]);
  return {pid, out[0], err[0]};
}

Finished CompareTest::compare(std::vector<std::string> args) {
  args.insert(args.begin(), {"compare", "--archive", "archive"});
  return assay(args);
}

std::string CompareTest::payload(const std::string& words) const {
  return std::string(ASSAY_BINARY_DIR) + "/tests/payload " + words;
}

void CompareTest::write(const std::string& name, const std::string& bytes, mode_t mode) const {
  std::ofstream(path(name), std::ios::binary) << bytes;
  ::chmod(path(name).c_str(), mode);
}

std::string CompareTest::read(const std::string& name) const {
  return slurp(path(name));
}

bool CompareTest::exists(const std::string& name) const {
  return std::filesystem::exists(path(name));
}

Json CompareTest::report(const std::string& archive) const {
  const auto json = parse_json(read(archive + "/report.json"), "report.json");
  if (!json) {
    ADD_FAILURE() << json.error().message();
    return Json::object();
  }
  return *json;
}

std::vector<Json> CompareTest::lines(const std::string& name, const std::string& archive) const {
  std::istringstream text(read(archive + "/" + name));
  std::vector<Json> out;
  for (std::string line; std::getline(text, line);) {
    auto json = parse_json(line, name);
    if (!json) {
      ADD_FAILURE() << json.error().message();
      break;
    }
    out.push_back(*json);
  }
  return out;
}

std::vector<Json> CompareTest::measured(const std::string& side) const {
  std::vector<Json> out;
  for (const Json& sample : samples())
    if (sample.at("side") == side && sample.at("phase") == "measurement")
      out.push_back(sample);
  return out;
}

bool eventually(const std::function<bool()>& condition) {
  const auto limit = Clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (Clock::now() > limit)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

std::vector<pid_t> children_of(pid_t parent) {
  const std::string id = std::to_string(parent);
  std::istringstream text(slurp("/proc/" + id + "/task/" + id + "/children"));
  std::vector<pid_t> out;
  for (pid_t child = 0; text >> child;)
    out.push_back(child);
  return out;
}

int processes_with(const std::string& token) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos &&
        name != std::to_string(::getpid()) &&
        slurp("/proc/" + name + "/cmdline").find(token) != std::string::npos)
      ++found;
  }
  return found;
}

}  // namespace assay::testing_compare
