#include "calibration_store.h"

#include "calibration_check.h"

#include "assay/base/files.h"
#include "assay/base/ids.h"
#include "assay/base/sha256.h"
#include "assay/base/text.h"
#include "assay/host/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <time.h>

namespace assay::compare {
namespace {

constexpr const char* kSchema = "assay.calibration";
constexpr int kMajor = 1;
constexpr int kMinor = 0;
// A record has 3 KiB. More files than this are years of daily calibrations: the oldest names can't
// matter.
constexpr std::int64_t kMaxRecordBytes = INT64_C(1) << 20;
constexpr std::size_t kMaxRecords = 1000;
constexpr std::int64_t kSecondsPerDay = 86'400;

struct Record {
  std::string path;
  Json json;
  std::int64_t seconds = 0;  // since 1970
};

// YYYY-MM-DDThh:mm:ss.nnnnnnnnnZ as utc_now() writes it, in whole seconds.
std::optional<std::int64_t> seconds_of(const std::string& utc) {
  constexpr std::size_t kLength = 30;
  tm parts{};
  const char* rest = ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (utc.size() != kLength || rest == nullptr || *rest != '.' || utc.back() != 'Z')
    return std::nullopt;
  return ::timegm(&parts);
}

std::optional<std::string> absolute(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || value[0] != '/')
    return std::nullopt;
  return value;
}

Result<Record> read_record(const std::string& path) {
  ASSAY_TRY(const std::string bytes, read_file(path, kMaxRecordBytes));
  if (bytes.empty() || bytes.back() != '\n')
    return fail(ErrorCode::invalid_format, "does not end in a line feed", path);
  Record record;
  record.path = path;
  ASSAY_TRY(record.json,
            parse_canonical_json(std::string_view(bytes).substr(0, bytes.size() - 1), path));
  ObjectReader top(record.json, path);
  ASSAY_TRY(ObjectReader fields, top.child("schema"));
  ASSAY_TRY(const std::string name, fields.text("name"));
  ASSAY_TRY(const std::int64_t major, fields.integer("major", 0, INT64_MAX));
  ASSAY_TRY(const std::int64_t minor, fields.integer("minor", 0, INT64_MAX));
  if (name != kSchema || major != kMajor || minor != kMinor)
    return fail(ErrorCode::unsupported,
                fmt::format("schema {} version {}.{} is not {} version {}.{}", printable(name, 60),
                            major, minor, kSchema, kMajor, kMinor),
                path);
  ASSAY_TRY([[maybe_unused]] const std::string id, top.text("archive_id"));
  ASSAY_TRY([[maybe_unused]] const Json* host, top.object("host"));
  ASSAY_TRY_VOID(check_calibration(top));
  ASSAY_TRY(const std::string created, top.text("created_utc"));
  const auto seconds = seconds_of(created);
  if (!seconds)
    return tl::unexpected<Error>(top.error("created_utc", "a UTC time"));
  record.seconds = *seconds;
  return record;
}

// Paths of record files, the newest name first. Temporary names begin with a dot.
std::vector<std::string> record_files(const std::string& directory, std::error_code& error) {
  std::vector<std::string> files;
  std::filesystem::directory_iterator at(directory, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.front() != '.' && at->path().extension() == ".json")
      files.push_back(at->path().string());
  }
  std::sort(files.rbegin(), files.rend());
  if (files.size() > kMaxRecords)
    files.resize(kMaxRecords);
  return files;
}

// "kernel_release was "6.1.0", is "6.1.1""; "" when the record is of this host as it is.
std::string difference(const Json& record, const Json& host) {
  const Json now = host::fingerprint(host, record.at("archive_id").get<std::string>());
  const Json& then = record.at("host");
  std::string text;
  for (const auto& [key, value] : now.items()) {
    const Json before = then.value(key, Json(nullptr));
    if (before == value)
      continue;
    text += text.empty() ? "" : ", ";
    text += key == "machine" ? "another machine"
                             : fmt::format("{} was {}, is {}", key, canonical_json(before),
                                           canonical_json(value));
  }
  return text;
}

void set_absent(CalibrationChoice& choice, const char* code, std::string detail) {
  choice.absent = code;
  choice.detail = std::move(detail);
}

