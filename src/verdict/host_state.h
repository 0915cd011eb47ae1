// What disturbed the host around a campaign, as its evidence tells.
#pragma once

#include "assay/base/json.h"
#include "assay/verdict/policy.h"
#include "assay/verdict/sample.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assay::verdict {

// load_high: the load average of host.json is above its bound. steal_high: the mean of the samples'
// steal shares is. Without bounds, or where the host gave no figure, nothing is said.
std::set<std::string> host_disturbances(const std::optional<HostBounds>& bounds, const Json& host,
                                        const std::vector<Sample>& samples);

}  // namespace assay::verdict
