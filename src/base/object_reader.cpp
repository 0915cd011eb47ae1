#include "assay/base/json.h"
#include "assay/base/text.h"

#include <fmt/format.h>

namespace assay {
namespace {

std::string describe(const Json& value) {
  if (value.is_object() || value.is_array())
    return fmt::format("an {}", value.type_name());
  return printable(canonical_json(value), 60);
}

}  // namespace

std::string pointer_token(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out.push_back(c);
  }
  return out;
}

ObjectReader::ObjectReader(const Json& object, std::string where, std::string pointer)
    : object_(object), where_(std::move(where)), pointer_(std::move(pointer)) {}

std::string ObjectReader::pointer_to(const std::string& key) const {
  return pointer_ + "/" + pointer_token(key);
}

Error ObjectReader::error(const std::string& key, const std::string& expected) const {
  const std::string at = key.empty() ? pointer_ : pointer_to(key);
  const std::string shown = at.empty() ? "the document" : printable(at, 120);
  if (!object_.is_object())
    return Error{ErrorCode::invalid_format,
                 fmt::format("{}: expected an object, got {}",
                             pointer_.empty() ? "the document" : printable(pointer_, 120),
                             describe(object_)),
                 where_};
  const auto found = object_.find(key);
  const std::string got = found == object_.end() ? "nothing" : describe(*found);
  return Error{ErrorCode::invalid_format,
               fmt::format("{}: expected {}, got {}", shown, expected, got), where_};
}

Result<const Json*> ObjectReader::get(const std::string& key) {
  known_.insert(key);
  if (!object_.is_object())
    return tl::unexpected<Error>(error(key, "a value"));
  const auto found = object_.find(key);
  if (found == object_.end())
    return tl::unexpected<Error>(error(key, "a value"));
  return &*found;
}

Result<std::int64_t> ObjectReader::integer(const std::string& key, std::int64_t min,
                                           std::int64_t max) {
  ASSAY_TRY(const Json* value, get(key));
  const bool fits = value->is_number_integer() &&
                    (!value->is_number_unsigned() ||
                     value->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX)) &&
                    value->get<std::int64_t>() >= min && value->get<std::int64_t>() <= max;
  if (!fits)
    return tl::unexpected<Error>(error(key, fmt::format("an integer from {} to {}", min, max)));
  return value->get<std::int64_t>();
}

Result<double> ObjectReader::number(const std::string& key) {
  ASSAY_TRY(const Json* value, get(key));
  if (!value->is_number())
    return tl::unexpected<Error>(error(key, "a number"));
  return value->get<double>();
}

Result<std::string> ObjectReader::text(const std::string& key) {
  ASSAY_TRY(const Json* value, get(key));
  if (!value->is_string())
    return tl::unexpected<Error>(error(key, "a string"));
  return value->get<std::string>();
}

Result<bool> ObjectReader::boolean(const std::string& key) {
  ASSAY_TRY(const Json* value, get(key));
  if (!value->is_boolean())
    return tl::unexpected<Error>(error(key, "true or false"));
  return value->get<bool>();
}

Result<const Json*> ObjectReader::object(const std::string& key) {
  ASSAY_TRY(const Json* value, get(key));
  if (!value->is_object())
    return tl::unexpected<Error>(error(key, "an object"));
  return value;
}

Result<ObjectReader> ObjectReader::child(const std::string& key) {
  ASSAY_TRY(const Json* value, object(key));
  return ObjectReader(*value, where_, pointer_to(key));
}

Result<const Json*> ObjectReader::array(const std::string& key) {
  ASSAY_TRY(const Json* value, get(key));
  if (!value->is_array())
    return tl::unexpected<Error>(error(key, "an array"));
  return value;
}

Result<const Json*> ObjectReader::any(const std::string& key) {
  return get(key);
}

const Json* ObjectReader::optional(const std::string& key) {
  known_.insert(key);
  if (!object_.is_object())
    return nullptr;
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

Result<void> ObjectReader::finish() const {
  if (!object_.is_object())
    return tl::unexpected<Error>(error("", "an object"));
  for (auto member = object_.begin(); member != object_.end(); ++member) {
    if (known_.count(member.key()) == 0)
      return tl::unexpected<Error>(error(member.key(), "no such key"));
  }
  return {};
}

}  // namespace assay
