#include "cli.h"

#include "assay/base/text.h"
#include "assay/process/launcher.h"
#include "assay/process/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace assay::cli {

namespace {

constexpr double kRewriteSeconds = 0.1;
constexpr double kLineSeconds = 5;
// Off a terminal a batch gets a line of its own while that makes few lines.
constexpr int kMostBatchLines = 24;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The first of LC_ALL, LC_CTYPE and LANG that is set decides, as in setlocale(3).
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = environment(name);
    if (value.empty())
      continue;
    std::transform(value.begin(), value.end(), value.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

int terminal_columns() {
  constexpr int kDefault = 100;
  constexpr int kLeast = 40, kMost = 400;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
    return std::clamp<int>(size.ws_col, kLeast, kMost);
  // What is no terminal may be shown on one of this width.
  const auto asked = parse_integer(environment("COLUMNS"), 1, 1'000'000, "COLUMNS");
  return asked ? static_cast<int>(std::clamp<std::int64_t>(*asked, kLeast, kMost)) : kDefault;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::min(seconds, 1e9)));
  if (whole < 60)
    return fmt::format("{} s", whole);
  if (whole < 3600)
    return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

Result<Style> resolve_style(const std::string& name) {
  constexpr std::array<std::string_view, 6> kNames = {"auto",    "basic", "full",
                                                      "nocolor", "color", "none"};
  if (std::find(kNames.begin(), kNames.end(), name) == kNames.end())
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("'{}' is no style; choose {}", printable(name, 40), fmt::join(kNames, ", ")),
        "--style");
  const bool dumb = environment("TERM") == "dumb";
  Style style;
  style.unicode = locale_is_utf8();
  style.columns = terminal_columns();
  style.silent = name == "none";
  if (name == "auto") {
    style.color = ::isatty(STDOUT_FILENO) == 1 && !dumb && environment("NO_COLOR").empty();
    style.interactive = ::isatty(STDERR_FILENO) == 1 && !dumb;
  }
  if (name == "full" || name == "color")
    style.color = true;
  if (name == "full")
    style.interactive = true;
  // Asks for no colours, which is no reason to rewrite lines in a file.
  if (name == "nocolor")
    style.interactive = ::isatty(STDERR_FILENO) == 1;
  return style;
}

Result<void> claim_standard_files() {
  for (const int fd : {STDIN_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      const int null = ::open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY);
      if (null >= 0 && null != fd) {
        ::dup2(null, fd);
        ::close(null);
      }
    }
  if (::fcntl(STDOUT_FILENO, F_GETFD) < 0 && errno == EBADF)
    return fail(ErrorCode::io, "is closed; send it to a file, or to /dev/null", "standard output");
  return {};
}

Result<void> write_stdout(std::string_view bytes) {
  return process::write_unless_stopped(STDOUT_FILENO, bytes, "standard output");
}

void write_stderr(std::string_view bytes) {
  // There is nowhere left to report a failure to; the exit code and the archive still tell.
  (void)process::write_unless_stopped(STDERR_FILENO, bytes, "standard error");
}

std::string stopped_text(int signal, const std::string& archive) {
  return fmt::format("assay: stopped by SIG{}{}\n", sigabbrev_np(signal > 0 ? signal : SIGINT),
                     archive.empty() ? "" : "; what was measured is in " + printable(archive));
}

int interrupted_exit_code(int signal) {
  return 128 + (signal > 0 ? signal : SIGINT);
}

int report_error(const Error& error) {
  write_stderr("assay: " + printable(error.message()) + "\n");
  return error.code == ErrorCode::interrupted ? interrupted_exit_code(process::stop_signal())
                                              : kExitInvalid;
}

std::string progress_text(const ProgressLine::State& state) {
  std::string text = fmt::format("{}/{} {}", state.done, state.planned, state.unit);
  if (state.planned > 0)
    text += fmt::format(" ({} %)", state.done * 100 / state.planned);
  if (state.batches > 0)
    text += fmt::format(", batch {} of {}", state.batch, state.batches);
  if (state.done > 0 && state.done < state.planned && state.elapsed_seconds > 0) {
    const double left = state.elapsed_seconds * static_cast<double>(state.planned - state.done) /
                        static_cast<double>(state.done);
    text += ", ETA " + duration_text(left);
  }
  if (!state.what.empty())
    text += ", " + printable(state.what, 40);
  return text;
}

ProgressLine::ProgressLine(const Style& style, Sink sink) : style_(style), sink_(std::move(sink)) {}

ProgressLine::~ProgressLine() {
  finish();
}

void ProgressLine::update(const State& state) {
  if (style_.silent)
    return;
  const double since = state.elapsed_seconds - last_seconds_;
  const bool last = state.done >= state.planned;
  if (style_.interactive) {
    if (started_ && since < kRewriteSeconds && !last)
      return;
    // Carriage return, text, erase to the end of the line; never wider than the terminal.
    const auto width = static_cast<std::size_t>(std::max(20, style_.columns - 1));
    sink_("\r" + printable(progress_text(state), width) + "\x1b[K");
    shown_ = true;
  } else {
    const bool new_batch = state.batch != last_batch_ && state.batches <= kMostBatchLines;
    if (started_ && since < kLineSeconds && !new_batch && !last)
      return;
    sink_("assay: " + progress_text(state) + "\n");
  }
  started_ = true;
  last_seconds_ = state.elapsed_seconds;
  last_batch_ = state.batch;
}

void ProgressLine::finish() {
  if (shown_)
    sink_("\r\x1b[K");
  shown_ = false;
}

}  // namespace assay::cli
