// What stat(2) tells about a file's bytes without reading them.
#pragma once

#include <sys/stat.h>

namespace assay {

// Whether both describe one file that nobody wrote in between, as far as the kernel's clock can
// tell.
bool same_file_state(const struct stat& a, const struct stat& b);

}  // namespace assay
