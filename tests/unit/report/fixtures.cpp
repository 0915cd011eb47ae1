#include "fixtures.h"

#include "assay/base/files.h"
#include "assay/report/render.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "report/view.h"

namespace assay::report::test {

std::string golden_path(const std::string& name) {
  return std::string(ASSAY_SOURCE_DIR) + "/tests/golden/report-" + name;
}

std::string read_golden(const std::string& name) {
  auto text = read_file(golden_path(name));
  return text ? *text : std::string();
}

Json fixture(const std::string& name) {
  auto report = parse_json(read_golden(name + ".json"), golden_path(name + ".json"));
  if (!report) {
    ADD_FAILURE() << report.error().message();
    return Json();
  }
  return *report;
}

std::vector<std::string> sample_fixture(const std::string& name) {
  return lines_of(read_golden(name + ".samples.jsonl"));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(text.find('\n', i), text.size());
    lines.push_back(text.substr(i, end - i));
    i = end + 1;
  }
  return lines;
}

std::vector<Rendering> render_all(const Json& report, const std::vector<std::string>& samples) {
  std::vector<Rendering> out = {
      {"terminal 100", terminal(report, {.columns = 100})},
      {"terminal 40", terminal(report, {.unicode = false, .columns = 40, .verbose = true})},
      {"terminal 200",
       terminal(report, {.columns = 200, .time_unit = "second", .sort = "mean-time"})},
      {"markdown", markdown(report)},
      {"asciidoc", asciidoc(report)},
      {"orgmode", orgmode(report)},
      {"junit", junit(report)},
      {"github", github_annotations(report)},
      {"csv", csv(samples)},
      {"hyperfine", hyperfine_json(report, samples)}};
  for (const Json& case_value : array_at(report, {"cases"}))
    out.push_back({"sentence", verdict_sentence(report, case_value)});
  return out;
}

namespace {

std::string forbidden_word(const std::string& text) {
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const auto c = i < text.size() ? static_cast<unsigned char>(text[i]) : ' ';
    if (std::isalpha(c) != 0) {
      word += static_cast<char>(std::tolower(c));
      continue;
    }
    if (word == "nan" || word == "inf" || word == "infinity")
      return word;
    word.clear();
  }
  return "";
}

}  // namespace

std::string harm_in(const Rendering& rendering) {
  const bool rfc_csv = rendering.kind == "csv";
  for (const char c : rendering.text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool line_end = c == '\n' || (rfc_csv && (c == '\r' || c == '\t'));
    if ((byte < 0x20 && !line_end && !rfc_csv) || byte == 0x7f)
      return rendering.kind + ": control byte " + std::to_string(byte);
  }
  if (!is_valid_utf8(rendering.text))
    return rendering.kind + ": not UTF-8";
  const std::string word = forbidden_word(rendering.text);
  return word.empty() ? "" : rendering.kind + ": says " + word;
}

std::string xml_defect(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < xml.size(); ++i) {
    if (xml[i] == '&') {
      const std::string entity = xml.substr(i, xml.find(';', i) - i + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;" &&
          entity != "&apos;")
        return "stray & at " + std::to_string(i);
    }
    if (xml[i] != '<')
      continue;
    const std::size_t end = xml.find('>', i);
    if (end == std::string::npos)
      return "tag without end at " + std::to_string(i);
    const std::string tag = xml.substr(i + 1, end - i - 1);
    if (tag.find('<') != std::string::npos)
      return "< inside a tag at " + std::to_string(i);
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0)
      return "odd quotes in " + tag;
    i = end;
    if (tag[0] == '?')
      continue;
    if (tag[0] != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    } else {
      if (open.empty() || open.back() != tag.substr(1))
        return "unexpected </" + tag + ">";
      open.pop_back();
    }
  }
  return open.empty() ? "" : "unclosed " + open.back();
}

std::string too_wide_line(const std::string& text, std::size_t columns) {
  for (const std::string& line : lines_of(text))
    if (display_width(line) > columns)
      return line;
  return "";
}

std::string without_colour(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b')
      i = std::min(text.find('m', i), text.size() - 1);
    else
      out += text[i];
  }
  return out;
}

}  // namespace assay::report::test
