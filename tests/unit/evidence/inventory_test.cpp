#include "evidence/inventory.h"

#include "archive_fixture.h"

#include "assay/base/files.h"
#include "assay/base/sha256.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace assay::evidence {
namespace {

using test::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> paths(const std::vector<InventoryEntry>& entries) {
  std::vector<std::string> all;
  for (const InventoryEntry& entry : entries)
    all.push_back(entry.path);
  return all;
}

std::string refusal(const std::string& root) {
  const Result<std::vector<InventoryEntry>> entries = take_inventory(root);
  if (entries)
    return "accepted";
  EXPECT_EQ(entries.error().code, ErrorCode::invalid_format);
  return entries.error().message();
}

TEST(Inventory, lists_every_node_but_its_own_files_sorted_by_path_bytes) {
  const TempDir dir;
  std::filesystem::create_directories(dir / "a/b/empty");
  for (const char* name :
       {"a/b/f", "a.x", "z", "inventory.json", "SHA256SUMS", "seal.dsse.json", "a/inventory.json"})
    std::ofstream(dir / name) << name;
  ASSERT_EQ(::chmod((dir / "z").c_str(), 0600), 0);
  const std::vector<InventoryEntry> entries = take_inventory(dir.path()).value();
  EXPECT_THAT(paths(entries),
              ElementsAre("a", "a.x", "a/b", "a/b/empty", "a/b/f", "a/inventory.json", "z"));
  EXPECT_TRUE(entries[0].is_directory);
  EXPECT_EQ(canonical_json(inventory_entry_json(entries[6])),
            "{\"mode\":\"0600\",\"path\":\"z\",\"sha256\":\"" + sha256_hex("z") +
                "\",\"size\":1,\"type\":\"file\"}");
  EXPECT_THAT(canonical_json(inventory_entry_json(entries[2])),
              ::testing::MatchesRegex("\\{\"mode\":\"0[0-7]{3}\",\"path\":\"a/b\","
                                      "\"type\":\"directory\"\\}"));
}

TEST(Inventory, refuses_every_node_that_an_archive_cannot_hold) {
  const auto with = [](const std::function<void(const TempDir&)>& make) {
    const TempDir dir;
    std::ofstream(dir / "f") << "x";
    make(dir);
    return refusal(dir.path());
  };
  EXPECT_THAT(with([](const TempDir& d) { ASSERT_EQ(::symlink("f", (d / "l").c_str()), 0); }),
              HasSubstr("/l: symbolic links are not allowed"));
  EXPECT_THAT(with([](const TempDir& d) { ASSERT_EQ(::symlink(".", (d / "l").c_str()), 0); }),
              HasSubstr("symbolic links are not allowed"));
  EXPECT_THAT(
      with([](const TempDir& d) { ASSERT_EQ(::link((d / "f").c_str(), (d / "g").c_str()), 0); }),
      HasSubstr("hard links are not allowed"));
  EXPECT_THAT(with([](const TempDir& d) { ASSERT_EQ(::mkfifo((d / "p").c_str(), 0600), 0); }),
              HasSubstr("/p: only regular files and directories"));
  EXPECT_THAT(with([](const TempDir& d) { ASSERT_EQ(::chmod((d / "f").c_str(), 04755), 0); }),
              HasSubstr("set-id"));
  EXPECT_THAT(with([](const TempDir& d) { std::ofstream(d / "a\nb") << "x"; }),
              HasSubstr("a\\nb: the name holds control characters"));
  EXPECT_THAT(with([](const TempDir& d) { std::ofstream(d / "a\xff") << "x"; }),
              HasSubstr("no UTF-8"));
  EXPECT_THAT(with([](const TempDir& d) { std::ofstream(d / "a\\b") << "x"; }),
              HasSubstr("backslash"));
  EXPECT_THAT(with([](const TempDir& d) { std::ofstream(d / ".tmp.1.ab.f") << "x"; }),
              HasSubstr("temporary file"));
}

TEST(Inventory, the_root_itself_may_have_no_special_bits) {
  const TempDir dir;
  ASSERT_EQ(::chmod(dir.path().c_str(), 01700), 0);
  EXPECT_THAT(refusal(dir.path()), HasSubstr("sticky bits are not allowed"));
}

TEST(Inventory, refuses_a_socket) {
  const TempDir dir;
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (dir / "s").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(refusal(dir.path()), HasSubstr("only regular files and directories"));
}

TEST(Inventory, the_root_itself_may_not_be_a_symlink) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "a");
  ASSERT_EQ(::symlink("a", (dir / "l").c_str()), 0);
  EXPECT_EQ(take_inventory(dir / "l").error().code, ErrorCode::io);
  EXPECT_TRUE(take_inventory(dir / "a"));
}

// Recomputed from the finished archive's bytes: entries, root and checksums agree with the files.
TEST(Inventory, of_a_finished_archive_re_derives) {
  const TempDir dir;
  write_finished_archive(dir / "a");
  const Json inventory = Json::parse(slurp(dir / "a/inventory.json"));
  EXPECT_EQ(inventory["schema"], (Json{{"name", "assay.inventory"}, {"major", 1}, {"minor", 0}}));
  std::vector<std::string> leaves;
  std::vector<std::string> sums;
  std::vector<std::string> order;
  for (const Json& entry : inventory["entries"]) {
    const std::string path = entry["path"];
    order.push_back(path);
    leaves.push_back(entry.dump());  // sorted keys, integers and ASCII: already canonical
    if (entry["type"] == "directory") {
      EXPECT_TRUE(std::filesystem::is_directory(dir / ("a/" + path)));
      EXPECT_EQ(entry.size(), 3U);
      continue;
    }
    const std::string bytes = slurp(dir / ("a/" + path));
    EXPECT_EQ(entry["size"], bytes.size());
    EXPECT_EQ(entry["sha256"], sha256_hex(bytes));
    EXPECT_EQ(entry["mode"], "0644");
    sums.push_back(sha256_hex(bytes) + "  " + path);
  }
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_THAT(order, ::testing::Contains("report.json"));
  EXPECT_THAT(order, ::testing::Not(::testing::Contains("SHA256SUMS")));
  EXPECT_EQ(inventory["merkle_root"], merkle_root(leaves));
  sums.push_back(sha256_hex(slurp(dir / "a/inventory.json")) + "  inventory.json");
  std::sort(sums.begin(), sums.end(),
            [](const std::string& a, const std::string& b) { return a.substr(66) < b.substr(66); });
  EXPECT_EQ(lines_of(dir / "a/SHA256SUMS"), sums);
}

}  // namespace
}  // namespace assay::evidence
