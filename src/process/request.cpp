#include "request.h"

#include "channel.h"

#include "assay/base/text.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::process {
namespace {

constexpr std::int64_t kLongestTimeout = INT64_C(100) * 365 * 86400 * 1000000000;

bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

Result<void> check_request(const RunRequest& request) {
  if (request.argv.empty() || request.argv[0].empty())
    return fail(ErrorCode::invalid_argument, "the command has no program name");
  for (const std::string& word : request.argv)
    if (has_nul(word))
      return fail(ErrorCode::invalid_argument,
                  "a NUL byte cannot be part of an argument: " + printable(word, 80));
  for (const auto& [name, value] : request.environment)
    if (name.empty() || name.find('=') != std::string::npos || has_nul(name) || has_nul(value))
      return fail(ErrorCode::invalid_argument,
                  "not a variable that a program can be given: " + printable(name, 80));
  if (request.stdout_bound.value < 0 || request.stderr_bound.value < 0)
    return fail(ErrorCode::invalid_argument, "an output bound is below 0");
  if (request.timeout && request.timeout->value <= 0)
    return fail(ErrorCode::invalid_argument, "the timeout must be above 0");
  return {};
}

Result<Fd> open_input(const std::string& path) {
  // Not blocking on a FIFO without a writer.
  Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid())
    return tl::unexpected(system_error(errno == ENOENT ? ErrorCode::not_found : ErrorCode::io,
                                       "cannot open the input file", errno, printable(path)));
  struct stat info {};
  if (fstat(file.get(), &info) != 0 || !(S_ISREG(info.st_mode) || S_ISCHR(info.st_mode)))
    return fail(ErrorCode::invalid_argument, "the input must be a regular file", printable(path));
  fcntl(file.get(), F_SETFL, 0);
  return file;
}

Result<Fd> open_output(const std::string& path) {
  Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0644));
  if (!file.valid())
    return tl::unexpected(
        system_error(ErrorCode::io, "cannot open the output file", errno, printable(path)));
  fcntl(file.get(), F_SETFL, 0);
  return file;
}

// Decides where descriptors 0, 1 and 2 of the child lead; what is not given is /dev/null or
// captured.
Result<void> open_files(const RunRequest& request, RunMessage* message, EncodedRun* run) {
  const auto give = [&](int index, Fd file) {
    run->fds.push_back(file.get());
    run->files.push_back(std::move(file));
    message->has_fd[index] = 1;
  };
  if (!request.stdin_path.empty()) {
    ASSAY_TRY(Fd file, open_input(request.stdin_path));
    give(0, std::move(file));
  }
  if (request.output == OutputMode::null || request.output == OutputMode::file) {
    const bool null = request.output == OutputMode::null;
    ASSAY_TRY(Fd file, open_output(null ? "/dev/null" : request.output_path));
    give(1, std::move(file));
  }
  if (request.output == OutputMode::inherit) {
    for (const int index : {1, 2}) {
      run->fds.push_back(index);
      message->has_fd[index] = 1;
    }
  }
  return {};
}

}  // namespace

Result<void> fill_cpu_mask(const std::vector<int>& cpus, const std::uint64_t* allowed,
                           std::uint64_t* mask) {
  std::fill(mask, mask + kCpuWords, 0);
  for (const int cpu : cpus) {
    const bool fits = cpu >= 0 && cpu < kCpuWords * 64;
    const std::uint64_t bit = fits ? UINT64_C(1) << (cpu % 64) : 0;
    if (!fits || (allowed != nullptr && (allowed[cpu / 64] & bit) == 0))
      return fail(ErrorCode::invalid_argument,
                  "CPU " + std::to_string(cpu) +
                      " is not one this process may use (taskset -p shows which are)");
    mask[cpu / 64] |= bit;
  }
  return {};
}

std::vector<std::string> child_environment(const RunRequest& request) {
  std::vector<std::string> result;
  std::set<std::string_view> overridden;
  for (auto item = request.environment.rbegin(); item != request.environment.rend(); ++item)
    if (overridden.insert(item->first).second)  // of two values for one name, the last
      result.push_back(item->first + "=" + item->second);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (overridden.count(text.substr(0, text.find('='))) == 0)
      result.emplace_back(text);
  }
  return result;
}

Result<EncodedRun> encode_run(const RunRequest& request, const std::string& path,
                              const std::uint64_t* allowed_cpus) {
  ASSAY_TRY_VOID(check_request(request));
  EncodedRun run;
  RunMessage message{};
  ASSAY_TRY_VOID(fill_cpu_mask(request.cpus, allowed_cpus, message.cpus));
  ASSAY_TRY_VOID(open_files(request, &message, &run));
  const std::vector<std::string> environment = child_environment(request);
  message.pin = request.cpus.empty() ? 0 : 1;
  if (request.timeout)
    run.timeout = Nanoseconds(std::min(request.timeout->value, kLongestTimeout));
  message.timeout_ns = run.timeout.value;
  message.bound[0] = request.stdout_bound.value;
  message.bound[1] = request.stderr_bound.value;
  message.kill_on_output_limit = request.kill_on_output_limit ? 1 : 0;
  message.argc = static_cast<std::uint32_t>(request.argv.size());
  message.envc = static_cast<std::uint32_t>(environment.size());
  std::string strings;
  const auto add = [&strings](const std::string& text) {
    strings.append(text.c_str(), text.size() + 1);
  };
  add(path);
  std::for_each(request.argv.begin(), request.argv.end(), add);
  std::for_each(environment.begin(), environment.end(), add);
  message.strings = strings.size();
  run.payload.assign(as_bytes(message));
  run.payload += strings;
  if (run.payload.size() > kMaxMessage)
    return fail(ErrorCode::invalid_argument, "the command line is too long");
  return run;
}

}  // namespace assay::process
