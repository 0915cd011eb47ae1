#include "assay/suite/elf.h"

#include "assay/base/files.h"
#include "assay/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>

namespace assay::suite {
namespace {

// Offsets and numbers of the "Tool Interface Standard: Executable and Linking Format" and of the
// System V ABI, both classes.
constexpr std::uint64_t kIdentSize = 16;
constexpr std::uint16_t kExecutable = 2;
constexpr std::uint16_t kShared = 3;
constexpr std::uint64_t kLoad = 1;
constexpr std::uint64_t kDynamic = 2;
constexpr std::uint64_t kInterp = 3;
constexpr std::uint64_t kTagNeeded = 1;
constexpr std::uint64_t kTagStringTable = 5;
constexpr std::uint64_t kTagStringSize = 10;
constexpr std::string_view kGlibc = "libc.so.6";

#if defined(__x86_64__)
constexpr std::uint16_t kOwnMachine = 62;  // EM_X86_64
#else
constexpr std::uint16_t kOwnMachine = 183;  // EM_AARCH64
#endif

struct Segment {
  std::uint64_t type = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // in the file
};

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  Result<ElfLinkage> read() {
    ASSAY_TRY_VOID(read_identification());
    ASSAY_TRY_VOID(read_segments());
    for (const Segment& segment : segments_) {
      if (segment.type == kInterp) {
        ASSAY_TRY(linkage_.interpreter, text_at(segment.offset, segment.size, "the interpreter"));
        if (linkage_.interpreter.empty())
          return bad(segment.offset, "the name of the interpreter is empty");
      }
    }
    for (const Segment& segment : segments_) {
      if (segment.type == kDynamic) {
        ASSAY_TRY_VOID(read_dynamic(segment));
      }
    }
    return std::move(linkage_);
  }

 private:
  tl::unexpected<Error> bad(std::uint64_t offset, const std::string& what) const {
    return fail(ErrorCode::invalid_format,
                fmt::format("not a usable ELF file, at byte {}: {}", offset, what), where_);
  }
  std::uint64_t word_size() const { return linkage_.bits == 64 ? 8 : 4; }

