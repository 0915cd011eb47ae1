// Counts the fields of log records: splits on '|', trims, rewrites two labels and the em dash,
// skips what is empty. Visits the records of FILE cyclically, ASSAY_BENCH_STEPS in all (1,048,576).
// Prints "token count" in code-point order, then "TOTAL tokens unique bytes" without line ends.
#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../common/bench.h"

namespace {

constexpr std::uint64_t kDefaultVisits = 1048576;
constexpr std::uint64_t kMostVisits = 16777216;
constexpr std::string_view kMargin = " \t\r\n";

struct Counts {
  std::unordered_map<std::string, std::uint64_t> tokens;
  std::uint64_t total = 0;
  std::uint64_t bytes = 0;

  bool operator==(const Counts&) const = default;
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kMargin);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(kMargin) - first + 1);
}

std::string rewritten(std::string_view text) {
  static constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {"INFO:", "info:"}, {"WARN:", "warn:"}, {"\u2014", "-"}};
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto* rule = std::find_if(std::begin(kRules), std::end(kRules), [text](const auto& one) {
      return text.substr(0, one.first.size()) == one.first;
    });
    if (rule == std::end(kRules)) {
      result += text.front();
      text.remove_prefix(1);
    } else {
      result += rule->second;
      text.remove_prefix(rule->first.size());
    }
  }
  return result;
}

void count_fields(std::string_view line, Counts& counts) {
  counts.bytes += line.size();
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find('|', at), line.size());
    const std::string_view field = trimmed(line.substr(at, end - at));
    if (!field.empty()) {
      ++counts.tokens[rewritten(field)];
      ++counts.total;
    }
    at = end + 1;
  }
}

Counts count(const std::vector<std::string_view>& lines, std::uint64_t visits) {
  Counts counts;
  for (std::uint64_t i = 0; i < visits; ++i)
    count_fields(lines[i % lines.size()], counts);
  return counts;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string text = bench::read_input(argc, argv);
  const std::vector<std::string_view> lines = lines_of(text);
  if (lines.empty()) {
    std::fprintf(stderr, "%s: no records\n", argv[1]);
    return 2;
  }
  const std::uint64_t visits = bench::steps(kDefaultVisits, kMostVisits);
  const Counts counts = bench::repeat([&] { return count(lines, visits); });
  std::vector<std::pair<std::string, std::uint64_t>> sorted(counts.tokens.begin(),
                                                            counts.tokens.end());
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [token, times] : sorted)
    std::printf("%s %llu\n", token.c_str(), static_cast<unsigned long long>(times));
  std::printf("TOTAL %llu %zu %llu\n", static_cast<unsigned long long>(counts.total), sorted.size(),
              static_cast<unsigned long long>(counts.bytes));
}
