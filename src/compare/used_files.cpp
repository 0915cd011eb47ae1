#include "used_files.h"

#include "assay/base/text.h"
#include "assay/process/launcher.h"

#include <fmt/format.h>

#include <sys/stat.h>

namespace assay::compare {
namespace {

// What ends a word for a shell, and what may stand in front of a file's name in an argument.
constexpr const char* kBetweenWords = " \t\r\n;|&<>()`'\"=,:";

bool is_regular(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace

void UsedFiles::add(const std::string& what, const std::string& path) {
  known_.insert(path);
  files_.push_back({what, path});
}

void UsedFiles::add_word(const std::string& what, const std::string& word) {
  if (word.empty() || word.find('\0') != std::string::npos || !known_.insert(word).second)
    return;
  if (is_regular(word))
    files_.push_back({what, word});
  // A name without a slash may be that of a program: `env prog`, `nice prog`, a shell's text.
  if (word.find('/') != std::string::npos)
    return;
  if (const auto program = process::resolve_program(word))
    files_.push_back({what, *program});
}

void UsedFiles::add_command(const std::string& role, const Command& command) {
  const std::string what = fmt::format("{} '{}'", role, printable(command.text, 60));
  add(what, command.program);
  for (const std::string& word : command.argv) {
    add_word(what, word);
    // Quotes are undone first: 'pr og' inside a shell's text is one word.
    if (const auto inner = split_command(word))
      for (const std::string& part : *inner)
        add_word(what, part);
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t end = std::min(word.find_first_of(kBetweenWords, at), word.size());
      add_word(what, word.substr(at, end - at));
      at = end + 1;
    }
    // "--input=FILE" where the name itself holds such a character.
    if (const std::size_t equals = word.find('='); equals != std::string::npos)
      add_word(what, word.substr(equals + 1));
  }
}

}  // namespace assay::compare
