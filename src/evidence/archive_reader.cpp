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

}  // namespace

Result<ArchiveReader> ArchiveReader::open(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    return tl::unexpected<Error>(
        system_error(errno == ENOENT ? ErrorCode::not_found : ErrorCode::io,
                     "cannot open the archive", errno, path));
  if (!S_ISDIR(status.st_mode))
    return fail(ErrorCode::invalid_format, "is not an archive: an archive is a directory", path);
  ArchiveReader reader(path);
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
  return read_file(path_ + "/" + name);
}

Result<void> ArchiveReader::for_each_line(
    const std::string& name,
    const std::function<Result<void>(std::string_view, std::int64_t)>& line) const {
  const std::string path = path_ + "/" + name;
  const Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid())
    return tl::unexpected<Error>(system_error(
        errno == ENOENT ? ErrorCode::not_found : ErrorCode::io, "cannot open", errno, path));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return fail(ErrorCode::io, "is not a regular file", path);
  LineFeeder feeder(path, line);
  std::vector<char> buffer(kReadBytes);
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return tl::unexpected<Error>(system_error(ErrorCode::io, "cannot read", errno, path));
    if (n == 0)
      return feeder.end();
    ASSAY_TRY_VOID(feeder.feed(std::string_view(buffer.data(), static_cast<std::size_t>(n))));
  }
}

Result<std::string> ArchiveReader::blob(const std::string& digest) const {
  if (!is_sha256_hex(digest))
    return fail(ErrorCode::invalid_argument, "a blob is named by 64 lower-case hex digits", path_);
  const std::string path = path_ + "/blobs/sha256/" + digest.substr(0, 2) + "/" + digest;
  ASSAY_TRY(std::string bytes, read_file(path));
  if (sha256_hex(bytes) != digest)
    return fail(ErrorCode::invalid_format, "the bytes do not have the digest that names them",
                path);
  return bytes;
}

}  // namespace assay::evidence
