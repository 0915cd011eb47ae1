#include "protocol.h"

namespace assay::process {

const char kBuildId[kBuildIdSize + 1] = ASSAY_BUILD_ID;

}  // namespace assay::process
