#include "assay/base/sha256.h"

#include "assay/base/file_state.h"
#include "assay/base/files.h"

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace assay {
namespace {

constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kReadBytes = std::size_t{256} * 1024;

struct ContextDeleter {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, ContextDeleter>;

// Fetching by name costs more than hashing a short line, so it happens once per process.
const EVP_MD* algorithm() {
  static const EVP_MD* const md = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  ASSAY_CHECK(md != nullptr, "OpenSSL has no SHA-256");
  return md;
}

Context new_context() {
  Context context(EVP_MD_CTX_new());
  ASSAY_CHECK(context != nullptr, "out of memory");
  return context;
}

}  // namespace

struct Sha256::State {
  Context context = new_context();
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  ASSAY_CHECK(EVP_DigestInit_ex(state_->context.get(), algorithm(), nullptr) == 1,
              "cannot start a SHA-256");
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) {
  ASSAY_CHECK(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1,
              "SHA-256 update failed");
}

std::string Sha256::snapshot_raw() const {
  const Context copy = new_context();
  std::array<unsigned char, kDigestBytes> digest{};
  ASSAY_CHECK(EVP_MD_CTX_copy_ex(copy.get(), state_->context.get()) == 1 &&
                  EVP_DigestFinal_ex(copy.get(), digest.data(), nullptr) == 1,
              "SHA-256 final failed");
  return std::string(digest.begin(), digest.end());
}

std::string Sha256::snapshot_hex() const {
  return to_hex(snapshot_raw());
}

std::string sha256_raw(std::string_view bytes) {
  std::array<unsigned char, kDigestBytes> digest{};
  ASSAY_CHECK(
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, algorithm(), nullptr) == 1,
      "SHA-256 failed");
  return std::string(digest.begin(), digest.end());
}

std::string sha256_hex(std::string_view bytes) {
  return to_hex(sha256_raw(bytes));
}

Result<std::string> sha256_file(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not hang before fstat can refuse it.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::io;
    return tl::unexpected<Error>(system_error(code, "cannot open for hashing", errno, path));
  }
  return sha256_descriptor(fd.get(), path);
}

Result<std::string> sha256_descriptor(int fd, const std::string& where) {
  struct stat before {};
  if (::fstat(fd, &before) != 0)
    return tl::unexpected<Error>(system_error(ErrorCode::io, "cannot stat", errno, where));
  if (!S_ISREG(before.st_mode))
    return fail(ErrorCode::io, "not a regular file, so it has no digest", where);

  Sha256 hash;
  std::vector<char> buffer(kReadBytes);
  for (;;) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return tl::unexpected<Error>(system_error(ErrorCode::io, "cannot read", errno, where));
    if (n == 0)
      break;
    hash.update(std::string_view(buffer.data(), static_cast<std::size_t>(n)));
  }
  struct stat after {};
  if (::fstat(fd, &after) != 0)
    return tl::unexpected<Error>(system_error(ErrorCode::io, "cannot stat", errno, where));
  if (!same_file_state(before, after))
    return fail(ErrorCode::io, "the file changed while it was hashed", where);
  return hash.snapshot_hex();
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string to_hex(std::string_view raw) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(raw.size() * 2);
  for (const char c : raw) {
    const auto byte = static_cast<unsigned char>(c);
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

}  // namespace assay
