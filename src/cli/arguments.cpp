#include "cli.h"

#include "assay/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace assay::cli {

namespace {

constexpr double kMaxDurationSeconds = 30.0 * 24 * 3600;

// Every spelling of an option that the app knows, dashes included.
std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : option->get_snames())
      flags.push_back("-" + name);
    for (const auto& name : option->get_lnames())
      flags.push_back("--" + name);
  }
  return flags;
}

// What CLI11 says about words that it could not place, and the flag that was probably meant.
std::string unexpected_words(const CLI::App& app) {
  const auto words = app.remaining();
  const auto flag = std::find_if(words.begin(), words.end(),
                                 [](const auto& word) { return word.rfind('-', 0) == 0; });
  if (flag == words.end())
    return words.empty() ? "too many words"
                         : fmt::format(
                               "'{}' is one word too many; quote a command with its "
                               "arguments as one word",
                               words.front());
  const auto name = flag->substr(0, flag->find('='));
  if (name == "--version" || name == "-V")
    return fmt::format(
        "there is no flag {} here; the version is that of the whole tool: assay "
        "--version",
        name);
  const auto near = nearest(name, flags_of(app));
  return near.empty() ? fmt::format("there is no flag {}", name)
                      : fmt::format("there is no flag {}; did you mean {}?", name, near);
}

// A flag that was given an empty value. Taken for "not given", an unset variable of a script would
// drop a check without a word.
std::string empty_flag(const CLI::App& app, const std::vector<std::string>& may_be_empty) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option->count() == 0)
      continue;
    if (std::find(may_be_empty.begin(), may_be_empty.end(), option->get_name()) !=
        may_be_empty.end())
      continue;
    const auto& values = option->results();
    if (std::find(values.begin(), values.end(), "") != values.end())
      return option->get_name();
  }
  return "";
}

// "--flag=" with nothing behind it: CLI11 would take the next word for its value, a command
// perhaps, and then an export would overwrite it. Words after "--" are no flags.
std::vector<std::string> with_empty_values(const CLI::App& app,
                                           const std::vector<std::string>& args,
                                           const std::vector<std::string>& may_be_empty) {
  std::vector<std::string> out;
  for (auto word = args.begin(); word != args.end(); ++word) {
    if (*word == "--") {
      out.insert(out.end(), word, args.end());
      break;
    }
    const bool empty = word->size() > 3 && word->rfind("--", 0) == 0 && word->back() == '=';
    const std::string flag = empty ? word->substr(0, word->size() - 1) : "";
    const CLI::Option* option = empty ? app.get_option_no_throw(flag) : nullptr;
    if (option == nullptr) {
      out.push_back(*word);
      continue;
    }
    if (std::find(may_be_empty.begin(), may_be_empty.end(), option->get_name()) ==
        may_be_empty.end())
      throw CLI::ValidationError(flag, "the value is empty; give one, or leave the flag out");
    out.insert(out.end(), {flag, ""});
  }
  return out;
}

// The flag that takes one value and was given several: an alias counts as the same flag.
std::string repeated_flag(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option->get_items_expected_max() != 1 || option->count() < 2)
      continue;
    std::vector<std::string> values = option->results();
    const std::string last = values.back();
    values.pop_back();
    return fmt::format(
        "{}: given {} times ({} and {}); it takes one value, so leave the others out",
        option->get_name(), option->count(), fmt::join(values, ", "), last);
  }
  return "";
}

int usage_error(const CLI::App& app, const std::string& what) {
  write_stderr(fmt::format("{}: {}\nTry: {} --help\n", app.get_name(), printable(what, 500),
                           app.get_name()));
  return kExitInvalid;
}

std::string long_name(const std::string& flags) {
  const auto dashes = flags.find("--");
  const auto start = dashes == std::string::npos ? 0 : dashes;
  return flags.substr(start, flags.find(',', start) - start);
}

