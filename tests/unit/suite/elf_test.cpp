// How a file is linked, from real programs and from hostile bytes.
#include "assay/suite/elf.h"

#include "assay/base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace assay::suite {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

#if defined(__x86_64__)
constexpr std::uint64_t kMachine = 62;
#else
constexpr std::uint64_t kMachine = 183;
#endif

// A small executable: header, 3 program headers (PT_LOAD of the whole file, PT_INTERP, PT_DYNAMIC),
// the interpreter's name, a string table and a dynamic section. Loaded at kBase.
struct Fake {
  int bits = 64;
  bool big = false;
  std::uint64_t machine = kMachine;
  bool interpreter = true;
  std::string needed = "libc.so.6";
  bool string_table = true;
  bool end_mark = true;

  static constexpr std::uint64_t kBase = 0x10000;
  std::string bytes = {};
  std::uint64_t headers = 0;
  std::uint64_t dynamic = 0;
  std::uint64_t strings = 0;

  std::uint64_t word() const { return bits == 64 ? 8 : 4; }
  void set(std::uint64_t at, std::uint64_t value, std::uint64_t size) {
    for (std::uint64_t i = 0; i < size; ++i)
      bytes[at + (big ? size - 1 - i : i)] = static_cast<char>(value >> (8 * i) & 0xffU);
  }
  void put(std::uint64_t value, std::uint64_t size) {
    bytes.append(size, '\0');
    set(bytes.size() - size, value, size);
  }
  void header(std::uint64_t type, std::uint64_t offset, std::uint64_t size) {
    put(type, 4);
    if (bits == 64)
      put(0, 4);
    put(offset, word());
    put(kBase + offset, word());
    put(0, word());
    put(size, word());
    put(size, word());
    if (bits == 32)
      put(0, 4);
    put(0, word());
  }
  std::string make() {
    const std::string name = "/lib/ld.so";
    const std::uint64_t entry = bits == 64 ? 56 : 32;
    headers = bits == 64 ? 64 : 52;
    const std::uint64_t interp = headers + 3 * entry;
    strings = interp + name.size() + 1;
    dynamic = strings + needed.size() + 2;
    const std::uint64_t end = dynamic + 8 * word();
    bytes.clear();
    bytes = "\x7f";
    bytes += "ELF";
    put(bits == 64 ? 2 : 1, 1);
    put(big ? 2 : 1, 1);
    put(1, 1);
    bytes.append(9, '\0');
    put(3, 2);
    put(machine, 2);
    put(1, 4);
    put(0, word());
    put(headers, word());
    put(0, word());
    put(0, 4);
    put(headers, 2);
    put(entry, 2);
    put(3, 2);
    bytes.append(6, '\0');
    header(1, 0, end);
    header(interpreter ? 3 : 4, interp, name.size() + 1);
    header(2, dynamic, 8 * word());
    bytes += name + '\0';
    bytes += '\0' + needed + '\0';
    const bool any = !needed.empty();
    put(any ? 1 : 0x15, word());
    put(1, word());
    put(string_table ? 5 : 0x15, word());
    put(kBase + strings, word());
    put(string_table ? 10 : 0x15, word());
    put(needed.size() + 2, word());
    put(end_mark ? 0 : 0x15, word());
    put(0, word());
    return bytes;
  }
};

std::string error_of(const std::string& bytes) {
  const auto linkage = read_elf_linkage(bytes, "program");
  if (linkage)
    return "no error";
  EXPECT_EQ(linkage.error().code, ErrorCode::invalid_format);
  EXPECT_EQ(linkage.error().where, "program");
  return linkage.error().what;
}
std::string obstacle_of(Fake fake) {
  const auto linkage = read_elf_linkage(fake.make(), "program");
  if (!linkage)
    return linkage.error().what;
  return allocation_meter_obstacle(*linkage).value_or("none");
}

TEST(ElfLinkage, this_test_program_is_linked_dynamically) {
  const auto bytes = read_file(std::string(ASSAY_BINARY_DIR) + "/tests/test_suite");
  ASSERT_TRUE(bytes);
  const auto linkage = read_elf_linkage(*bytes, "self");
  ASSERT_TRUE(linkage) << linkage.error().message();
  EXPECT_EQ(linkage->bits, 64);
  EXPECT_THAT(linkage->interpreter, HasSubstr("ld-linux"));
  EXPECT_THAT(linkage->needed, Contains("libc.so.6"));
  const auto obstacle = allocation_meter_obstacle(std::string("/proc/self/exe"));
  ASSERT_TRUE(obstacle) << obstacle.error().message();
  EXPECT_EQ(obstacle->value_or("none"), "none");
}

TEST(ElfLinkage, a_static_program_is_refused_before_it_is_run) {
  for (const char* kind : {"static", "static-pie"}) {
    const auto obstacle =
        allocation_meter_obstacle(std::string(ASSAY_BINARY_DIR) + "/tests/" + kind + "-program");
    ASSERT_TRUE(obstacle) << obstacle.error().message();
    EXPECT_THAT(obstacle->value_or("none"), HasSubstr("linked statically")) << kind;
  }
}

TEST(ElfLinkage, a_missing_file_and_a_script_are_errors) {
  EXPECT_FALSE(allocation_meter_obstacle(std::string("/nonexistent/program")));
  EXPECT_THAT(error_of("#!/bin/sh\n"), HasSubstr("script"));
  EXPECT_THAT(error_of(""), HasSubstr("does not begin as one"));
  EXPECT_THAT(error_of("\x7f"
                       "EL"),
              HasSubstr("does not begin as one"));
}

