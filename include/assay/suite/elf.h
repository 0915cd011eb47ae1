// How an executable file is linked: whether a library can be loaded into it before it runs.
#pragma once

#include "assay/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suite {

struct ElfLinkage {
  int bits = 64;  // 32 or 64
  bool big_endian = false;
  std::uint16_t machine = 0;        // e_machine
  std::string interpreter;          // PT_INTERP; empty when there is none: a static program
  std::vector<std::string> needed;  // DT_NEEDED, in order
};

// Reads the headers of an executable or shared object. Never reads outside `bytes`, whatever they
// say. Errors: invalid_format, naming what is wrong and where in the file.
Result<ElfLinkage> read_elf_linkage(std::string_view bytes, const std::string& where);

// Why the allocation meter cannot see into such a program; nothing when it can. The sentence is
// complete: "the program is linked statically: ...".
std::optional<std::string> allocation_meter_obstacle(const ElfLinkage& linkage);

// The same for a file. Errors: those of read_file and read_elf_linkage.
Result<std::optional<std::string>> allocation_meter_obstacle(const std::string& path);

}  // namespace assay::suite
