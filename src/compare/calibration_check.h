// Whether the figures of a calibration record are possible at all.
#pragma once

#include "assay/base/json.h"
#include "assay/base/result.h"

#include <string>

namespace assay::compare {

// The "calibration" and "limits" of a record whose root is `top`: known states, counts >= 0, rates
// and probabilities within [0, 1], limits around their rate. Later additions are passed over.
// Errors: invalid_format, with the place.
Result<void> check_calibration(ObjectReader& top);

}  // namespace assay::compare