  Result<std::uint64_t> number(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset)
      return bad(offset, "the file ends too early");
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::uint64_t at = linkage_.big_endian ? i : size - 1 - i;
      value = value << 8U | static_cast<unsigned char>(bytes_[offset + at]);
    }
    return value;
  }

  // The text that ends in a NUL within `size` bytes from `offset`.
  Result<std::string> text_at(std::uint64_t offset, std::uint64_t size, const char* what) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset)
      return bad(offset, fmt::format("{} lies outside the file", what));
    const std::string_view part = bytes_.substr(offset, size);
    const std::size_t end = part.find('\0');
    if (end == std::string_view::npos)
      return bad(offset, fmt::format("{} has no end", what));
    return std::string(part.substr(0, end));
  }

  Result<void> read_identification() {
    if (bytes_.substr(0, 4) !=
        "\x7f"
        "ELF")
      return bad(0, bytes_.substr(0, 2) == "#!" ? "it is a script" : "it does not begin as one");
    if (bytes_.size() < kIdentSize)
      return bad(bytes_.size(), "the file ends too early");
    const char file_class = bytes_[4];
    const char order = bytes_[5];
    if (file_class != 1 && file_class != 2)
      return bad(4, "it is neither of 32 nor of 64 bits");
    if (order != 1 && order != 2)
      return bad(5, "its byte order is unknown");
    if (bytes_[6] != 1)
      return bad(6, "its version is unknown");
    linkage_.bits = file_class == 2 ? 64 : 32;
    linkage_.big_endian = order == 2;
    ASSAY_TRY(const std::uint64_t type, number(kIdentSize, 2));
    if (type != kExecutable && type != kShared)
      return bad(kIdentSize, "it is not an executable");
    ASSAY_TRY(const std::uint64_t machine, number(kIdentSize + 2, 2));
    linkage_.machine = static_cast<std::uint16_t>(machine);
    return {};
  }

  Result<void> read_segments() {
    const bool wide = linkage_.bits == 64;
    ASSAY_TRY(const std::uint64_t table, number(wide ? 32 : 28, word_size()));
    ASSAY_TRY(const std::uint64_t entry_size, number(wide ? 54 : 42, 2));
    ASSAY_TRY(const std::uint64_t count, number(wide ? 56 : 44, 2));
    const std::uint64_t due = wide ? 56 : 32;
    if (count == 0)
      return bad(wide ? 56 : 44, "it has no program headers");
    if (entry_size != due)
      return bad(wide ? 54 : 42,
                 fmt::format("its program headers are of {} bytes, not {}", entry_size, due));
    // At most 65,535 entries: the product fits; the sum need not.
    if (table > bytes_.size() || count * due > bytes_.size() - table)
      return bad(table, "its program headers lie outside the file");
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSAY_TRY(const Segment segment, read_segment(table + i * due));
      segments_.push_back(segment);
    }
    for (const std::uint64_t type : {kInterp, kDynamic})
      if (std::count_if(segments_.begin(), segments_.end(),
                        [&](const Segment& one) { return one.type == type; }) > 1)
        return bad(table, fmt::format("more than one program header of type {}", type));
    return {};
  }

  Result<Segment> read_segment(std::uint64_t at) const {
    const bool wide = linkage_.bits == 64;
    Segment segment;
    ASSAY_TRY(segment.type, number(at, 4));
    ASSAY_TRY(segment.offset, number(at + (wide ? 8 : 4), word_size()));
    ASSAY_TRY(segment.address, number(at + (wide ? 16 : 8), word_size()));
    ASSAY_TRY(segment.size, number(at + (wide ? 32 : 16), word_size()));
    return segment;
  }

  // Where in the file an address is, and how many bytes of its segment follow.
  Result<Segment> locate(std::uint64_t address) const {
    for (const Segment& segment : segments_) {
      if (segment.type != kLoad || address < segment.address ||
          address - segment.address >= segment.size)
        continue;
      const std::uint64_t into = address - segment.address;
      if (segment.offset > bytes_.size() || segment.size > bytes_.size() - segment.offset)
        return bad(segment.offset, "a segment lies outside the file");
      return Segment{kLoad, segment.offset + into, address, segment.size - into};
    }
    return bad(0, fmt::format("no segment holds the address {:#x}", address));
  }

  Result<void> read_dynamic(const Segment& segment) {
    const std::uint64_t word = word_size();
    if (segment.offset > bytes_.size() || segment.size > bytes_.size() - segment.offset)
      return bad(segment.offset, "its dynamic section lies outside the file");
    std::vector<std::uint64_t> names;
    std::optional<std::uint64_t> table;
    std::optional<std::uint64_t> table_size;
    bool ended = false;
    for (std::uint64_t at = 0; !ended && segment.size - at >= 2 * word; at += 2 * word) {
      ASSAY_TRY(const std::uint64_t tag, number(segment.offset + at, word));
      ASSAY_TRY(const std::uint64_t value, number(segment.offset + at + word, word));
      if (tag == kTagNeeded)
        names.push_back(value);
      else if (tag == kTagStringTable)
        table = value;
      else if (tag == kTagStringSize)
        table_size = value;
      ended = tag == 0;
    }
    if (!ended)
      return bad(segment.offset, "its dynamic section has no end");
    if (names.empty())
      return {};
    if (!table || !table_size)
      return bad(segment.offset, "its dynamic section names libraries but no string table");
    return read_names(names, *table, *table_size);
  }

  Result<void> read_names(const std::vector<std::uint64_t>& names, std::uint64_t table,
                          std::uint64_t table_size) {
    ASSAY_TRY(const Segment strings, locate(table));
    if (table_size > strings.size)
      return bad(strings.offset, "its string table is longer than its segment");
    for (const std::uint64_t name : names) {
      if (name >= table_size)
        return bad(strings.offset, "the name of a library lies outside the string table");
      ASSAY_TRY(std::string text,
                text_at(strings.offset + name, table_size - name, "the name of a library"));
      linkage_.needed.push_back(std::move(text));
    }
    return {};
  }

  std::string_view bytes_;
  const std::string& where_;
  ElfLinkage linkage_;
  std::vector<Segment> segments_;
};

}  // namespace

Result<ElfLinkage> read_elf_linkage(std::string_view bytes, const std::string& where) {
  return Reader(bytes, where).read();
}

std::optional<std::string> allocation_meter_obstacle(const ElfLinkage& linkage) {
  if (linkage.machine != kOwnMachine || linkage.bits != 64 || linkage.big_endian)
    return fmt::format(
        "the program is for another machine (ELF machine {}, {} bits): the allocation meter cannot "
        "be loaded into it",
        linkage.machine, linkage.bits);
  if (linkage.interpreter.empty())
    return "the program is linked statically: the allocation meter cannot be loaded into it; link "
           "it "
           "dynamically";
  if (std::find(linkage.needed.begin(), linkage.needed.end(), kGlibc) != linkage.needed.end())
    return std::nullopt;
  std::string list;
  for (const std::string& name : linkage.needed)
    list += (list.empty() ? "" : ", ") + printable(name, 60);
  return fmt::format(
      "the program does not use the GNU C library ({} is not among what it needs: {}): the "
      "allocation meter cannot be loaded into it",
      kGlibc, list.empty() ? "nothing" : list);
}

Result<std::optional<std::string>> allocation_meter_obstacle(const std::string& path) {
  // A program may be named by a symbolic link, which read_file refuses.
  std::error_code code;
  const std::filesystem::path file = std::filesystem::canonical(path, code);
  if (code)
    return tl::unexpected(
        system_error(ErrorCode::not_found, "the program could not be found", code.value(), path));
  ASSAY_TRY(const std::string bytes, read_file(file));
  ASSAY_TRY(const ElfLinkage linkage, read_elf_linkage(bytes, path));
  return allocation_meter_obstacle(linkage);
}

}  // namespace assay::suite
