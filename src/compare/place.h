// Where an archive goes: what can be refused about the place, before anything is made there.
#pragma once

#include "assay/base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace assay::compare {

// The path that `--archive PATH` names, without trailing slashes and "." components, so that no
// parent is made in place of the archive itself. Errors, naming the flag: invalid_argument,
// already_exists.
Result<std::string> named_archive(const std::string& path);

// Fails when `place` (or its nearest existing ancestor) is no directory that can be written to.
Result<void> check_creatable(const std::string& place, const std::string& where);

// <store>/<UTC basic form>-<first 8 hex of id>; the store is `store`, else $ASSAY_STORE, else
// ./assay-archives. `id` "" = a fresh one.
std::string default_archive_path(const std::optional<std::string>& store = {},
                                 std::string_view id = {});

// An error of making the archive, with the flag that named its place; `path` "" = no flag did.
Error in_archive_flag(Error error, const std::string& path);

}  // namespace assay::compare
