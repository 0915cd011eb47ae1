// The paragraphs below the table: one block per case.
#pragma once

#include "table.h"

#include "assay/base/json.h"

#include <string>

namespace assay::report {

// Where and how paragraphs are written.
struct Sheet {
  std::size_t width = 100;
  bool color = false;
  bool unicode = true;
  bool verbose = false;
  bool archived = true;
  std::string time_unit;

  // After an empty line.
  std::string heading(const std::string& text, Colour colour = Colour::bold) const;
  // "  label      text", continuation lines under the text.
  std::string paragraph(const std::string& label, const std::string& text,
                        const std::string& status = "") const;
  // "  - text"
  std::string item(const std::string& text) const;
  // A reason code with its sentence and the figures behind it; an unknown code stands for itself.
  std::string code(const std::string& reason, const std::string& seen) const;
};

std::string case_block(const Json& case_value, const std::string& number, const Sheet& sheet);

}  // namespace assay::report
