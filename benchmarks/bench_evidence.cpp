// Hash and journal rates. The journal is measured without its durable barriers and with them.
#include "figure.h"

#include "assay/base/ids.h"
#include "assay/base/sha256.h"
#include "assay/evidence/archive.h"

#include <fmt/core.h>
#include <openssl/evp.h>

#include <chrono>
#include <cstdlib>
#include <string>

namespace {

using assay::benchmarks::kNoGoal;
using assay::benchmarks::print_figure;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void print_hash_rate() {
  const std::string block(std::size_t{64} << 20, 'x');
  auto start = std::chrono::steady_clock::now();
  const std::string digest = assay::sha256_hex(block);
  const double own = seconds_since(start);
  start = std::chrono::steady_clock::now();
  unsigned char raw[32];
  unsigned int size = 0;
  EVP_Digest(block.data(), block.size(), raw, &size, EVP_sha256(), nullptr);
  const double openssl = seconds_since(start);
  const double gib = static_cast<double>(block.size()) / (1 << 30);
  fmt::print("SHA-256 of 64 MiB [{}]\n", digest.substr(0, 8));
  print_figure("plain OpenSSL", fmt::format("{:.2f} GiB/s", gib / openssl), kNoGoal);
  print_figure("ours", fmt::format("{:.2f} GiB/s", gib / own), kNoGoal);
  print_figure("ours, as a share of OpenSSL's rate", fmt::format("{:.2f}", openssl / own),
               ">= 0.80");
}

int print_journal_rate(const std::string& directory) {
  auto archive =
      assay::evidence::ArchiveWriter::create(directory + "/archive", {"benchmark", "0"},
                                             assay::Json::object(), "{}\n", assay::Json::object());
  if (!archive) {
    fmt::print(stderr, "bench_evidence: {}\n", archive.error().message());
    return 1;
  }
  constexpr int events = 20000;
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < events; ++i) {
    if (!archive->event("pair_started", {{"batch", i / 6}, {"pair", i % 6}}))
      return 1;
  }
  const double plain = seconds_since(start);
  constexpr int pairs = 500;
  const std::string lines = std::string(1400, 'x') + "\n";
  start = std::chrono::steady_clock::now();
  for (int i = 0; i < pairs; ++i) {
    if (!archive->append_samples(lines, {i / 6, i % 6, 2 * i}))
      return 1;
  }
  const double durable = seconds_since(start);
  fmt::print("journal\n");
  print_figure("events, each one write", fmt::format("{:.0f} /s", events / plain), kNoGoal);
  print_figure("a pair of samples with its durable barrier",
               fmt::format("{:.2f} ms", durable / pairs * 1e3), kNoGoal);
  return 0;
}

}  // namespace

int main() {
  print_hash_rate();
  std::string directory = "/tmp/assay-bench-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr)
    return 1;
  const int code = print_journal_rate(directory);
  return std::system(("rm -rf '" + directory + "'").c_str()) == 0 ? code : 1;
}
