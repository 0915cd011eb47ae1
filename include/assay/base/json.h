// Strict JSON in, canonical JSON out.
//
// Reader: UTF-8 only, no byte order mark, no duplicate keys, no NaN/Infinity, no -0, no trailing
// bytes, depth <= 64. Integers must fit int64, except the canonical spelling of a double from 2^63
// to 1e21 ("1" and twenty zeros), which reads as that double. Writer: keys sorted bytewise, no
// spaces, integers as integers, doubles in RFC 8785 shortest form, -0.0 written as 0.
// canonical(parse(x)) is a fixed point.
#pragma once

#include "assay/base/result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

using Json = nlohmann::json;  // std::map keys: sorted bytewise

// `where` names the source in errors (a path, or "path:line"). Errors carry byte offset and reason.
Result<Json> parse_json(std::string_view text, const std::string& where);
// Also refuses text that is not byte-equal to its canonical form.
Result<Json> parse_canonical_json(std::string_view text, const std::string& where);
// Canonical bytes, without a final LF. ASSAY_CHECKs that every double is finite, every string UTF-8
// and every integer int64.
std::string canonical_json(const Json& value);
// The same for values that hold foreign text: what has no canonical form (also more than 64 levels)
// is invalid_argument with the JSON pointer.
Result<std::string> try_canonical_json(const Json& value, const std::string& where);
// The shortest form that reads back to the same double, as RFC 8785 writes it ("1e-7", "1e+21").
std::string format_double(double value);

// A key as one token of a JSON pointer: "~" and "/" escaped.
std::string pointer_token(std::string_view key);

bool is_valid_utf8(std::string_view bytes);
// Invalid UTF-8 sequences become U+FFFD; other bytes unchanged.
std::string sanitize_utf8(std::string_view bytes);

// Typed access to one JSON object, with pointer-exact errors. Every getter marks its key as known;
// finish() refuses keys that nobody asked for.
class ObjectReader {
 public:
  // `pointer` is the JSON pointer of `object` ("" for the root).
  ObjectReader(const Json& object, std::string where, std::string pointer = "");

  Result<std::int64_t> integer(const std::string& key, std::int64_t min, std::int64_t max);
  Result<double> number(const std::string& key);
  Result<std::string> text(const std::string& key);
  Result<bool> boolean(const std::string& key);
  Result<const Json*> object(const std::string& key);
  // The same, as a reader that knows its place.
  Result<ObjectReader> child(const std::string& key);
  Result<const Json*> array(const std::string& key);
  // Any value, null included; fails only when the key is absent.
  Result<const Json*> any(const std::string& key);
  // nullptr when absent; marks the key as known.
  const Json* optional(const std::string& key);
  Result<void> finish() const;

  Error error(const std::string& key, const std::string& expected) const;
  const std::string& where() const { return where_; }
  std::string pointer_to(const std::string& key) const;

 private:
  Result<const Json*> get(const std::string& key);
  const Json& object_;
  std::string where_;
  std::string pointer_;
  std::set<std::string> known_;
};

}  // namespace assay
