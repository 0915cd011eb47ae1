// Result<T>: what the outside world can cause is a value, never an exception.
//
// A failed Result means "we could not observe or persist"; a bad measurement is data (an Outcome in
// a sample) and a bad verdict is a report value. Thread rule: plain values, no shared state.
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace assay {

// The class of a failure. Stable snake_case names come from error_code_name().
enum class ErrorCode {
  invalid_argument,  // a usage error: the invocation must change
  not_found,         // a file, command or key that should exist does not
  already_exists,    // an output that must not exist does
  io,                // reading failed
  not_persisted,     // evidence could not be written durably; final, never retried
  invalid_format,    // bytes that break a documented format
  launcher,          // assay-launch is missing, mismatched or died
  unsupported,       // this platform or version cannot do it
  interrupted,       // SIGINT or SIGTERM
};

std::string_view error_code_name(ErrorCode code);

// `what` says what is wrong and what to do; `where` names the place (file:line, JSON pointer,
// flag).
struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::io;
  std::string what;
  std::string where = {};

  // "where: what", or only what when there is no place.
  std::string message() const;
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string what, std::string where = {}) {
  return tl::unexpected<Error>(Error{code, std::move(what), std::move(where)});
}

// An Error for a failed system call: `what` gets strerror(err) appended, and where a resource limit
// of this process is the cause (EFBIG, EMFILE, ENOMEM), that limit and how to raise it.
Error system_error(ErrorCode code, std::string_view what, int err, std::string where = {});

[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               std::string_view message);

}  // namespace assay

#define ASSAY_CONCAT_INNER(a, b) a##b
#define ASSAY_CONCAT(a, b) ASSAY_CONCAT_INNER(a, b)

// ASSAY_TRY(auto x, f()): x is f()'s value, or the enclosing function returns f()'s error.
#define ASSAY_TRY(decl, expr)                                                                     \
  auto ASSAY_CONCAT(assay_try_, __LINE__) = (expr);                                               \
  if (!ASSAY_CONCAT(assay_try_, __LINE__))                                                        \
    return tl::unexpected<::assay::Error>(std::move(ASSAY_CONCAT(assay_try_, __LINE__)).error()); \
  decl = std::move(*ASSAY_CONCAT(assay_try_, __LINE__))

// ASSAY_TRY_VOID(f()): for Result<void>.
#define ASSAY_TRY_VOID(expr)                                                    \
  do {                                                                          \
    auto assay_try_void = (expr);                                               \
    if (!assay_try_void)                                                        \
      return tl::unexpected<::assay::Error>(std::move(assay_try_void).error()); \
  } while (false)

// A broken invariant of our own: on in release builds, aborts with the place.
#define ASSAY_CHECK(condition, message) \
  ((condition) ? static_cast<void>(0)   \
               : ::assay::check_failed(#condition, __FILE__, __LINE__, message))
