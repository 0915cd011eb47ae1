// The search that execvp does, with the reason of a failure kept.
#pragma once

#include <string>

namespace assay::process {

struct FoundProgram {
  std::string path;   // "" when there is none
  int error = 0;      // errno of the search: ENOENT, EACCES, EISDIR
  std::string tried;  // the file that `error` is about, "" when no file of that name exists
};

FoundProgram find_program(const std::string& name);

}  // namespace assay::process
