#include "inventory.h"

#include "assay/base/files.h"
#include "assay/base/sha256.h"
#include "assay/evidence/archive.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::evidence {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} * 1024;
constexpr std::size_t kMaxLine = std::size_t{16} * 1024 * 1024;

// A manifest is kept as its author wrote it; every other document is assay's own.
bool must_be_canonical(std::string_view name) {
  return name != "manifest.json";
}

// Cuts a byte stream into LF-terminated lines.
class LineFeeder {
 public:
  using Callback = std::function<Result<void>(std::string_view, std::int64_t)>;
  LineFeeder(const std::string& path, const Callback& line) : path_(path), line_(line) {}

  Result<void> feed(std::string_view bytes) {
    for (std::size_t lf = bytes.find('\n'); lf != std::string_view::npos; lf = bytes.find('\n')) {
      ++number_;
      if (partial_.empty()) {
        ASSAY_TRY_VOID(line_(bytes.substr(0, lf), number_));
      } else {
        partial_.append(bytes.substr(0, lf));
        ASSAY_TRY_VOID(line_(partial_, number_));
        partial_.clear();
      }
      bytes.remove_prefix(lf + 1);
    }
    partial_.append(bytes);
    if (partial_.size() > kMaxLine)
      return fail(ErrorCode::invalid_format, "the line is longer than 16 MiB", place());
    return {};
  }

  Result<void> end() const {
    if (partial_.empty())
      return {};
    return fail(ErrorCode::invalid_format,
                fmt::format("the last line is torn: {} bytes without a line feed", partial_.size()),
                place());
  }

 private:
  std::string place() const { return fmt::format("{}:{}", path_, number_ + 1); }

  const std::string& path_;
  const Callback& line_;
  std::string partial_;
  std::int64_t number_ = 0;
};

tl::unexpected<Error> changed(const std::string& path) {
  return fail(ErrorCode::invalid_format, kChanged, path);
}

// Before it is read: a file that grew by gigabytes need not be read to be refused.
Result<void> check_size(const std::string& path, const FileDigest& expected) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_size != expected.size)
    return changed(path);
  return {};
}

// Hashes what is read, where it has to be what was written; stops behind its end.
class StreamCheck {
 public:
  StreamCheck(const FileDigest* expected, const std::string& path)
      : expected_(expected), path_(path) {}

  Result<void> feed(std::string_view bytes) {
    if (expected_ == nullptr)
      return {};
    size_ += static_cast<std::int64_t>(bytes.size());
    if (size_ > expected_->size)
      return changed(path_);
    hash_.update(bytes);
    return {};
  }
  Result<void> end() const {
    if (expected_ != nullptr &&
        (size_ != expected_->size || hash_.snapshot_hex() != expected_->sha256))
      return changed(path_);
    return {};
  }

 private:
  const FileDigest* expected_;
  const std::string& path_;
  Sha256 hash_;
  std::int64_t size_ = 0;
};

}  // namespace

Result<ArchiveReader> ArchiveReader::open(const std::string& path) {
  return checked(ArchiveReader(path, std::nullopt));
}

Result<ArchiveReader> ArchiveReader::open_verified(const std::string& path, FileDigests expected) {
  return checked(ArchiveReader(path, std::move(expected)));
}

