#include "fields.h"

#include "assay/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::suite {
namespace {

constexpr std::size_t kShownPointer = 120;
constexpr char kNotText[] = "expected a text that is not blank";

bool is_text(const Json& value) {
  return value.is_string() && !is_blank(value.get_ref<const std::string&>());
}

}  // namespace

Error Fields::fault(const std::string& key, const std::string& what) const {
  return Error{ErrorCode::invalid_format,
               fmt::format("{}: {}", printable(reader_.pointer_to(key), kShownPointer), what),
               reader_.where()};
}

Error Fields::fault_at(const std::string& key, const std::string& member,
                       const std::string& what) const {
  const std::string at = reader_.pointer_to(key) + "/" + pointer_token(member);
  return Error{ErrorCode::invalid_format, fmt::format("{}: {}", printable(at, kShownPointer), what),
               reader_.where()};
}

Result<std::string> Fields::text(const std::string& key) {
  ASSAY_TRY(std::string value, reader_.text(key));
  if (is_blank(value))
    return tl::unexpected(error(key, "a text that is not blank"));
  return value;
}

Result<std::optional<std::string>> Fields::optional_text(const std::string& key) {
  if (reader_.optional(key) == nullptr)
    return std::nullopt;
  ASSAY_TRY(std::string value, text(key));
  return std::optional<std::string>(std::move(value));
}

Result<std::int64_t> Fields::integer_or(const std::string& key, std::int64_t min, std::int64_t max,
                                        std::int64_t fallback) {
  if (reader_.optional(key) == nullptr)
    return fallback;
  return reader_.integer(key, min, max);
}

Result<bool> Fields::boolean_or(const std::string& key, bool fallback) {
  if (reader_.optional(key) == nullptr)
    return fallback;
  return reader_.boolean(key);
}

Result<std::vector<std::string>> Fields::texts(const std::string& key) {
  std::vector<std::string> result;
  if (reader_.optional(key) == nullptr)
    return result;
  ASSAY_TRY(const Json* list, reader_.array(key));
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (!is_text(list->at(i)))
      return tl::unexpected(fault_at(key, std::to_string(i), kNotText));
    result.push_back(list->at(i).get<std::string>());
  }
  return result;
}

Result<std::vector<std::vector<std::string>>> Fields::text_lists(const std::string& key) {
  std::vector<std::vector<std::string>> result;
  if (reader_.optional(key) == nullptr)
    return result;
  ASSAY_TRY(const Json* lists, reader_.array(key));
  for (std::size_t i = 0; i < lists->size(); ++i) {
    if (!lists->at(i).is_array())
      return tl::unexpected(fault_at(key, std::to_string(i), "expected an array"));
    if (!std::all_of(lists->at(i).begin(), lists->at(i).end(), is_text))
      return tl::unexpected(fault_at(key, std::to_string(i), kNotText));
    result.push_back(lists->at(i).get<std::vector<std::string>>());
  }
  return result;
}

Result<std::map<std::string, std::string>> Fields::text_map(const std::string& key) {
  std::map<std::string, std::string> result;
  if (reader_.optional(key) == nullptr)
    return result;
  ASSAY_TRY(const Json* object, reader_.object(key));
  for (auto member = object->begin(); member != object->end(); ++member) {
    if (!member->is_string())
      return tl::unexpected(fault_at(key, member.key(), "expected a text"));
    result[member.key()] = member->get<std::string>();
  }
  return result;
}

Result<std::vector<std::pair<std::string, Fields>>> Fields::members(const std::string& key) {
  ASSAY_TRY(const Json* object, reader_.object(key));
  std::vector<std::pair<std::string, Fields>> result;
  for (auto member = object->begin(); member != object->end(); ++member) {
    if (!is_name(member.key()))
      return tl::unexpected(fault_at(
          key, member.key(), "a name is 1 to 64 of a-z, 0-9, _, -, + and starts with a letter"));
    result.emplace_back(member.key(),
                        Fields(*member, reader_.where(),
                               reader_.pointer_to(key) + "/" + pointer_token(member.key())));
  }
  return result;
}

Result<Fields> Fields::object(const std::string& key) {
  ASSAY_TRY(ObjectReader child, reader_.child(key));
  return Fields(std::move(child));
}

Result<std::optional<Fields>> Fields::optional_object(const std::string& key) {
  if (reader_.optional(key) == nullptr)
    return std::nullopt;
  ASSAY_TRY(Fields fields, object(key));
  return std::optional<Fields>(std::move(fields));
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

bool is_name(std::string_view text) {
  const auto is_inner = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '+';
  };
  return !text.empty() && text.size() <= 64 && text[0] >= 'a' && text[0] <= 'z' &&
         std::all_of(text.begin(), text.end(), is_inner);
}

bool is_plain_path(std::string_view text) {
  if (text.empty() || text.find('\0') != std::string_view::npos || text.back() == '/')
    return false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('/'), text.size());
    const std::string_view part = text.substr(0, end);
    if (part.empty() || part == "." || part == "..")
      return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

}  // namespace assay::suite
