// Runs a program and takes its power away: what it never synced is lost.
//
//   power_cut keep|cut[:N] STATE DIR SEED PROGRAM [ARGUMENT...]
//
// A SIGKILL leaves the page cache alone, so a missing fsync never shows. This tool watches the
// system calls of the program (ptrace, which a parent may do without privileges) and remembers, for
// every fsync and fdatasync that succeeded below DIR, the bytes of that file or the names in that
// directory. When the program has ended, however it ended, `cut` puts DIR back to what was synced
// plus a seeded part of what was not; `keep` leaves DIR as it is, and writes to STATE what of it is
// durable, for the next run. With :N the program is killed as it enters its N-th system call. The
// program does not take part and cannot claim a sync that it did not make.
// docs/design/worker-case.md says what is modelled and what is not.
//
// Exits as the program did, with 128 + N when signal N ended it, with 125 when the tool itself
// cannot go on: also when the program does something that is not modelled.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr int kCannotGoOn = 125;

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "power_cut: %s\n", what.c_str());
  std::exit(kCannotGoOn);
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  if (!in)
    give_up(path.string() + " could not be read");
  return bytes.str();
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bytes;
  if (!out.flush())
    give_up(path.string() + " could not be written");
}

std::vector<fs::path> sorted_entries(const fs::path& directory) {
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory))
    entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  // 0 to limit - 1, by SplitMix64; the slight bias of a remainder does not matter here.
  std::uint64_t below(std::uint64_t limit) {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return (z ^ (z >> 31)) % limit;
  }

 private:
  std::uint64_t state_;
};

// What of a directory would be there after a power cut; paths are relative to it.
class Durable {
 public:
  explicit Durable(fs::path root) : root_(std::move(root)) {}

  // Before anything was watched, all that is there is durable.
  void take_all(const fs::path& directory) {
    for (const fs::path& path : sorted_entries(directory)) {
      names_.insert(relative(path));
      if (fs::is_directory(path))
        take_all(path);
      else
        contents_[relative(path)] = read_file(path);
    }
  }

  void synced(const fs::path& path) {
    if (path != root_ && path.string().rfind(root_.string() + "/", 0) != 0)
      return;
    if (!fs::is_directory(path)) {
      contents_[relative(path)] = read_file(path);
      return;
    }
    for (const fs::path& entry : sorted_entries(path))
      names_.insert(relative(entry));
  }

  void roll_back(const fs::path& directory, Random& random) const {
    for (const fs::path& path : sorted_entries(directory)) {
      if (names_.count(relative(path)) == 0 && random.below(2) == 0) {
        fs::remove_all(path);
      } else if (fs::is_directory(path)) {
        roll_back(path, random);
      } else {
        const auto found = contents_.find(relative(path));
        const std::string now = read_file(path);
        const std::string kept =
            torn(found == contents_.end() ? std::string() : found->second, now, random);
        if (kept != now)
          write_file(path, kept);
      }
    }
  }

  void save(const fs::path& state) const {
    std::ostringstream out;
    for (const std::string& name : names_)
      out << "name " << name << '\n';
    for (const auto& [name, bytes] : contents_)
      out << "file " << bytes.size() << ' ' << name << '\n' << bytes << '\n';
    write_file(state, out.str());
  }

  void load(const fs::path& state) {
    std::istringstream in(read_file(state));
    for (std::string kind, name; in >> kind;) {
      std::size_t size = 0;
      if (kind == "file")
        in >> size;
      in.ignore(1);
      std::getline(in, name);
      if (kind == "name") {
        names_.insert(name);
        continue;
      }
      std::string bytes(size, '\0');
      in.read(bytes.data(), static_cast<std::streamsize>(size));
      contents_[name] = bytes;
      if (!in)
        give_up(state.string() + " is broken");
    }
  }

 private:
  std::string relative(const fs::path& path) const {
    return path.lexically_relative(root_).string();
  }

  // The synced bytes, overwritten by the start of the present ones; in what was not synced, a
  // stretch that never reached the disk may read as zeros.
  static std::string torn(const std::string& synced, const std::string& now, Random& random) {
    if (synced == now)
      return now;
    const auto differs = std::mismatch(synced.begin(), synced.end(), now.begin(), now.end());
    const auto same = static_cast<std::uint64_t>(differs.second - now.begin());
    const std::uint64_t unsynced = now.size() - same;
    switch (random.below(4)) {
      case 0:
        return synced;
      case 1:
        return now;
      default:
        break;
    }
    const std::uint64_t reached = random.below(unsynced + 1);
    std::string kept = now.substr(0, same + reached);
    if (reached > 0 && random.below(2) == 0) {
      const std::uint64_t hole = random.below(reached);
      const std::uint64_t length = 1 + random.below(reached - hole);
      std::fill_n(kept.begin() + static_cast<std::ptrdiff_t>(same + hole), length, '\0');
    }
    if (synced.size() > kept.size())
      kept += synced.substr(kept.size());
    return kept;
  }

