// Writes the text that the word count measures: words drawn from a ranked vocabulary with weights
// 1/rank, twelve a line, from a fixed 64-bit generator. The same vocabulary gives the same bytes on
// every machine.
//
//   generate VOCABULARY OUTPUT [BYTES]
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::uint64_t kDefaultBytes = 5 * 1024 * 1024;
constexpr int kWordsPerLine = 12;

// A linear congruential generator modulo 2^64; its top 53 bits are the uniform.
class Uniform {
 public:
  double next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 11U) / 9007199254740992.0;
  }

 private:
  std::uint64_t state_ = 0x2545F4914F6CDD1DU;
};

std::vector<std::string> read_words(const char* path) {
  std::ifstream in(path);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    words.push_back(word);
  return words;
}

// cumulative[i] = the probability of a word of rank <= i.
std::vector<double> cumulative_shares(std::size_t count) {
  double total = 0;
  for (std::size_t rank = 1; rank <= count; ++rank)
    total += 1.0 / static_cast<double>(rank);
  std::vector<double> cumulative;
  double sum = 0;
  for (std::size_t rank = 1; rank <= count; ++rank) {
    sum += 1.0 / static_cast<double>(rank);
    cumulative.push_back(sum / total);
  }
  return cumulative;
}

std::string make_text(const std::vector<std::string>& words, std::uint64_t bytes) {
  const std::vector<double> cumulative = cumulative_shares(words.size());
  Uniform uniform;
  std::string text;
  std::uint64_t written = 0;
  int on_line = 0;
  while (written < bytes) {
    const double u = uniform.next();
    std::size_t index = 0;
    while (index + 1 < words.size() && cumulative[index] < u)
      ++index;
    if (on_line > 0)
      text += ' ';
    text += words[index];
    written += words[index].size() + 1;
    if (++on_line == kWordsPerLine) {
      text += '\n';
      on_line = 0;
    }
  }
  if (on_line > 0)
    text += '\n';
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t bytes = kDefaultBytes;
  if (argc == 4) {
    const std::string_view text(argv[3]);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error != std::errc() || end != text.data() + text.size() || bytes == 0)
      argc = 0;
  }
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: generate VOCABULARY OUTPUT [BYTES, at least 1]\n");
    return 2;
  }
  const std::vector<std::string> words = read_words(argv[1]);
  if (words.empty()) {
    std::fprintf(stderr, "generate: %s: no words could be read\n", argv[1]);
    return 2;
  }
  std::ofstream out(argv[2], std::ios::binary);
  out << make_text(words, bytes);
  out.close();
  if (!out) {
    std::fprintf(stderr, "generate: %s: could not be written\n", argv[2]);
    return 2;
  }
  return 0;
}
