// One command text at one parameter point -> the words that are executed.
#pragma once

#include "parameters.h"

#include "assay/base/result.h"

#include <set>
#include <string>
#include <vector>

namespace assay::compare {

struct Command {
  std::string text;               // after expansion
  std::vector<std::string> argv;  // the words, or a shell with -c and the text
  std::string program;            // resolved argv[0]
};

class CommandMaker {
 public:
  // `shell` "" = none: words are split as a shell would, without a shell. References must outlive
  // it.
  CommandMaker(const std::string& shell, const ParameterPoint& point, std::set<std::string>& used)
      : shell_(shell), point_(point), used_(used) {}

  // `role` ("candidate", "--setup") is the place in errors: bad quoting, unknown parameter, program
  // not found or not executable.
  Result<Command> make(const std::string& text, const std::string& role) const;

 private:
  const std::string& shell_;
  const ParameterPoint& point_;
  std::set<std::string>& used_;
};

}  // namespace assay::compare
