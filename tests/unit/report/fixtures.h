// Report fixtures of tests/golden and the checks that every rendering must pass.
#pragma once

#include "assay/base/json.h"

#include <string>
#include <vector>

namespace assay::report::test {

inline const std::vector<std::string> kFixtures = {
    "no-gate",     "no-difference", "pass", "pass-typical", "fail", "inconclusive",
    "interrupted", "failed",        "many", "hostile",      "nulls"};

std::string golden_path(const std::string& name);
std::string read_golden(const std::string& name);
Json fixture(const std::string& name);
std::vector<std::string> sample_fixture(const std::string& name);

struct Rendering {
  std::string kind;
  std::string text;
};
// Every renderer over one report; the terminal in several styles.
std::vector<Rendering> render_all(const Json& report, const std::vector<std::string>& samples);

// "" when the text has no control byte (LF, and CR LF in CSV, apart), is UTF-8 and never says nan
// or inf; else what is wrong.
std::string harm_in(const Rendering& rendering);
// "" when tags balance and every & starts a known entity.
std::string xml_defect(const std::string& xml);
// Lines wider than `columns`, the first of them.
std::string too_wide_line(const std::string& text, std::size_t columns);
std::vector<std::string> lines_of(const std::string& text);
std::string without_colour(const std::string& text);

}  // namespace assay::report::test
