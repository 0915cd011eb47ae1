#include "command.h"

#include "assay/base/text.h"
#include "assay/process/launcher.h"

#include <fmt/format.h>

namespace assay::compare {
namespace {

constexpr std::size_t kShownColumns = 120;

Error in_command(const Error& error, const std::string& role, const std::string& text) {
  Error out = error;
  out.what = error.where.empty() ? error.what : error.where + ": " + error.what;
  out.where = fmt::format("{} '{}'", role, printable(text, kShownColumns));
  return out;
}

// "FOO=1 ./prog" sets a variable only in a shell.
bool sets_variable(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0 || (word[0] >= '0' && word[0] <= '9'))
    return false;
  return word.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == equals;
}

}  // namespace

Result<Command> CommandMaker::make(const std::string& text, const std::string& role) const {
  Command command;
  ASSAY_TRY(command.text, expand(text, point_, role, used_));
  if (command.text.find('\0') != std::string::npos)
    return fail(ErrorCode::invalid_argument, "holds a NUL byte", role);
  const std::string& splittable = shell_.empty() ? command.text : shell_;
  auto words = split_command(splittable);
  if (!words)
    return tl::unexpected(in_command(words.error(), shell_.empty() ? role : "--shell", splittable));
  if (words->empty() || (*words)[0].empty())
    return fail(ErrorCode::invalid_argument, "is empty: name a program",
                fmt::format("{} '{}'", role, printable(text, kShownColumns)));
  command.argv = *std::move(words);
  if (!shell_.empty()) {
    command.argv.emplace_back("-c");
    command.argv.push_back(command.text);
  }
  auto program = process::resolve_program(command.argv[0]);
  if (!program) {
    // It is the shell that is missing, whatever it was to run.
    Error error = in_command(program.error(), shell_.empty() ? role : "--shell", splittable);
    error.code = ErrorCode::invalid_argument;
    if (shell_.empty() && sets_variable(command.argv[0]))
      error.what +=
          fmt::format("; to set a variable, write: env {}", printable(command.text, kShownColumns));
    return tl::unexpected(error);
  }
  command.program = *std::move(program);
  return command;
}

}  // namespace assay::compare
