// A RunRequest as assay-launch takes it.
#pragma once

#include "protocol.h"

#include "assay/base/files.h"
#include "assay/base/result.h"
#include "assay/process/run.h"

#include <string>
#include <vector>

namespace assay::process {

// The affinity mask of a CPU list; empty means "not pinned". invalid_argument for a CPU outside
// `allowed` (nullptr: any CPU that the mask can hold).
Result<void> fill_cpu_mask(const std::vector<int>& cpus, const std::uint64_t* allowed,
                           std::uint64_t* mask);

// The child's environment: ours, with the overrides of the request in the place of what they name.
std::vector<std::string> child_environment(const RunRequest& request);

struct EncodedRun {
  std::string payload;      // a RunMessage and its strings
  std::vector<Fd> files;    // opened for this run: stdin, stdout
  std::vector<int> fds;     // what travels with the message
  Nanoseconds timeout{-1};  // < 0: none
};

// invalid_argument for what no program could be given (no argv, a NUL byte, a bad variable name, a
// bound below 0); not_found, io for the input or output file.
Result<EncodedRun> encode_run(const RunRequest& request, const std::string& path,
                              const std::uint64_t* allowed_cpus);

}  // namespace assay::process
