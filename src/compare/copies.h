// The two copies of a program that a calibration measures against each other.
#pragma once

#include "assay/base/files.h"
#include "assay/base/result.h"
#include "assay/verdict/plan.h"

#include <string>
#include <utility>

namespace assay::compare {

// Two physical copies of one program under paths of equal length, removed with the object. Where
// the kernel happens to place a file's pages makes one copy some tenths of a per cent slower than
// the other for as long as they are cached, so each campaign gets copies of its own, as each
// comparison of two builds does.
//
// They lie in a directory of their own below the temporary one, which is locked (flock) while it is
// in use: whoever finds one of this user unlocked may remove it, its owner was killed.
class Copies {
 public:
  // Removes what killed calibrations of this user left behind, then copies. Errors: io, not_found.
  static Result<Copies> make(const std::string& program);
  ~Copies();
  Copies(Copies&& other) noexcept;
  Copies& operator=(Copies&&) = delete;

  // Replaces both copies. Errors: io, also where the program is no longer the one first copied.
  Result<void> renew();

  std::string path(verdict::Side side) const {
    return directory_ + (side == verdict::Side::reference ? "/a" : "/b");
  }
  const std::string& digest() const { return digest_; }

 private:
  Copies(std::string directory, Fd lock, std::string program)
      : directory_(std::move(directory)), lock_(std::move(lock)), program_(std::move(program)) {}
  std::string directory_;
  Fd lock_;
  std::string program_;
  std::string digest_;
};

}  // namespace assay::compare