TEST(ElfLinkage, both_classes_and_byte_orders_are_read) {
  for (const int bits : {32, 64})
    for (const bool big : {false, true}) {
      Fake fake{.bits = bits, .big = big, .machine = 21};
      const auto linkage = read_elf_linkage(fake.make(), "program");
      ASSERT_TRUE(linkage) << linkage.error().message();
      EXPECT_EQ(linkage->bits, bits);
      EXPECT_EQ(linkage->big_endian, big);
      EXPECT_EQ(linkage->machine, 21);
      EXPECT_EQ(linkage->interpreter, "/lib/ld.so");
      EXPECT_THAT(linkage->needed, ElementsAre("libc.so.6"));
    }
}

TEST(ElfLinkage, obstacles_are_told_apart) {
  EXPECT_EQ(obstacle_of({}), "none");
  EXPECT_THAT(obstacle_of({.bits = 32}), HasSubstr("another machine"));
  EXPECT_THAT(obstacle_of({.big = true}), HasSubstr("another machine"));
  EXPECT_THAT(obstacle_of({.machine = 40}), HasSubstr("another machine (ELF machine 40"));
  EXPECT_THAT(obstacle_of({.interpreter = false}), HasSubstr("linked statically"));
  EXPECT_THAT(obstacle_of({.needed = "libc.musl-x86_64.so.1"}), HasSubstr("libc.musl-x86_64.so.1"));
  EXPECT_THAT(obstacle_of({.needed = ""}), HasSubstr("nothing"));
}

TEST(ElfLinkage, every_broken_part_is_named) {
  const auto broken = [](std::uint64_t at, std::uint64_t value, std::uint64_t size) {
    Fake fake;
    fake.make();
    fake.set(at, value, size);
    return error_of(fake.bytes);
  };
  Fake good;
  good.make();
  const std::uint64_t load = good.headers;
  const std::uint64_t interp = load + 56;
  const std::uint64_t dynamic = interp + 56;
  constexpr std::uint64_t kHuge = 0xfffffffffffffff0U;
  EXPECT_THAT(broken(4, 3, 1), HasSubstr("neither of 32 nor of 64"));
  EXPECT_THAT(broken(5, 0, 1), HasSubstr("byte order"));
  EXPECT_THAT(broken(6, 2, 1), HasSubstr("version"));
  EXPECT_THAT(broken(16, 1, 2), HasSubstr("not an executable"));
  EXPECT_THAT(broken(32, kHuge, 8), HasSubstr("program headers lie outside"));
  EXPECT_THAT(broken(32, good.bytes.size() - 100, 8), HasSubstr("program headers lie outside"));
  EXPECT_THAT(broken(54, 32, 2), HasSubstr("not 56"));
  EXPECT_THAT(broken(56, 0, 2), HasSubstr("no program headers"));
  EXPECT_THAT(broken(56, 0xffff, 2), HasSubstr("program headers lie outside"));
  EXPECT_THAT(broken(interp, 2, 4), HasSubstr("more than one"));
  EXPECT_THAT(broken(interp + 8, kHuge, 8), HasSubstr("the interpreter lies outside"));
  EXPECT_THAT(broken(interp + 32, kHuge, 8), HasSubstr("the interpreter lies outside"));
  EXPECT_THAT(broken(interp + 32, 3, 8), HasSubstr("the interpreter has no end"));
  EXPECT_THAT(broken(interp + 8, good.strings, 8), HasSubstr("interpreter is empty"));
  EXPECT_THAT(broken(dynamic + 8, kHuge, 8), HasSubstr("dynamic section lies outside"));
  EXPECT_THAT(broken(dynamic + 32, kHuge, 8), HasSubstr("dynamic section lies outside"));
  EXPECT_THAT(broken(dynamic + 32, 40, 8), HasSubstr("dynamic section has no end"));
  EXPECT_THAT(broken(good.dynamic + 8, 4000, 8), HasSubstr("outside the string table"));
  EXPECT_THAT(broken(good.dynamic + 24, 0x99, 8), HasSubstr("no segment holds"));
  EXPECT_THAT(broken(good.dynamic + 40, kHuge, 8), HasSubstr("longer than its segment"));
  EXPECT_THAT(broken(good.dynamic + 40, 5, 8), HasSubstr("has no end"));
  EXPECT_THAT(broken(load + 8, kHuge, 8), HasSubstr("a segment lies outside"));
  EXPECT_THAT(broken(load + 32, kHuge, 8), HasSubstr("a segment lies outside"));
  EXPECT_THAT(error_of(Fake{.string_table = false}.make()), HasSubstr("no string table"));
  EXPECT_THAT(error_of(Fake{.end_mark = false}.make()), HasSubstr("no end"));
}

TEST(ElfLinkage, every_prefix_and_every_changed_byte_is_survived) {
  for (const int bits : {32, 64}) {
    Fake fake{.bits = bits};
    const std::string good = fake.make();
    for (std::size_t size = 0; size < good.size(); ++size)
      EXPECT_NE(error_of(good.substr(0, size)), "no error") << size;
    for (std::size_t at = 0; at < good.size(); ++at)
      for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
        std::string bytes = good;
        bytes[at] = static_cast<char>(value);
        const auto linkage = read_elf_linkage(bytes, "program");
        if (linkage) {
          EXPECT_LE(linkage->needed.size(), 4U);
        }
      }
  }
}

}  // namespace
}  // namespace assay::suite