template <typename T, typename Parse>
CLI::Option* add_strict(CLI::App& app, const std::string& flags, std::optional<T>& into,
                        Parse parse, const char* type) {
  const std::string name = long_name(flags);
  auto* option =
      app.add_option_function<std::string>(flags, [&into, parse, name](const std::string& text) {
        const auto value = parse(text, name);
        if (!value)
          throw CLI::ValidationError(name, value.error().what);
        into = static_cast<T>(*value);
      });
  return option->type_name(type);
}

// The number in front of `unit`-like letters: "1.5s" -> {"1.5", "s"}.
std::pair<std::string_view, std::string_view> split_unit(std::string_view text) {
  const auto end = text.find_first_not_of("0123456789.eE+-");
  if (end == std::string_view::npos)
    return {text, {}};
  return {text.substr(0, end), text.substr(end)};
}

std::string_view without_percent(std::string_view text) {
  if (!text.empty() && text.back() == '%')
    text.remove_suffix(1);
  return text;
}

tl::unexpected<Error> bad_value(std::string_view text, const std::string& expected,
                                const std::string& name) {
  return fail(ErrorCode::invalid_argument,
              fmt::format("expected {}, got '{}'", expected, printable(text, 60)), name);
}

}  // namespace

void describe(CLI::App& app, const std::string& command, const std::string& summary,
              const std::vector<std::string>& examples) {
  app.name("assay " + command);
  app.description(summary);
  std::string footer = "Examples:";
  for (const auto& example : examples)
    footer += "\n  " + example;
  app.footer(footer);
  app.set_help_flag("-h,--help", "this text");
}

std::optional<int> parse_arguments(CLI::App& app, const std::vector<std::string>& args,
                                   const std::vector<std::string>& may_be_empty) {
  try {
    std::vector<std::string> words = with_empty_values(app, args, may_be_empty);
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    app.parse(std::move(words));
    if (const std::string flag = empty_flag(app, may_be_empty); !flag.empty())
      return usage_error(app, flag + ": the value is empty; give one, or leave the flag out");
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    if (const auto written = write_stdout(help_text(app)); !written)
      return report_error(written.error());
    return kExitDone;
  } catch (const CLI::ExtrasError&) {
    return usage_error(app, unexpected_words(app));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string repeated = repeated_flag(app);
    return usage_error(app, repeated.empty() ? error.what() : repeated);
  } catch (const CLI::Error& error) {
    return usage_error(app, error.what());
  } catch (const std::exception& error) {
    return usage_error(app, std::string("the arguments cannot be read: ") + error.what());
  }
}

CLI::Option* add_integer(CLI::App& app, const std::string& flags, std::optional<std::int64_t>& into,
                         std::int64_t min, std::int64_t max, const std::string& help) {
  const auto parse = [min, max](const std::string& text, const std::string& name) {
    return parse_integer(text, min, max, name);
  };
  return add_strict(app, flags, into, parse, "N")->description(help);
}

CLI::Option* add_integer(CLI::App& app, const std::string& flags, std::optional<int>& into, int min,
                         int max, const std::string& help) {
  const auto parse = [min, max](const std::string& text, const std::string& name) {
    return parse_integer(text, min, max, name);
  };
  return add_strict(app, flags, into, parse, "N")->description(help);
}

CLI::Option* add_number(CLI::App& app, const std::string& flags, std::optional<double>& into,
                        double min, double max, const std::string& help) {
  const auto parse = [min, max](const std::string& text, const std::string& name) {
    return parse_number(text, min, max, name);
  };
  return add_strict(app, flags, into, parse, "X")->description(help);
}

CLI::Option* add_percent(CLI::App& app, const std::string& flags, std::optional<double>& into,
                         double min, double max, const std::string& help) {
  const auto parse = [min, max](const std::string& text, const std::string& name) {
    return parse_number(without_percent(text), min, max, name);
  };
  return add_strict(app, flags, into, parse, "PCT")->description(help);
}

CLI::Option* add_share(CLI::App& app, const std::string& flags, std::optional<double>& into,
                       double min, double max, const std::string& help) {
  const auto parse = [min, max](const std::string& text, const std::string& name) {
    const std::string_view digits = without_percent(text);
    if (digits.size() == text.size())
      return parse_number(text, min, max, name);
    return parse_number(digits, min * 100, max * 100, name).map([](double x) { return x / 100; });
  };
  return add_strict(app, flags, into, parse, "X")->description(help);
}