  fs::path root_;
  std::set<std::string> names_;
  std::map<std::string, std::string> contents_;
};

bool syncs(std::uint64_t call) {
  return call == SYS_fsync || call == SYS_fdatasync;
}

// Calls whose effect on what is durable this tool does not know, and new processes, whose calls it
// would not see.
bool not_modelled(std::uint64_t call) {
  static const std::set<std::uint64_t> calls = {
#ifdef SYS_rename
      SYS_rename,   SYS_unlink,    SYS_rmdir,  SYS_link,     SYS_symlink,       SYS_fork,
      SYS_vfork,
#endif
      SYS_renameat, SYS_renameat2, SYS_linkat, SYS_unlinkat, SYS_symlinkat,     SYS_clone,
      SYS_clone3,   SYS_sync,      SYS_syncfs, SYS_msync,    SYS_io_uring_setup};
  return calls.count(call) != 0;
}

class Tracee {
 public:
  // Killed at its `last` system call, never when that is 0.
  Tracee(char** command, Durable& durable, std::uint64_t last) : durable_(durable), left_(last) {
    pid_ = ::fork();
    if (pid_ == 0) {
      ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      ::raise(SIGSTOP);
      ::execvp(command[0], command);
      ::_exit(kCannotGoOn);
    }
    if (pid_ < 0 || ::waitpid(pid_, &status_, 0) != pid_ || !WIFSTOPPED(status_) ||
        ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr,
                 PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC) != 0)
      give_up(std::string("cannot trace a child here: ") + std::strerror(errno));
  }
  Tracee(const Tracee&) = delete;
  Tracee& operator=(const Tracee&) = delete;

  // To the program's end; its exit code, or 128 + the signal.
  int watch() {
    long signal = 0;
    for (;;) {
      ::ptrace(PTRACE_SYSCALL, pid_, nullptr, signal);
      if (::waitpid(pid_, &status_, 0) != pid_)
        give_up("the program was lost");
      if (WIFEXITED(status_))
        return WEXITSTATUS(status_);
      if (WIFSIGNALED(status_))
        return 128 + WTERMSIG(status_);
      signal = 0;
      if (WSTOPSIG(status_) == (SIGTRAP | 0x80))
        at_system_call();
      else if (WSTOPSIG(status_) != SIGTRAP)
        signal = WSTOPSIG(status_);
    }
  }

 private:
  void at_system_call() {
    __ptrace_syscall_info info = {};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof info, &info) <= 0)
      return;  // it was killed meanwhile; the next wait says so
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
      if (left_ > 0 && --left_ == 0) {
        ::kill(pid_, SIGKILL);
        return;
      }
      if (not_modelled(info.entry.nr))
        give_up("system call " + std::to_string(info.entry.nr) + " is not modelled");
      synced_ = syncs(info.entry.nr) ? static_cast<int>(info.entry.args[0]) : -1;
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && synced_ >= 0) {
      if (info.exit.rval == 0)
        durable_.synced(
            fs::read_symlink("/proc/" + std::to_string(pid_) + "/fd/" + std::to_string(synced_)));
      synced_ = -1;
    }
  }

  Durable& durable_;
  std::uint64_t left_;  // system calls before it is killed
  pid_t pid_ = -1;
  int status_ = 0;
  int synced_ = -1;  // the descriptor of the sync that is under way
};

}  // namespace

int main(int argc, char** argv) {
  const std::string words = argc > 5 ? argv[1] : "";
  const std::string mode = words.substr(0, words.find(':'));
  const std::uint64_t last =
      mode.size() < words.size() ? std::strtoull(words.c_str() + mode.size() + 1, nullptr, 10) : 0;
  if ((mode != "keep" && mode != "cut") || (mode.size() < words.size() && last == 0)) {
    std::fprintf(stderr, "usage: %s keep|cut[:N] STATE DIR SEED PROGRAM [ARGUMENT...]\n", argv[0]);
    return kCannotGoOn;
  }
  const fs::path state = argv[2];
  const fs::path root = fs::canonical(argv[3]);
  Random random(std::strtoull(argv[4], nullptr, 10));
  Durable durable(root);
  if (fs::exists(state))
    durable.load(state);
  else
    durable.take_all(root);
  const int code = Tracee(argv + 5, durable, last).watch();
  if (mode == "keep") {
    durable.save(state);
  } else {
    durable.roll_back(root, random);
    fs::remove(state);  // after the cut, what is there is what the disk has
  }
  return code;
}
