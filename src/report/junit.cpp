// JUnit XML: each gate of each case is a test case.
#include "rows.h"
#include "verdicts.h"
#include "view.h"

#include "assay/report/render.h"

#include <fmt/format.h>

namespace assay::report {
namespace {

// safe_text first: XML 1.0 has no way to write most control characters.
std::string xml_text(const std::string& text) {
  std::string out;
  for (const char c : safe_text(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&apos;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

struct Suite {
  std::string cases;
  int tests = 0, failures = 0, errors = 0;
};

struct TestCase {
  std::string classname, name;
  std::string element;  // "", "failure" or "error"
  std::string type, message;
  std::string output;
};

void add(Suite& suite, const TestCase& test) {
  ++suite.tests;
  suite.failures += test.element == "failure";
  suite.errors += test.element == "error";
  suite.cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\">\n",
                             xml_text(test.classname), xml_text(test.name));
  if (!test.element.empty())
    suite.cases += fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{2}</{0}>\n", test.element,
                               xml_text(test.type), xml_text(test.message));
  if (!test.output.empty())
    suite.cases += fmt::format("      <system-out>{}</system-out>\n", xml_text(test.output));
  suite.cases += "    </testcase>\n";
}

// FAIL and INCONCLUSIVE are failures: absent evidence never helps. What could not be judged at all
// is an error.
void set_outcome(TestCase& test, const std::string& status, const std::string& message) {
  if (status == "PASS")
    return;
  test.element = status == "FAIL" || status == "INCONCLUSIVE" ? "failure" : "error";
  test.type = status == "FAIL"           ? "fail"
              : status == "INCONCLUSIVE" ? "inconclusive"
              : status == "INCOMPLETE"   ? "incomplete"
                                         : "no_status";
  test.message = message;
}

void add_case(Suite& suite, const Json& report, const Json& case_value) {
  const std::string classname = "assay." + case_name(case_value);
  bool any_gate = false;
  for (const Kind kind : kKinds) {
    const Json& v = verdict_of(case_value, kind);
    if (!is_gated(v))
      continue;
    any_gate = true;
    TestCase test{classname, kind == Kind::tail
                                 ? gate_text(v, kind)
                                 : fmt::format("{} {}", kind_title(kind), gate_text(v, kind))};
    const std::string text = verdict_word(case_value, v, kind) + ": " + claim(v, case_value, kind);
    set_outcome(test, status_of(v), text);
    test.output = text + " (" + method_clause(v, kind) + ")";
    add(suite, test);
  }
  if (any_gate)
    return;
  TestCase test{classname, "measured, no gate"};
  if (is_unfinished(report))
    set_outcome(test, "INCOMPLETE", overall_clause(report));
  for (const Kind kind : kKinds)
    test.output += fmt::format("{}{}: {}", test.output.empty() ? "" : "; ", kind_title(kind),
                               claim(verdict_of(case_value, kind), case_value, kind));
  add(suite, test);
}

}  // namespace

std::string junit(const Json& report) {
  Suite suite;
  for (const Json& case_value : array_at(report, {"cases"}))
    add_case(suite, report, case_value);
  // A campaign that did not finish, or that has no case, is never all green.
  if (is_unfinished(report) || array_at(report, {"cases"}).empty()) {
    TestCase test{"assay", "campaign"};
    set_outcome(test, "INCOMPLETE", overall_status(report) + ": " + overall_clause(report));
    add(suite, test);
  }
  const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\"",
                                         suite.tests, suite.failures, suite.errors);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite "
      "name=\"assay comparison\" {0}>\n{1}  </testsuite>\n</testsuites>\n",
      counts, suite.cases);
}

}  // namespace assay::report
