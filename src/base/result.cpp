#include "assay/base/result.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace assay {

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::already_exists:
      return "already_exists";
    case ErrorCode::io:
      return "io";
    case ErrorCode::not_persisted:
      return "not_persisted";
    case ErrorCode::invalid_format:
      return "invalid_format";
    case ErrorCode::launcher:
      return "launcher";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::interrupted:
      return "interrupted";
  }
  return "unknown";
}

std::string Error::message() const {
  return where.empty() ? what : where + ": " + what;
}

namespace {

// strerror names the symptom only: "Too many open files" does not say whose limit that is.
std::string_view limit_behind(int err) {
  if (err == EFBIG)
    return " (this process may not write larger files, RLIMIT_FSIZE: raise it with `ulimit -f`)";
  if (err == EMFILE)
    return " (this process may not open more files, RLIMIT_NOFILE: raise it with `ulimit -n`)";
  if (err == ENOSPC)
    return " (free some there, or name a place with more)";
  if (err == EDQUOT)
    return " (your quota there is used up: free some, or name another place)";
  if (err == ENOMEM)
    return " (memory is short, or limited for this process: see `ulimit -v`)";
  return "";
}

}  // namespace

Error system_error(ErrorCode code, std::string_view what, int err, std::string where) {
  return Error{
      code, fmt::format("{}: {}{}", what, std::generic_category().message(err), limit_behind(err)),
      std::move(where)};
}

void check_failed(const char* condition, const char* file, int line, std::string_view message) {
  fmt::print(stderr, "assay: internal error at {}:{}: {} ({})\n", file, line, message, condition);
  std::fflush(stderr);
  std::abort();
}

}  // namespace assay
