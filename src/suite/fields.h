// Readers for the shapes that a manifest is made of, with pointer-exact errors.
#pragma once

#include "assay/base/json.h"
#include "assay/suite/manifest.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suite {

// An ObjectReader with getters for the shapes of a manifest.
class Fields {
 public:
  Fields(const Json& object, std::string where, std::string pointer)
      : Fields(ObjectReader(object, std::move(where), std::move(pointer))) {}
  explicit Fields(ObjectReader reader) : reader_(std::move(reader)) {}

  ObjectReader& reader() { return reader_; }
  Error error(const std::string& key, const std::string& expected) const {
    return reader_.error(key, expected);
  }
  // An error about the value at `key`, or at `member` of it, in words of its own.
  Error fault(const std::string& key, const std::string& what) const;
  Error fault_at(const std::string& key, const std::string& member, const std::string& what) const;

  Result<std::string> text(const std::string& key);  // not blank
  Result<std::optional<std::string>> optional_text(const std::string& key);
  Result<std::int64_t> integer_or(const std::string& key, std::int64_t min, std::int64_t max,
                                  std::int64_t fallback);
  Result<bool> boolean_or(const std::string& key, bool fallback);
  // A list of texts, empty when the key is absent; no text in it is blank.
  Result<std::vector<std::string>> texts(const std::string& key);
  // A list of such lists.
  Result<std::vector<std::vector<std::string>>> text_lists(const std::string& key);
  // name -> text; empty when the key is absent.
  Result<std::map<std::string, std::string>> text_map(const std::string& key);
  // The members of an object as Fields of their own, after a check of their names.
  Result<std::vector<std::pair<std::string, Fields>>> members(const std::string& key);
  // A nested object; nothing when it is absent.
  Result<std::optional<Fields>> optional_object(const std::string& key);
  Result<Fields> object(const std::string& key);
  Result<void> finish() const { return reader_.finish(); }

 private:
  ObjectReader reader_;
};

bool is_name(std::string_view text);
// A relative path without "." or ".." or empty parts.
bool is_plain_path(std::string_view text);
bool is_blank(std::string_view text);

}  // namespace assay::suite
