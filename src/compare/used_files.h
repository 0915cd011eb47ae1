// What a campaign reads: the files that nothing may overwrite meanwhile.
#pragma once

#include "command.h"

#include "assay/compare/compare.h"

#include <set>
#include <string>
#include <vector>

namespace assay::compare {

class UsedFiles {
 public:
  // `what` says in errors what the file is, "--input" for one.
  void add(const std::string& what, const std::string& path);
  // The command's program, and every file and program that its words name. With a shell, and for
  // words that are commands themselves (sh -c '...'), the words inside a word count too. It may
  // name more than is read, never less than can be seen in the text.
  void add_command(const std::string& role, const Command& command);

  const std::vector<UsedFile>& all() const { return files_; }

 private:
  void add_word(const std::string& what, const std::string& word);

  std::vector<UsedFile> files_;
  std::set<std::string> known_;  // words and paths that were looked at
};

}  // namespace assay::compare
