// The word count: splits a file on ASCII whitespace and prints its 20 most frequent words as
// "word count", then "TOTAL words unique". Deliberately plain: it is a workload for comparing
// compilers, so no trick here should hide what they do.
//
//   wordcount FILE
#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../common/bench.h"

namespace {

constexpr std::size_t kTop = 20;

struct Counts {
  std::unordered_map<std::string_view, std::int64_t> words;
  std::int64_t total = 0;

  bool operator==(const Counts&) const = default;
};

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

Counts count_words(std::string_view text) {
  Counts counts;
  std::size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && is_space(text[at]))
      ++at;
    const std::size_t start = at;
    while (at < text.size() && !is_space(text[at]))
      ++at;
    if (at > start) {
      ++counts.words[text.substr(start, at - start)];
      ++counts.total;
    }
  }
  return counts;
}

void print(const Counts& counts) {
  std::vector<std::pair<std::string_view, std::int64_t>> ranked(counts.words.begin(),
                                                                counts.words.end());
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  for (std::size_t i = 0; i < std::min(kTop, ranked.size()); ++i)
    std::printf("%.*s %lld\n", static_cast<int>(ranked[i].first.size()), ranked[i].first.data(),
                static_cast<long long>(ranked[i].second));
  std::printf("TOTAL %lld %zu\n", static_cast<long long>(counts.total), ranked.size());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string text = bench::read_input(argc, argv);
  print(bench::repeat([&text] { return count_words(text); }));
}