CLI::Option* add_percent_cap(CLI::App& app, const std::string& flags, std::optional<double>& into,
                             const std::string& help) {
  const auto parse = [](const std::string& text, const std::string& name) {
    return parse_percent(text, name).map([](double percent) { return 1 + percent / 100; });
  };
  return add_strict(app, flags, into, parse, "PCT")->description(help);
}

CLI::Option* add_duration(CLI::App& app, const std::string& flags,
                          std::optional<std::int64_t>& into, const std::string& help) {
  const auto parse = [](const std::string& text, const std::string& name) {
    return parse_duration(text, name).map([](Nanoseconds time) { return time.value; });
  };
  return add_strict(app, flags, into, parse, "TIME")->description(help);
}

CLI::Option* add_limit(CLI::App& app, const std::string& flags, std::optional<std::int64_t>& into,
                       const std::string& help) {
  const auto parse = [](const std::string& text, const std::string& name) -> Result<std::int64_t> {
    if (text == "0")
      return 0;
    const auto time = parse_duration(text, name);
    if (!time)
      return bad_value(
          text, "a time such as 30, 1.5s, 500ms or 2m, at most 30 days, or 0 for no limit", name);
    return time->value;
  };
  return add_strict(app, flags, into, parse, "TIME")->description(help);
}

Result<Nanoseconds> parse_duration(std::string_view text, const std::string& name) {
  const std::string expected = "a time above 0 such as 30, 1.5s, 500ms or 2m, at most 30 days";
  const auto [digits, unit] = split_unit(text);
  double scale = 1;
  if (unit == "ms")
    scale = 1e-3;
  else if (unit == "m")
    scale = 60;
  else if (!unit.empty() && unit != "s")
    return bad_value(text, expected, name);
  const auto number = parse_number(digits, 0, kMaxDurationSeconds * 1000, name);
  if (!number || *number * scale > kMaxDurationSeconds)
    return bad_value(text, expected, name);
  const auto time = static_cast<std::int64_t>(std::llround(*number * scale * 1e9));
  if (time < 1)
    return bad_value(text, expected, name);
  return Nanoseconds(time);
}

Result<double> parse_percent(std::string_view text, const std::string& name) {
  const auto number = parse_number(without_percent(text), 0, 10000, name);
  if (!number)
    return bad_value(text, "a percentage from 0 to 10000 such as 5 or 2.5%", name);
  return *number;
}

Result<std::vector<int>> parse_cpu_list(std::string_view text, const std::string& name) {
  constexpr std::int64_t kMaxCpu = 4095;
  const std::string expected = "a list of CPU numbers such as 2 or 0,2-3";
  std::vector<int> cpus;
  for (std::size_t start = 0; start <= text.size();) {
    const auto end = std::min(text.find(',', start), text.size());
    const auto part = text.substr(start, end - start);
    const auto dash = part.find('-');
    const auto first = parse_integer(part.substr(0, dash), 0, kMaxCpu, name);
    const auto last = dash == std::string_view::npos
                          ? first
                          : parse_integer(part.substr(dash + 1), 0, kMaxCpu, name);
    if (!first || !last || *last < *first)
      return bad_value(text, expected, name);
    for (auto cpu = *first; cpu <= *last; ++cpu)
      cpus.push_back(static_cast<int>(cpu));
    start = end + 1;
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  // Levenshtein's distance, one row at a time; a third of the word may be wrong.
  const auto distance = [&](const std::string& other) {
    std::vector<std::size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= other.size(); ++j) {
        const auto changed = diagonal + (word[i - 1] == other[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
      }
    }
    return row.back();
  };
  if (word.size() > 64)
    return "";
  std::string best;
  std::size_t smallest = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const auto& candidate : known)
    if (const auto d = distance(candidate); d < smallest) {
      smallest = d;
      best = candidate;
    }
  return best;
}

}  // namespace assay::cli
