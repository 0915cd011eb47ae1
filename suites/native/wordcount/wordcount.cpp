// The word count: splits a file on ASCII whitespace and prints its 20 most frequent words as
// "word count", then "TOTAL words unique". Deliberately plain: it is a workload for comparing
// compilers, so no trick here should hide what they do.
//
//   wordcount FILE [PASSES]
//
// The text is counted PASSES times from scratch (default 8), because a run of a few milliseconds
// would measure process start-up instead of counting.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

constexpr int kDefaultPasses = 8;
constexpr int kMaxPasses = 100000;
constexpr std::size_t kTop = 20;

struct Counts {
  std::unordered_map<std::string_view, std::int64_t> words;
  std::int64_t total = 0;
};

bool read_file(const char* path, std::string& text) {
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr)
    return false;
  char buffer[65536];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file))
    text.append(buffer, got);
  const bool whole = std::ferror(file) == 0;
  std::fclose(file);
  return whole;
}

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
  int passes = kDefaultPasses;
  if (argc == 3) {
    const std::string_view text(argv[2]);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), passes);
    if (error != std::errc() || end != text.data() + text.size())
      passes = 0;
  }
  if (argc < 2 || argc > 3 || passes < 1 || passes > kMaxPasses) {
    std::fprintf(stderr, "usage: wordcount FILE [PASSES, 1 to %d]\n", kMaxPasses);
    return 2;
  }
  std::string text;
  if (!read_file(argv[1], text)) {
    std::fprintf(stderr, "wordcount: %s: could not be read\n", argv[1]);
    return 2;
  }

  Counts counts = count_words(text);
  for (int pass = 1; pass < passes; ++pass) {
    Counts again = count_words(text);
    if (again.words != counts.words || again.total != counts.total) {
      std::fprintf(stderr, "wordcount: two passes over one text disagree\n");
      return 1;
    }
    counts = std::move(again);
  }
  print(counts);
  return 0;
}
