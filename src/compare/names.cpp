#include "names.h"

#include "assay/base/sha256.h"
#include "assay/base/text.h"

#include <set>

namespace assay::compare {
namespace {

constexpr std::size_t kMaxBytes = 64;
constexpr std::size_t kDigits = 8;

std::string with_digest(std::string text, const std::string& raw) {
  const std::size_t room = kMaxBytes - kDigits - 1;
  if (text.size() > room) {
    std::size_t cut = room;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U)
      --cut;
    text.resize(cut);
  }
  return text + "~" + sha256_hex(raw).substr(0, kDigits);
}

}  // namespace

std::string short_name(const std::string& raw) {
  std::string text = printable(raw);
  return text.size() <= kMaxBytes ? text : with_digest(std::move(text), raw);
}

std::vector<std::string> unique_names(const std::vector<std::string>& raw) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const std::string& full : raw) {
    std::string name = short_name(full);
    if (seen.count(name) != 0)
      name = with_digest(printable(full), full);
    const std::string base = name;
    for (int n = 2; !seen.insert(name).second; ++n)
      name = base + "#" + std::to_string(n);
    names.push_back(name);
  }
  return names;
}

}  // namespace assay::compare
