// Text in cells: widths, harmless names, wrapping.
#include "view.h"

#include "assay/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace assay::report {
namespace {

struct Range {
  char32_t first, last;
};

template <std::size_t N>
bool in_ranges(char32_t c, const Range (&ranges)[N]) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [c](const Range& r) { return c >= r.first && c <= r.last; });
}

// Unicode's general categories Mn/Me that occur in practice.
constexpr Range kCombining[] = {
    {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
    {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
// East Asian Wide and Fullwidth, and the emoji blocks.
constexpr Range kWide[] = {
    {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x4dbf},  {0x4e00, 0xa4cf}, {0xac00, 0xd7a3},
    {0xf900, 0xfaff},   {0xfe30, 0xfe4f},   {0xff00, 0xff60},  {0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};
// C1 controls, soft hyphen, bidirectional controls, zero-width and line separators, tags,
// noncharacters and private use: they reorder, hide or break what stands around them.
constexpr Range kInvisible[] = {{0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
                                {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},
                                {0x2060, 0x206f}, {0xe000, 0xf8ff}, {0xfeff, 0xfeff},
                                {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0x10ffff}};

// One code point from valid UTF-8; advances `i`.
char32_t next_code_point(std::string_view text, std::size_t& i) {
  const auto byte = [&](std::size_t k) -> char32_t {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0x80U;
  };
  const char32_t lead = byte(i);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  char32_t c = length == 1 ? lead : lead & (0xffU >> (length + 1));
  for (std::size_t k = 1; k < length; ++k)
    c = (c << 6) | (byte(i + k) & 0x3fU);
  i = std::min(text.size(), i + length);
  return c;
}

std::size_t width_of(char32_t c) {
  return in_ranges(c, kCombining) ? 0 : in_ranges(c, kWide) ? 2 : 1;
}

struct Glyph {
  std::size_t offset, width;
};

// Combining marks count as one here, so that a heap of them cannot grow a line without bound.
std::vector<Glyph> glyphs_of(std::string_view text) {
  std::vector<Glyph> out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    out.push_back({start, std::max<std::size_t>(1, width_of(next_code_point(text, i)))});
  }
  return out;
}

std::string cut_middle(const std::string& text, std::size_t max_width) {
  const std::vector<Glyph> glyphs = glyphs_of(text);
  std::size_t total = 0;
  for (const Glyph& g : glyphs)
    total += g.width;
  if (max_width == 0 || total <= max_width)
    return text;
  const std::size_t dots = std::min<std::size_t>(3, max_width);
  const std::size_t room = max_width - dots;
  std::size_t head = 0, head_width = 0;
  while (head < glyphs.size() && head_width + glyphs[head].width <= (room + 1) / 2)
    head_width += glyphs[head++].width;
  std::size_t tail = glyphs.size(), tail_width = 0;
  while (tail > head && tail_width + glyphs[tail - 1].width <= room - head_width)
    tail_width += glyphs[--tail].width;
  const std::size_t head_end = head < glyphs.size() ? glyphs[head].offset : text.size();
  const std::size_t tail_start = tail < glyphs.size() ? glyphs[tail].offset : text.size();
  return text.substr(0, head_end) + std::string(dots, '.') + text.substr(tail_start);
}

// Byte length of the longest prefix that fits into `width` cells, at least one code point.
std::size_t fitting_prefix(std::string_view text, std::size_t width) {
  std::size_t used = 0, i = 0;
  while (i < text.size()) {
    std::size_t next = i;
    const std::size_t cells = std::max<std::size_t>(1, width_of(next_code_point(text, next)));
    if (used + cells > width && i > 0)
      break;
    used += cells;
    i = next;
  }
  return i;
}

}  // namespace

std::size_t display_width(std::string_view utf8) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < utf8.size();)
    width += width_of(next_code_point(utf8, i));
  return width;
}

std::string safe_text(std::string_view bytes, std::size_t max_width, bool ascii) {
  const std::string visible = sanitize_utf8(printable(bytes, 0));
  std::string out;
  for (std::size_t i = 0; i < visible.size();) {
    const std::size_t start = i;
    const char32_t c = next_code_point(visible, i);
    if (c < 0x20 || in_ranges(c, kInvisible) || (ascii && c > 0x7e))
      out += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(c));
    else
      out.append(visible, start, i - start);
  }
  return cut_middle(out, max_width);
}

std::string wrap(std::string_view text, const Wrapping& wrapping) {
  std::string out = wrapping.first;
  const std::size_t width = std::max(wrapping.width, wrapping.indent + 8);
  std::size_t column = wrapping.first_width;
  bool line_is_empty = true;
  const auto break_line = [&] {
    while (!out.empty() && out.back() == ' ')
      out.pop_back();
    out += '\n';
    out.append(wrapping.indent, ' ');
    column = wrapping.indent;
    line_is_empty = true;
  };
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ' || text[i] == '\n') {
      ++i;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \n", i), text.size());
    std::string_view word = text.substr(i, end - i);
    i = end;
    while (!word.empty()) {
      const std::size_t gap = line_is_empty ? 0 : 1;
      if (column + gap + display_width(word) > width && !line_is_empty) {
        break_line();
        continue;
      }
      const std::size_t room = width > column + gap ? width - column - gap : 0;
      if (room == 0) {
        break_line();
        continue;
      }
      const std::size_t take = fitting_prefix(word, room);
      if (gap)
        out += ' ';
      out.append(word.substr(0, take));
      column += gap + display_width(word.substr(0, take));
      line_is_empty = false;
      word.remove_prefix(take);
    }
  }
  out += '\n';
  return out;
}

}  // namespace assay::report
