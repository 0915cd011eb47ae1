// SHA-256 through OpenSSL's EVP. Digests are passed around as 64 lower-case hex characters.
#pragma once

#include "assay/base/result.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace assay {

// Incremental digest. Movable, not copyable except through snapshot(); not thread safe.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::string_view bytes);
  // Digest of everything so far; the object goes on (used to anchor a growing file).
  std::string snapshot_hex() const;
  // 32 raw bytes of everything so far.
  std::string snapshot_raw() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::string_view bytes);
std::string sha256_raw(std::string_view bytes);
// Streams the file in 256 KiB reads. Follows symlinks (it hashes what would be executed); refuses
// anything but a regular file, and a file that changes meanwhile.
Result<std::string> sha256_file(const std::string& path);
// The same for an open descriptor, from its current position; `where` names it in errors.
Result<std::string> sha256_descriptor(int fd, const std::string& where);
std::string to_hex(std::string_view raw);
// Whether it is written as a digest is: 64 lower-case hexadecimal digits.
bool is_sha256_hex(std::string_view text);

}  // namespace assay
