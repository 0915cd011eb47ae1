// The text of --help: one line per flag, so that a command's flags fit a screen.
#include "cli.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace assay::cli {

namespace {

constexpr std::size_t kNameColumns = 30;
constexpr std::size_t kLineColumns = 100;

struct Row {
  std::string names;  // with the placeholder of the value
  std::string help;
};

std::string names_of(const CLI::Option& option) {
  std::string names;
  for (const auto& name : option.get_snames())
    names += (names.empty() ? "-" : ", -") + name;
  for (const auto& name : option.get_lnames())
    names += (names.empty() ? "--" : ", --") + name;
  return names;
}

// "CMD before every run" and "VAR MIN MAX: measure each step" begin with what the value is called:
// {placeholder, rest}, or an empty placeholder.
std::pair<std::string, std::string> split_placeholder(const std::string& help) {
  static constexpr std::array<std::string_view, 8> kValues = {"CMD",  "FILE", "NAME", "DIR",
                                                              "LIST", "VAR",  "PCT",  "=CODES"};
  constexpr std::size_t kLongest = 24;
  const auto blank = std::min(help.find(' '), help.size());
  std::string first = help.substr(0, blank);
  const bool ends = !first.empty() && first.back() == ':';
  if (ends)
    first.pop_back();
  const bool value = std::find(kValues.begin(), kValues.end(), first) != kValues.end();
  const bool choice =
      first.find('|') != std::string::npos && first.size() <= kLongest && blank < help.size();
  if (!value && !choice)
    return {"", help};
  const auto rest = [&](std::size_t from) {
    from = help.find_first_not_of(": ,", from);
    return from == std::string::npos ? std::string() : help.substr(from);
  };
  const auto colon = help.find(": ");
  if (value && colon != std::string::npos && colon <= 12)
    return {help.substr(0, colon), rest(colon)};
  return {first, rest(blank)};
}

Row row_of(const CLI::Option& option) {
  auto [placeholder, help] = split_placeholder(option.get_description());
  std::string names = names_of(option);
  if (placeholder.rfind('=', 0) == 0)
    return {names + "[" + placeholder + "]", help};
  if (placeholder.empty() && option.get_type_size() != 0) {
    placeholder = option.get_type_name();
    if (placeholder.find("TEXT") != std::string::npos)
      placeholder = "WORD";
  }
  return {names + (placeholder.empty() ? "" : " " + placeholder), help};
}

// Words filled into lines of kLineColumns after two blanks.
std::string filled(const std::vector<std::string>& words) {
  std::string text;
  std::size_t column = 0;
  for (const auto& word : words) {
    if (column == 0 || column + 1 + word.size() > kLineColumns) {
      text += (text.empty() ? "  " : "\n  ") + word;
      column = 2 + word.size();
    } else {
      text += " " + word;
      column += 1 + word.size();
    }
  }
  return text + "\n";
}

std::string line_of(const Row& row) {
  return fmt::format("  {:<{}} {}\n", row.names, kNameColumns, row.help);
}

// Neighbours with the same help text (the exports) share their lines.
std::string options_text(const std::vector<const CLI::Option*>& options) {
  std::string text;
  for (std::size_t i = 0; i < options.size();) {
    std::size_t end = i + 1;
    while (end < options.size() && options[end]->get_description() == options[i]->get_description())
      ++end;
    if (end - i == 1) {
      text += line_of(row_of(*options[i]));
    } else {
      std::vector<std::string> words;
      for (std::size_t k = i; k < end; ++k)
        words.push_back(names_of(*options[k]) + (k + 1 < end ? "," : ""));
      words.push_back(options[i]->get_description());
      text += filled(words);
    }
    i = end;
  }
  return text;
}

}  // namespace

std::string help_text(const CLI::App& app) {
  std::string usage = "Usage: " + app.get_name() + " [OPTIONS]";
  std::string positionals;
  const auto listed =
      app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
  std::vector<const CLI::Option*> flags;
  for (const CLI::Option* option : listed) {
    if (!option->get_positional()) {
      flags.push_back(option);
      continue;
    }
    const auto name = option->get_name(true, false);
    usage += " " + name + (option->get_expected_max() > 1 ? "..." : "");
    positionals += line_of({name, option->get_description()});
  }
  return app.get_description() + "\n" + usage + "\n" + positionals + "\nOptions:\n" +
         options_text(flags) + "\n" + app.get_footer() + "\n";
}

}  // namespace assay::cli
