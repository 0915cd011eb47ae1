#include "facts.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::host {

namespace {

std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}

// May this byte be part of a path component? Separators that command lines put after a path are
// not.
bool is_name_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x80)
    return true;
  if (byte >= '0' && byte <= '9')
    return true;
  if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z'))
    return true;
  return std::string_view("._-+~@%#").find(c) != std::string_view::npos;
}

// Whether a whole path begins at text[at] == '/'. Names before it make it the middle of a longer
// path
// ("/mnt/root", "../root", "src/root"), unless they are a flag that takes its path without a blank
// ("-I/root", "@/root"). Slashes alone do not ("//root", "file:///root").
bool path_begins(std::string_view text, std::size_t at) {
  char first = '-';
  for (std::size_t i = at; i-- > 0;) {
    const bool after_name = i + 1 < at && text[i + 1] != '/';
    if (text[i] == '/' && after_name)
      return false;
    if (text[i] == '/')
      continue;
    if (!is_name_byte(text[i]))
      break;
    first = text[i];
  }
  return first == '-' || first == '@';
}

bool component_ends(std::string_view text, std::size_t at) {
  return at >= text.size() || !is_name_byte(text[at]);
}

std::string resolved(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  return error ? std::string() : real.string();
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string home_of_user() {
  std::array<char, 16384> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0)
    return "";
  return found != nullptr && found->pw_dir != nullptr ? found->pw_dir : "";
}

// The nearest directory at or above `directory` with a .git in it, else `directory`.
std::string checkout_around(const std::string& directory) {
  struct stat info {};
  for (std::string at = directory; at.size() > 1; at.erase(at.rfind('/')))
    if (::lstat((at + "/.git").c_str(), &info) == 0)
      return at;
  return directory;
}

std::string working_directory() {
  const std::unique_ptr<char, decltype(&std::free)> path(::getcwd(nullptr, 0), &std::free);
  return path != nullptr ? path.get() : "";
}

// $PWD keeps the symlinks through which the user came, if it still names the working directory.
std::string logical_directory() {
  const std::string path = environment("PWD");
  struct stat named {};
  struct stat here {};
  if (path.empty() || ::stat(path.c_str(), &named) != 0 || ::stat(".", &here) != 0)
    return "";
  return named.st_dev == here.st_dev && named.st_ino == here.st_ino ? path : "";
}

}  // namespace

Redactor::Redactor(std::string home, std::string repo, std::vector<std::string> temps) {
  // Added in this order, so that of two equal roots the checkout's name wins.
  add(std::move(repo), "{repo}");
  add(std::move(home), "{home}");
  for (auto& temp : temps)
    add(std::move(temp), "{tmp}");
  order();
}

void Redactor::add(std::string root, const std::string& name) {
  root = without_trailing_slashes(std::move(root));
  if (root.size() < 2 || root[0] != '/')
    return;
  rules_.emplace_back(std::move(root), name);
}

void Redactor::order() {
  std::stable_sort(rules_.begin(), rules_.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

Redactor Redactor::for_this_process() {
  Redactor redactor("", "", {});
  const auto add_both = [&](const std::string& root, const std::string& name) {
    redactor.add(root, name);
    redactor.add(resolved(root), name);
  };
  add_both(checkout_around(working_directory()), "{repo}");
  if (const auto logical = logical_directory(); !logical.empty())
    add_both(checkout_around(logical), "{repo}");
  add_both(environment("HOME"), "{home}");
  add_both(home_of_user(), "{home}");
  for (const auto& temp : {std::string("/tmp"), std::string("/var/tmp"), environment("TMPDIR")})
    add_both(temp, "{tmp}");
  redactor.order();
  return redactor;
}

std::string Redactor::operator()(std::string_view text) const {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto rule = text[at] != '/'
                          ? rules_.end()
                          : std::find_if(rules_.begin(), rules_.end(), [&](const auto& r) {
                              return text.substr(at, r.first.size()) == r.first &&
                                     component_ends(text, at + r.first.size()) &&
                                     path_begins(text, at);
                            });
    if (rule == rules_.end()) {
      result += text[at++];
    } else {
      result += rule->second;
      at += rule->first.size();
    }
  }
  return result;
}

}  // namespace assay::host
