#include "failure_text.h"

#include "assay/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace assay::compare {
namespace {

std::string not_started_text(int error) {
  return fmt::format("could not be started: {}{}", std::strerror(error),
                     error == ENOEXEC ? "; a script needs a first line such as #!/bin/sh, and a "
                                        "program must be built for this machine"
                                      : "");
}

using process::Outcome;

constexpr std::size_t kShownColumns = 100;
constexpr std::size_t kShownLines = 4;
constexpr std::size_t kContext = 24;

// "candidate run 8 of 20": the how-manieth run of its side, case and phase.
std::string run_label(const FailedRun& failed) {
  const verdict::PlannedRun& at = failed.planned;
  std::int64_t number = 0, total = 0;
  for (const verdict::PlannedRun& run : failed.plan.runs)
    if (run.case_index == at.case_index && run.side == at.side && run.phase == at.phase) {
      ++total;
      number += run.seq <= at.seq ? 1 : 0;
    }
  const std::string_view side = verdict::side_name(at.side);
  const char* phase = at.phase == verdict::Phase::warmup ? " warm-up" : "";
  std::string label = fmt::format("{}{} run {} of {} (batch {}, pair {})", side, phase, number,
                                  total, at.batch + 1, at.pair + 1);
  if (failed.plan.options.cases.size() > 1)
    label += fmt::format(" of case '{}'", failed.one.name);
  return label;
}

std::string what_happened(const FailedRun& failed) {
  if (failed.why == "wrong_output")
    return fmt::format("printed a wrong output: {}",
                       failed.result.out.truncated ? "more than the captured bytes"
                                                   : difference_text(failed.one.oracle.value_or(""),
                                                                     failed.result.out.bytes));
  if (failed.why == "noisy_stderr")
    return "wrote to stderr, which --require-empty-stderr forbids";
  if (failed.result.outcome == Outcome::timeout)
    return fmt::format("was killed at the time limit, after {:.3g} s",
                       static_cast<double>(failed.result.elapsed.value) / 1e9);
  if (failed.result.outcome == Outcome::output_limit)
    return fmt::format("was killed: it wrote more to {} than is captured", failed.result.bound_hit);
  if (failed.result.outcome == Outcome::launch_error)
    return not_started_text(failed.result.launch_errno);
  return fmt::format("failed: {}", ending_text(failed.result));
}

std::string_view fix_for(std::string_view why) {
  if (why == "failed")
    return "use -i (or -i=CODES) when this exit code is no failure";
  if (why == "timeout")
    return "use a larger --timeout when this run is only slow";
  if (why == "output_limit")
    return "use a larger --max-output, or --output null without an oracle";
  if (why == "wrong_output")
    return "a fast wrong answer is no measurement: compare with the oracle by hand";
  return "";
}

}  // namespace

std::string ending_text(const process::RunResult& result) {
  if (result.signal != 0)
    return fmt::format("killed by signal {} ({})", result.signal, strsignal(result.signal));
  if (result.outcome == Outcome::launch_error)
    return not_started_text(result.launch_errno);
  return fmt::format("exit code {}", result.exit_code);
}

std::string hook_ending_text(const process::RunResult& result) {
  if (result.outcome != Outcome::timeout)
    return ending_text(result);
  return fmt::format(
      "killed at its time limit, after {:.3g} s: raise --hook-timeout, or 0 for no limit",
      static_cast<double>(result.elapsed.value) / 1e9);
}

std::string stderr_excerpt(std::string_view bytes) {
  while (!bytes.empty() && (bytes.back() == '\n' || bytes.back() == '\r'))
    bytes.remove_suffix(1);
  if (bytes.empty())
    return "";
  std::vector<std::string> lines;
  std::size_t end = bytes.size();
  for (;;) {
    const std::size_t start = end == 0 ? std::string_view::npos : bytes.rfind('\n', end - 1);
    const std::size_t begin = start == std::string_view::npos ? 0 : start + 1;
    if (lines.size() == kShownLines) {
      lines.emplace_back("...");
      break;
    }
    lines.push_back(printable(bytes.substr(begin, end - begin), kShownColumns));
    if (start == std::string_view::npos)
      break;
    end = start;
  }
  std::string out;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    out += fmt::format("\n  | {}", *line);
  return out;
}

std::string difference_text(std::string_view expected, std::string_view got) {
  const std::size_t shared = std::min(expected.size(), got.size());
  std::size_t at = 0;
  while (at < shared && expected[at] == got[at])
    ++at;
  if (at == expected.size() && at == got.size())
    return "no difference";
  const auto line =
      1 + std::count(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const auto shown = [at](std::string_view text) {
    return at >= text.size()
               ? std::string("the end")
               : fmt::format("\"{}\"", printable(text.substr(at, kContext), 4 * kContext));
  };
  return fmt::format("first difference at byte {} (line {}): expected {}, got {}", at, line,
                     shown(expected), shown(got));
}

std::string failure_text(const FailedRun& failed) {
  std::string text = fmt::format("{} {}", run_label(failed), what_happened(failed));
  const std::string excerpt = stderr_excerpt(failed.result.err.bytes);
  if (!excerpt.empty())
    text += fmt::format("\n  its stderr:{}", excerpt);
  else if (failed.sample.stderr_sha256)
    text += "\n  (stderr is empty)";
  const std::string_view fix = fix_for(failed.why);
  if (!fix.empty())
    text += fmt::format("\n  {}", fix);
  return text;
}

}  // namespace assay::compare
