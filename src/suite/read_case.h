// The two large entries of a manifest: a toolchain and a case.
#pragma once

#include "fields.h"

#include "assay/suite/manifest.h"

#include <string>
#include <string_view>

namespace assay::suite {

bool is_preset(std::string_view name);
std::string preset_list();  // for errors

Result<Toolchain> read_toolchain(const std::string& name, Fields& fields);
// `manifest` holds the toolchains and protocols already.
Result<Case> read_case(const std::string& name, Fields& fields, const Manifest& manifest);

}  // namespace assay::suite
