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

std::string markdown_text(const std::string& text) {
  std::string out;
  for (const char c : safe_text(text)) {
    if (std::string_view("<>&@#").find(c) != std::string_view::npos)
      out += numeric_entity(c);
    else if (std::string_view("\\`*_[]|~$!:^").find(c) != std::string_view::npos)
      out += std::string("\\") + c;
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

struct Note {
  std::string name, text;  // name is "" for a note about the whole campaign
};

std::vector<Note> notes_of(const Json& report) {
  std::vector<Note> notes;
  for (const Json& case_value : array_at(report, {"cases"})) {
    const std::string name = safe_text(case_name(case_value), kNameCells);
    for (const Kind kind : kKinds) {
      const Json& v = verdict_of(case_value, kind);
      std::string text = std::string(kind_title(kind)) + ": ";
      if (is_gated(v))
        text += verdict_word(case_value, v, kind) + ": ";
      text += claim(v, case_value, kind);
      if (kind != Kind::tail || is_gated(v))
        text += " (" + method_clause(v, kind) + ")";
      notes.push_back({name, text});
    }
    notes.push_back({name, "second method: " + second_method_clause(case_value)});
  }
  for (const std::string& code : texts_at(report, {"limits"})) {
    const std::string sentence = reason_sentence(code);
    notes.push_back({"", "not proved: " + code + (sentence.empty() ? "" : ": " + sentence)});
  }
  return notes;
}

std::string overall_line(const Json& report) {
  return "assay comparison: " + overall_status(report) + " - " + overall_clause(report);
}

std::string note_list(const Json& report, const std::string& bullet, const Escape& escape) {
  std::string out;
  for (const Note& note : notes_of(report))
    out += bullet + escape(note.name.empty() ? note.text : note.name + ", " + note.text) + "\n";
  return out;
}

}  // namespace

std::string markdown(const Json& report) {
  std::string out = markdown_text(overall_line(report)) + "\n\n";
  out += line(titles(report), markdown_text);
  out += "|:---|:---|---:|:---|:---|---:|---:|---:|:---|\n";
  for (const CaseRow& row : case_rows(report, ""))
    out += line(cells_of(row), markdown_text);
  return out + "\n" + note_list(report, "- ", markdown_text);
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
  for (const CaseRow& row : case_rows(report, ""))
    out += row_line(cells_of(row));
  return out + "|===\n\n" + note_list(report, "* ", asciidoc_text);
}

std::string orgmode(const Json& report) {
  std::string out = orgmode_text(overall_line(report)) + "\n\n";
  out += line(titles(report), orgmode_text);
  out += "|---+---+---+---+---+---+---+---+---|\n";
  for (const CaseRow& row : case_rows(report, ""))
    out += line(cells_of(row), orgmode_text);
  return out + "\n" + note_list(report, "- ", orgmode_text);
}

}  // namespace assay::report
