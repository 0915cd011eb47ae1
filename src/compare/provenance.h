// policy.json and host.json of a comparison.
#pragma once

#include "prepare.h"

#include "assay/base/json.h"
#include "assay/compare/compare.h"
#include "assay/host/host.h"
#include "assay/process/launcher.h"
#include "assay/verdict/policy.h"

#include <string>

namespace assay::compare {

// Runs short helper programs (compilers' --version, git) through the launcher, never through a
// shell.
host::Runner launcher_runner(process::Launcher& launcher);

// Machine, compilers, git state of the working directory, and under "programs" the digest of each
// binary that runs and of a script that an interpreter is given.
Json host_json(const Prepared& prepared, process::Launcher& launcher, const host::Redactor& redact);

verdict::ComparePolicy policy_of(const CompareOptions& options, const Prepared& prepared,
                                 const host::Redactor& redact);

}  // namespace assay::compare
