#include "resolve.h"

#include "assay/base/files.h"
#include "assay/base/text.h"
#include "assay/process/launcher.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::process {
namespace {

// 0 when the file can be executed as far as its mode tells.
int check_file(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0)
    return errno;
  if (S_ISDIR(info.st_mode))
    return EISDIR;
  if (!S_ISREG(info.st_mode))
    return EACCES;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

std::string quoted(const std::string& text) {
  return fmt::format("'{}'", printable(text, 200));
}

std::string read_start(const std::string& path, std::size_t size) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes(size, '\0');
  const ssize_t got = file.valid() ? read(file.get(), bytes.data(), size) : -1;
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

// The kernel can be taught further formats; then only it knows.
bool has_extra_formats() {
  DIR* directory = opendir("/proc/sys/fs/binfmt_misc");
  if (directory == nullptr)
    return false;
  bool extra = false;
  while (const dirent* entry = readdir(directory)) {
    const std::string_view name = entry->d_name;
    extra = extra || (name != "." && name != ".." && name != "register" && name != "status");
  }
  closedir(directory);
  return extra;
}

// The interpreter that a "#!" line names, "" when it names none.
std::string script_interpreter(const std::string& start) {
  const std::size_t end = start.find('\n');
  const std::string line = start.substr(2, end == std::string::npos ? end : end - 2);
  const std::size_t from = line.find_first_not_of(" \t");
  if (from == std::string::npos)
    return "";
  const std::size_t to = line.find_first_of(" \t", from);
  return line.substr(from, to == std::string::npos ? to : to - from);
}

// The dynamic loader that a 64-bit ELF file names, "" when it names none.
std::string elf_interpreter(const std::string& path, const std::string& start) {
  Elf64_Ehdr header;
  if (start.size() < sizeof header || start[EI_CLASS] != ELFCLASS64)
    return "";
  std::memcpy(&header, start.data(), sizeof header);
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  for (int i = 0; file.valid() && i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    const auto at =
        static_cast<off_t>(header.e_phoff + static_cast<std::uint64_t>(i) * sizeof part);
    if (pread(file.get(), &part, sizeof part, at) != static_cast<ssize_t>(sizeof part))
      return "";
    if (part.p_type != PT_INTERP || part.p_filesz == 0 || part.p_filesz > 4096)
      continue;
    std::string name(part.p_filesz, '\0');
    const ssize_t got =
        pread(file.get(), name.data(), name.size(), static_cast<off_t>(part.p_offset));
    return got == static_cast<ssize_t>(name.size()) ? name.substr(0, name.find('\0')) : "";
  }
  return "";
}

Error format_error(const std::string& path, const std::string& why) {
  return Error{ErrorCode::invalid_argument, quoted(path) + " cannot be executed: " + why, {}};
}

// What the mode does not tell: a format the kernel knows and an interpreter that exists.
Result<void> check_format(const std::string& path) {
  const std::string start = read_start(path, 512);
  if (start.empty() && access(path.c_str(), R_OK) != 0)
    return {};  // executable but not readable: only the kernel may look
  if (start.rfind("#!", 0) == 0) {
    const std::string interpreter = script_interpreter(start);
    if (interpreter.empty())
      return tl::unexpected(format_error(path, "its #! line names no interpreter"));
    const bool carriage_return = interpreter.back() == '\r';
    if (check_file(interpreter) != 0)
      return tl::unexpected(format_error(
          path, "bad interpreter " + quoted(interpreter) +
                    (carriage_return ? ", the line ends in CR LF; save the script with LF line ends"
                                     : "; install it or correct the script's #! line")));
    return {};
  }
  if (start.rfind(ELFMAG, 0) == 0) {
    const std::string loader = elf_interpreter(path, start);
    if (!loader.empty() && check_file(loader) != 0)
      return tl::unexpected(format_error(
          path, "its dynamic loader " + quoted(loader) +
                    " is missing; install that C library or build the program for this system"));
    return {};
  }
  if (has_extra_formats())
    return {};
  return tl::unexpected(format_error(
      path,
      "neither an ELF program nor a script with a #! line; add a first line like #!/bin/sh, or "
      "name the interpreter in the command"));
}

Error search_error(const std::string& name, const FoundProgram& found) {
  if (name.empty())
    return {ErrorCode::invalid_argument, "the command has no program name", {}};
  const std::string file = quoted(found.tried.empty() ? name : found.tried);
  if (found.error == EISDIR)
    return {ErrorCode::invalid_argument,
            file + " is a directory, not a program; name the program inside it",
            {}};
  if (found.error == EACCES && !found.tried.empty())
    return {ErrorCode::invalid_argument,
            file + " is not executable; check it and its folders (chmod +x)",
            {}};
  if (found.error != ENOENT && found.error != ENOTDIR)
    return system_error(ErrorCode::invalid_argument, file + " cannot be executed", found.error);
  if (name.find('/') != std::string::npos)
    return {ErrorCode::not_found, "command not found: " + file + "; no such file", {}};
  return {ErrorCode::not_found,
          "command not found: " + file + " is in no folder of PATH; give its path (./" +
              printable(name, 60) + ") or extend PATH",
          {}};
}

}  // namespace

FoundProgram find_program(const std::string& name) {
  if (name.empty())
    return {"", ENOENT, ""};
  if (name.find('/') != std::string::npos) {
    const int error = check_file(name);
    return {error == 0 ? name : "", error, name};
  }
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "/bin:/usr/bin" : variable;
  FoundProgram result{"", ENOENT, ""};
  for (;;) {
    const std::size_t end = rest.find(':');
    std::string path(rest.substr(0, end));
    path += path.empty() ? "./" : "/";  // an empty entry is the working directory
    path += name;
    const int error = check_file(path);
    if (error == 0)
      return {path, 0, path};
    if (error != ENOENT && error != ENOTDIR && result.tried.empty())
      result = {"", error, path};
    if (end == std::string_view::npos)
      return result;
    rest.remove_prefix(end + 1);
  }
}

Result<std::string> resolve_program(const std::string& name) {
  FoundProgram found = find_program(name);
  if (found.path.empty())
    return tl::unexpected(search_error(name, found));
  ASSAY_TRY_VOID(check_format(found.path));
  return std::move(found.path);
}

}  // namespace assay::process
