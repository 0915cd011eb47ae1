// Markdown, AsciiDoc and org tables. Names are attacker-controlled: in each dialect everything that
// could end a cell, open a link or mention somebody is written as text.
#include "rows.h"
#include "verdicts.h"
#include "view.h"

#include "assay/report/render.h"

#include <fmt/format.h>

#include <functional>

namespace assay::report {
namespace {

constexpr std::size_t kNameCells = 120;
using Escape = std::function<std::string(const std::string&)>;

std::string numeric_entity(char c) {
  return fmt::format("&#{};", static_cast<unsigned>(static_cast<unsigned char>(c)));
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A bracket only matters where a link could follow, an underscore only at the edge of a word, a
// colon only in a URL: our own figures stay readable in the raw text.
std::string markdown_text(const std::string& text) {
  const std::string safe = safe_text(text);
  std::string out;
  for (std::size_t i = 0; i < safe.size(); ++i) {
    const char c = safe[i];
    const char next = i + 1 < safe.size() ? safe[i + 1] : ' ';
    const bool in_word = i > 0 && is_word(safe[i - 1]) && is_word(next);
    const bool tag =
        c == '<' && (is_word(next) || std::string_view("/!?").find(next) != std::string_view::npos);
    if (tag || std::string_view(">&@#").find(c) != std::string_view::npos)
      out += numeric_entity(c);
    else if (std::string_view("\\`*|~$^").find(c) != std::string_view::npos ||
             (c == ']' && std::string_view("([:").find(next) != std::string_view::npos) ||
             (c == '_' && !in_word) || (c == ':' && next == '/'))
      out.append(1, '\\').append(1, c);
    else
      out += c;
  }
  return out;
}

std::string asciidoc_text(const std::string& text) {
  std::string out;
  for (const char c : safe_text(text))
    out += std::string_view("|*_`#^~+{}<>[]&\\\":'!").find(c) != std::string_view::npos
               ? numeric_entity(c)
               : std::string(1, c);
  return out;
}

std::string orgmode_text(const std::string& text) {
  std::string out;
  for (const char c : safe_text(text)) {
    switch (c) {
      case '|':
        out += "\\vert{}";
        break;
      case '[':
        out += "\\lbrack{}";
        break;
      case ']':
        out += "\\rbrack{}";
        break;
      case '\\':
        out += "\\backslash{}";
        break;
      case '<':
        out += "\\lt{}";
        break;
      case '>':
        out += "\\gt{}";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::vector<std::string> titles(const Json& report) {
  return {"case",
          "verdict",
          "ratio",
          interval_title(report),
          "gate",
          "pairs",
          "reference median",
          "candidate median",
          "flags"};
}

// Long names are cut, so more than one row gets a number that tells them apart.
std::string numbered(std::size_t index, std::size_t count, const std::string& name) {
  return count > 1 ? fmt::format("{} {}", index + 1, name) : name;
}

std::vector<std::string> cells_of(const CaseRow& row) {
  std::string flags;
  for (const std::string& flag : row.flags)
    flags += (flags.empty() ? "" : ", ") + flag;
  return {safe_text(row.name, kNameCells),
          row.verdict,
          row.ratio,
          row.interval,
          row.gate,
          row.pairs,
          row.reference,
          row.candidate,
          flags.empty() ? "-" : flags};
}

std::string line(const std::vector<std::string>& cells, const Escape& escape) {
  std::string out = "|";
  for (const std::string& cell : cells)
    out += fmt::format(" {} |", escape(cell));
  return out + "\n";
}

std::vector<std::string> case_notes(const Json& case_value) {
  std::vector<std::string> notes;
  for (const Kind kind : kKinds) {
    const Json& v = verdict_of(case_value, kind);
    std::string text = std::string(kind_title(kind)) + ": ";
    if (is_gated(v))
      text += verdict_word(case_value, v, kind) + ": ";
    text += claim(v, case_value, kind);
    if (kind != Kind::tail || is_gated(v))
      text += " (" + method_clause(v, kind) + ")";
    notes.push_back(std::move(text));
  }
  notes.push_back("wall time, second method: " + second_method_clause(case_value));
  return notes;
}

std::string overall_line(const Json& report) {
  const std::string found = conclusion(report);
  return "assay comparison: " + overall_status(report) + (found.empty() ? "" : "; ") + found +
         " - " + overall_clause(report);
}

struct Dialect {
  Escape escape;
  const char* bullet;
  const char* nested;
};

// Below the table: every verdict of every case, then what the report does not prove.
std::string note_list(const Json& report, const Dialect& dialect) {
  const std::vector<CaseRow> rows = case_rows(report, "");
  std::string out = fmt::format("{}{}\n", dialect.bullet, dialect.escape(figures_legend(rows)));
  out += fmt::format("{}{}\n", dialect.bullet,
                     dialect.escape("Commands: " + commands_line(rows, 0, false) + "."));
  const Json& cases = array_at(report, {"cases"});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string name = numbered(i, cases.size(), safe_text(case_name(cases[i]), kNameCells));
    out += fmt::format("{}{}\n", dialect.bullet, dialect.escape(name));
    for (const std::string& note : case_notes(cases[i]))
      out += fmt::format("{}{}\n", dialect.nested, dialect.escape(note));
  }
  const std::vector<std::string> limits = texts_at(report, {"limits"});
  out += std::string(dialect.bullet) + "What this does not prove\n";
  for (const std::string& code : limits) {
    const std::string sentence = reason_sentence(code);
    const std::string text = sentence.empty() ? code : fmt::format("{}: {}", code, sentence);
    out += fmt::format("{}{}\n", dialect.nested, dialect.escape(text));
  }
  if (limits.empty())
    out += std::string(dialect.nested) + "n/a (the report lists no limits)\n";
  return out;
}

std::vector<CaseRow> numbered_rows(const Json& report) {
  std::vector<CaseRow> rows = case_rows(report, "");
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i].name = numbered(i, rows.size(), rows[i].name);
  return rows;
}

}  // namespace

std::string markdown(const Json& report) {
  std::string out = markdown_text(overall_line(report)) + "\n\n";
  out += line(titles(report), markdown_text);
  out += "|:---|:---|---:|:---|:---|---:|---:|---:|:---|\n";
  for (const CaseRow& row : numbered_rows(report))
    out += line(cells_of(row), markdown_text);
  return out + "\n" + note_list(report, {markdown_text, "- ", "  - "});
}

std::string asciidoc(const Json& report) {
  std::string out = asciidoc_text(overall_line(report)) + "\n\n";
  out += "[cols=\"<,<,>,<,<,>,>,>,<\", options=\"header\"]\n|===\n";
  const auto row_line = [](const std::vector<std::string>& cells) {
    std::string cell_line;
    for (const std::string& cell : cells)
      cell_line += (cell_line.empty() ? "| " : " | ") + asciidoc_text(cell);
    return cell_line + "\n";
  };
  out += row_line(titles(report));
  for (const CaseRow& row : numbered_rows(report))
    out += row_line(cells_of(row));
  return out + "|===\n\n" + note_list(report, {asciidoc_text, "* ", "** "});
}

std::string orgmode(const Json& report) {
  std::string out = orgmode_text(overall_line(report)) + "\n\n";
  out += line(titles(report), orgmode_text);
  out += "|---+---+---+---+---+---+---+---+---|\n";
  for (const CaseRow& row : numbered_rows(report))
    out += line(cells_of(row), orgmode_text);
  return out + "\n" + note_list(report, {orgmode_text, "- ", "  - "});
}

}  // namespace assay::report
