// policy.json and host.json of a comparison.
#pragma once

#include "prepare.h"

#include "assay/base/json.h"
#include "assay/compare/compare.h"
#include "assay/host/host.h"
#include "assay/process/launcher.h"
#include "assay/verdict/policy.h"

#include <cstddef>
#include <string>

namespace assay::compare {

// Runs short helper programs (compilers' --version, git) through the launcher, never through a
// shell.
host::Runner launcher_runner(process::Launcher& launcher);

// Machine, compilers, git state of the working directory, and under "programs" the digest of each
// binary that runs and of a script that an interpreter is given.
Json host_json(const Prepared& prepared, process::Launcher& launcher, const host::Redactor& redact);

// assay doctor's bounds of load and steal, for a host of `cpus` usable CPUs.
verdict::HostBounds host_bounds(std::size_t cpus);

verdict::ComparePolicy policy_of(const CompareOptions& options, const Prepared& prepared,
                                 const host::Redactor& redact);

}  // namespace assay::compare
