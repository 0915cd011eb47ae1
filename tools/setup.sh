# Installs Debian packages and builds. Sourced by ./run and ./test; sets nothing up by itself.
# Everything here speaks on stderr: stdout belongs to the command that runs afterwards.
# $root is the checkout; the lists below are for the sourcing script.
# shellcheck shell=bash disable=SC2034,SC2154

# What building assay needs.
packages_build="cmake ninja-build g++ libfmt-dev libssl-dev nlohmann-json3-dev libexpected-dev
  libcli11-dev git"
# What the tour adds: the second compiler, and what generates its input.
packages_tour="clang python3"
# What the benchmarks add: the peers that they run beside assay.
packages_benchmarks="python3 python3-numpy hyperfine"
# What the tests add.
packages_test="python3 libgtest-dev libgmock-dev librapidcheck-dev libmpfr-dev libboost-dev
  libboost-math-dev clang libclang-rt-14-dev clang-format-16 clang-tidy-16 shellcheck qemu-user
  strace hyperfine rustc cargo librust-serde-json-dev libsimdjson-dev
  libsqlite3-dev python3-jsonschema"

say() { printf 'assay: %s\n' "$*" >&2; }

# The packages among "$@" that dpkg doesn't have.
missing_packages() {
  local package
  for package in "$@"; do
    case "$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)" in
      ?i*) ;;
      *) printf '%s\n' "$package" ;;
    esac
  done
}

# ensure_packages NAME PACKAGE...: installs what is missing, or says how and exits 2. The answer is
# kept in build/.packages-NAME until dpkg's database changes, so that asking again costs nothing.
ensure_packages() {
  local stamp="$root/build/.packages-$1" wanted missing
  shift
  if ! command -v dpkg-query >/dev/null 2>&1; then
    say "this is not a Debian system: make sure that it has: $*"
    return 0
  fi
  wanted="$*"
  if [ -f "$stamp" ] && [ ! /var/lib/dpkg/status -nt "$stamp" ] &&
    [ "$(cat "$stamp")" = "$wanted" ]; then
    return 0
  fi
  missing=$(missing_packages "$@" | tr '\n' ' ')
  missing=${missing% }
  [ -z "$missing" ] || install_packages "$missing"
  mkdir -p "$root/build" && printf '%s\n' "$wanted" >"$stamp"
}

install_packages() {
  local options="-o DPkg::Lock::Timeout=300 -y --no-install-recommends"
  if [ "$(id -u)" -ne 0 ]; then
    say "these Debian packages are missing, and only root may install them. Run:"
    printf '  sudo apt-get install --no-install-recommends %s\n' "$1" >&2
    exit 2
  fi
  mkdir -p "$root/build"
  say "installing Debian packages: $1"
  # A source that can't be refreshed is no reason to give up: the installation decides.
  # shellcheck disable=SC2086
  if ! { apt-get update -qq || true; DEBIAN_FRONTEND=noninteractive apt-get install -qq $options $1; } \
    >"$root/build/apt.log" 2>&1; then
    tail -n 20 "$root/build/apt.log" >&2
    say "apt-get could not install them (whole output: $root/build/apt.log)"
    exit 2
  fi
}

# build_targets PRESET TARGET...: configures build/PRESET where needed and builds. Quiet when
# there is nothing to do. One build of a tree at a time.
build_targets() {
  local preset="$1" dir="$root/build/$1"
  shift
  mkdir -p "$dir"
  {
    flock 9
    # A tree that was moved or copied holds paths of its old place.
    if [ -f "$dir/CMakeCache.txt" ] &&
      ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$dir/CMakeCache.txt"; then
      rm -rf "$dir/CMakeCache.txt" "$dir/CMakeFiles" "$dir/build.ninja"
    fi
    if [ ! -f "$dir/build.ninja" ]; then
      say "building assay for the first time: about three minutes on two cores"
      logged "$dir" env -C "$root" cmake --preset "$preset"
    elif ninja -C "$dir" -n "$@" 2>/dev/null | tail -n 1 | grep -q 'no work to do'; then
      return 0
    fi
    logged "$dir" ninja -C "$dir" "$@"
  } 9>"$dir/.lock"
}

# Runs a command with its output in DIR/build.log; on a terminal ninja's progress line is shown too.
logged() {
  local log="$1/build.log"
  shift
  if [ -t 2 ] && [ "$1" = ninja ]; then
    NINJA_STATUS='assay: building %f/%t ' "$@" >&2 9>&- && return 0
    exit 2
  fi
  if ! "$@" >"$log" 2>&1 9>&-; then
    grep -E -A 12 'error|FAILED' "$log" | head -n 60 >&2 || tail -n 40 "$log" >&2
    say "the build failed (whole output: $log)"
    exit 2
  fi
}