Result<ArchiveReader> ArchiveReader::checked(ArchiveReader reader) {
  const std::string path = reader.path();
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    return tl::unexpected<Error>(
        system_error(errno == ENOENT ? ErrorCode::not_found : ErrorCode::io,
                     "cannot open the archive", errno, path));
  if (!S_ISDIR(status.st_mode))
    return fail(ErrorCode::invalid_format, "is not an archive: an archive is a directory", path);
  const Result<Json> header = reader.document("header.json");
  if (!header) {
    if (header.error().code == ErrorCode::not_found)
      return fail(ErrorCode::invalid_format, "is not an archive: it has no header.json", path);
    return tl::unexpected<Error>(header.error());
  }
  const std::string where = path + "/header.json";
  ObjectReader top(*header, where);
  ASSAY_TRY(ObjectReader fields, top.child("schema"));
  ASSAY_TRY(const std::string name, fields.text("name"));
  ASSAY_TRY(const std::int64_t major, fields.integer("major", 0, INT64_MAX));
  if (name != kArchiveSchema || major != kArchiveMajor)
    return fail(
        ErrorCode::unsupported,
        fmt::format("schema {} version {} is not known to this version of assay, which reads "
                    "{} version {}",
                    canonical_json(name), major, kArchiveSchema, kArchiveMajor),
        where);
  return reader;
}

Result<const FileDigest*> ArchiveReader::expected(const std::string& name) const {
  if (!expected_)
    return nullptr;
  const auto found = expected_->find(name);
  if (found == expected_->end())
    return fail(ErrorCode::invalid_format, "was not written by this campaign", path_ + "/" + name);
  return &found->second;
}

Result<Json> ArchiveReader::document(const std::string& name) const {
  ASSAY_TRY(const std::string text, bytes(name));
  const std::string where = path_ + "/" + name;
  if (!must_be_canonical(name))
    return parse_json(text, where);
  if (text.empty() || text.back() != '\n')
    return fail(ErrorCode::invalid_format, "does not end in a line feed", where);
  return parse_canonical_json(std::string_view(text).substr(0, text.size() - 1), where);
}

Result<std::string> ArchiveReader::bytes(const std::string& name) const {
  ASSAY_CHECK(!name.empty() && name.find('/') == std::string::npos && name != "..",
              "a document lies directly in the archive");
  ASSAY_TRY(const FileDigest* const digest, expected(name));
  const std::string path = path_ + "/" + name;
  if (digest == nullptr)
    return read_file(path);
  ASSAY_TRY_VOID(check_size(path, *digest));
  ASSAY_TRY(std::string bytes, read_file(path, digest->size));
  if (static_cast<std::int64_t>(bytes.size()) != digest->size ||
      sha256_hex(bytes) != digest->sha256)
    return changed(path);
  return bytes;
}

Result<void> ArchiveReader::for_each_line(
    const std::string& name,
    const std::function<Result<void>(std::string_view, std::int64_t)>& line) const {
  const std::string path = path_ + "/" + name;
  ASSAY_TRY(const FileDigest* const digest, expected(name));
  if (digest != nullptr)
    ASSAY_TRY_VOID(check_size(path, *digest));
  const Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid())
    return tl::unexpected<Error>(system_error(
        errno == ENOENT ? ErrorCode::not_found : ErrorCode::io, "cannot open", errno, path));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return fail(ErrorCode::io, "is not a regular file", path);
  LineFeeder feeder(path, line);
  StreamCheck check(digest, path);
  std::vector<char> buffer(kReadBytes);
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return tl::unexpected<Error>(system_error(ErrorCode::io, "cannot read", errno, path));
    if (n == 0) {
      ASSAY_TRY_VOID(check.end());
      return feeder.end();
    }
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(n));
    ASSAY_TRY_VOID(check.feed(bytes));
    ASSAY_TRY_VOID(feeder.feed(bytes));
  }
}

Result<std::string> ArchiveReader::blob(const std::string& digest) const {
  if (!is_sha256_hex(digest))
    return fail(ErrorCode::invalid_argument, "a blob is named by 64 lower-case hex digits", path_);
  const std::string name = "blobs/sha256/" + digest.substr(0, 2) + "/" + digest;
  const std::string path = path_ + "/" + name;
  ASSAY_TRY_VOID(expected(name));
  ASSAY_TRY(std::string bytes, read_file(path));
  if (sha256_hex(bytes) != digest)
    return fail(ErrorCode::invalid_format, "the bytes do not have the digest that names them",
                path);
  return bytes;
}

}  // namespace assay::evidence
