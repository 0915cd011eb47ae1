#include "support.h"

#include "assay/base/ids.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <sys/wait.h>

namespace assay::process::testing {

namespace fs = std::filesystem;

std::string unique_token() {
  static int count = 0;
  return "token-" + std::to_string(getpid()) + "-" + std::to_string(time(nullptr)) + "-" +
         std::to_string(++count);
}

std::vector<int> processes_with(const std::string& token) {
  std::vector<int> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    if (text.find("ASSAY_TEST_TOKEN=" + token) != std::string::npos)
      found.push_back(std::atoi(name.c_str()));
  }
  return found;
}

std::vector<int> survivors(const std::string& token, int wait_ms) {
  // One scan can miss a process that is replaced by its child meanwhile; five in a row hardly.
  std::vector<int> left;
  const std::int64_t deadline = monotonic_now().value + std::int64_t{wait_ms} * 1000000;
  for (int empty = 0; empty < 5; usleep(2000)) {
    left = processes_with(token);
    empty = left.empty() ? empty + 1 : 0;
    if (!left.empty() && monotonic_now().value > deadline)
      break;
  }
  return left;
}

void kill_one(int pid, int signal_number) {
  if (pid > 1)
    kill(pid, signal_number);
  else
    ADD_FAILURE() << "refusing to signal process " << pid;
}

TempDir::TempDir() {
  std::string name = fs::temp_directory_path() / "assay-process-XXXXXX";
  if (mkdtemp(name.data()) != nullptr)
    path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TempDir::write(const std::string& name, const std::string& content, mode_t mode) const {
  std::ofstream(file(name), std::ios::binary) << content;
  chmod(file(name).c_str(), mode);
  return file(name);
}

Driver::Driver(const std::string& token, const std::vector<std::string>& program,
               bool without_cgroup) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return;
  output_ = ends[0];
  std::vector<std::string> words = {fixture("launch_driver"), helper(), token};
  words.insert(words.end(), program.begin(), program.end());
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    setenv("ASSAY_NO_CGROUP", without_cgroup ? "1" : "0", 1);
    dup2(ends[1], 1);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(ends[1]);
  std::string line;
  char byte;
  while (read(output_, &byte, 1) == 1 && byte != '\n')
    line += byte;
  EXPECT_EQ(std::sscanf(line.c_str(), "%d %d %d", &guard_, &worker_, &cgroup_), 3) << line;
}

Driver::~Driver() {
  if (pid_ > 0) {
    kill_one(pid_, SIGKILL);
    wait();
  }
  close(output_);
}

std::string Driver::read_rest() {
  std::string text;
  char block[4096];
  ssize_t size;
  while ((size = read(output_, block, sizeof block)) > 0)
    text.append(block, static_cast<std::size_t>(size));
  return text;
}

int Driver::wait() {
  int status = -1;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return status;
}

}  // namespace assay::process::testing