// One note for all of them: a directory of hundreds is one fault.
std::string damage_text(const std::vector<std::string>& damaged, const std::string& directory) {
  const bool one = damaged.size() == 1;
  return fmt::format("{} damaged calibration record{} in {} ignored ({}{})", damaged.size(),
                     one ? "" : "s", directory, one ? "" : "the first: ", damaged.front());
}

std::vector<Record> read_all(const std::string& directory, std::int64_t now,
                             CalibrationChoice& choice) {
  std::vector<Record> records;
  std::vector<std::string> damaged;
  std::error_code error;
  for (const std::string& path : record_files(directory, error)) {
    auto record = read_record(path);
    if (!record) {
      damaged.push_back(record.error().message());
      continue;
    }
    // A clock that was set back: the age is unknown, and may be any.
    if (record->seconds > now + kSecondsPerDay) {
      damaged.push_back(path + ": is dated in the future");
      continue;
    }
    records.push_back(std::move(*record));
  }
  if (!damaged.empty())
    choice.warnings.push_back(damage_text(damaged, directory));
  if (error && error != std::errc::no_such_file_or_directory)
    choice.warnings.push_back(
        fmt::format("calibration records cannot be read: {}: {}", directory, error.message()));
  std::stable_sort(records.begin(), records.end(),
                   [](const Record& a, const Record& b) { return a.seconds > b.seconds; });
  return records;
}

}  // namespace

std::optional<std::string> calibration_directory() {
  if (const auto state = absolute("XDG_STATE_HOME"))
    return *state + "/assay/calibration";
  if (const auto home = absolute("HOME"))
    return *home + "/.local/state/assay/calibration";
  return std::nullopt;
}

Json calibration_record(const Json& report, const Json& host) {
  Json record = report;
  record["schema"] = {{"name", kSchema}, {"major", kMajor}, {"minor", kMinor}};
  record["host"] = host::fingerprint(host, report.at("archive_id").get<std::string>());
  return record;
}

Result<std::string> keep_calibration(const std::optional<std::string>& directory,
                                     const Json& record) {
  if (!directory)
    return fail(ErrorCode::invalid_argument,
                "there is no place for it: set HOME or XDG_STATE_HOME to an absolute path");
  ASSAY_TRY(const std::string bytes, try_canonical_json(record, "calibration record"));
  ASSAY_TRY_VOID(make_directories(*directory));
  const std::string path = fmt::format("{}/{}-{}.json", *directory,
                                       utc_basic(record.at("created_utc").get<std::string>()),
                                       record.at("archive_id").get<std::string>().substr(0, 8));
  ASSAY_TRY_VOID(write_new_file(path, bytes + "\n"));
  return path;
}

Json CalibrationChoice::fact() const {
  if (!record)
    return host::not_available(absent);
  return host::observed({{"archive_id", record->at("archive_id")},
                         {"sha256", sha256_hex(canonical_json(*record) + "\n")}});
}

CalibrationChoice choose_calibration(const std::optional<std::string>& directory, const Json& host,
                                     const std::string& now_utc) {
  CalibrationChoice choice;
  choice.absent = "no_record";
  const auto now = seconds_of(now_utc);
  ASSAY_CHECK(now, "now is a time that utc_now() wrote");
  if (!directory)
    return choice;
  std::vector<Record> records = read_all(*directory, *now, choice);
  if (!choice.warnings.empty())
    choice.absent = "calibration_unreadable";
  std::string foreign;
  for (Record& record : records) {
    const std::string changed = difference(record.json, host);
    if (!changed.empty()) {
      if (foreign.empty())
        foreign = fmt::format("{}: was made on another host, or before this one changed: {}",
                              record.path, changed);
      continue;
    }
    const std::int64_t age = *now - record.seconds;
    if (age > kCalibrationMaxDays * kSecondsPerDay) {
      set_absent(choice, "calibration_expired",
                 fmt::format("{}: is {} days old, more than {}", record.path, age / kSecondsPerDay,
                             kCalibrationMaxDays));
      return choice;
    }
    set_absent(choice, "", "");
    choice.record = std::move(record.json);
    return choice;
  }
  if (!foreign.empty())
    set_absent(choice, "calibration_of_another_host", std::move(foreign));
  return choice;
}

}  // namespace assay::compare
