// Filters and rewrites JSON records, one a line: keeps those that are active and whose id 5 does
// not divide, writes {"id", "score": 3 score + id, "title": "task:" + title} and counts every
// written record whole. Goes over FILE ASSAY_BENCH_STEPS times (256). Prints "record TAB count" in
// byte order, then "TOTAL selected bytes processed".
#include <algorithm>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../common/bench.h"

namespace {

constexpr std::uint64_t kDefaultRounds = 256;
constexpr std::uint64_t kMostRounds = 512;

struct Counts {
  std::unordered_map<std::string, std::uint64_t> records;
  std::uint64_t selected = 0;
  std::uint64_t bytes = 0;
  std::uint64_t processed = 0;

  bool operator==(const Counts&) const = default;
};

void append_escaped(std::string& to, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (const char c : text) {
    switch (c) {
      case '"':
        to += "\\\"";
        break;
      case '\\':
        to += "\\\\";
        break;
      case '\b':
        to += "\\b";
        break;
      case '\t':
        to += "\\t";
        break;
      case '\n':
        to += "\\n";
        break;
      case '\f':
        to += "\\f";
        break;
      case '\r':
        to += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          to += "\\u00";
          to += kHex[static_cast<unsigned char>(c) >> 4U];
          to += kHex[static_cast<unsigned char>(c) & 15U];
        } else {
          to += c;
        }
    }
  }
}

void transform(const simdjson::dom::element& record, Counts& counts) {
  ++counts.processed;
  const std::int64_t id = record["id"];
  if (!bool(record["active"]) || id % 5 == 0)
    return;
  const std::string_view title = record["title"];
  std::string out = "{\"id\":" + std::to_string(id) +
                    ",\"score\":" + std::to_string(std::int64_t(record["score"]) * 3 + id) +
                    ",\"title\":\"task:";
  append_escaped(out, title);
  out += "\"}";
  ++counts.selected;
  counts.bytes += out.size();
  ++counts.records[std::move(out)];
}

// The lines lie in a buffer that goes on behind each of them, as the parser wants it.
Counts work(const simdjson::padded_string& text, std::uint64_t rounds) {
  simdjson::dom::parser parser;
  Counts counts;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      transform(parser.parse(rest.data(), end, false), counts);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return counts;
}

}  // namespace

int main(int argc, char** argv) {
  const simdjson::padded_string text(bench::read_input(argc, argv));
  const std::uint64_t rounds = bench::steps(kDefaultRounds, kMostRounds);
  try {
    const Counts counts = bench::repeat([&] { return work(text, rounds); });
    std::vector<std::pair<std::string_view, std::uint64_t>> sorted(counts.records.begin(),
                                                                   counts.records.end());
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [record, times] : sorted)
      std::printf("%.*s\t%llu\n", static_cast<int>(record.size()), record.data(),
                  static_cast<unsigned long long>(times));
    std::printf("TOTAL %llu %llu %llu\n", static_cast<unsigned long long>(counts.selected),
                static_cast<unsigned long long>(counts.bytes),
                static_cast<unsigned long long>(counts.processed));
  } catch (const simdjson::simdjson_error& error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
    return 2;
  }
}
