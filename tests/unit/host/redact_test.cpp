#include "fixture.h"

#include <unistd.h>

namespace assay::host {
namespace {

const Redactor kRedactor("/home/ada", "/home/ada/src/tool", {"/tmp", "/scratch/t/"});

TEST(Redactor, replaces_roots_and_what_lies_below_them) {
  EXPECT_EQ(kRedactor("/home/ada"), "{home}");
  EXPECT_EQ(kRedactor("/home/ada/"), "{home}/");
  EXPECT_EQ(kRedactor("/home/ada/bin/x"), "{home}/bin/x");
  EXPECT_EQ(kRedactor("/tmp/x"), "{tmp}/x");
  EXPECT_EQ(kRedactor("/scratch/t/x"), "{tmp}/x");
}

TEST(Redactor, prefers_the_longest_root) {
  EXPECT_EQ(kRedactor("/home/ada/src/tool/a.out"), "{repo}/a.out");
  EXPECT_EQ(kRedactor("/home/ada/src/tools"), "{home}/src/tools");
  EXPECT_EQ(Redactor("/r", "/r", {})("/r/x"), "{repo}/x");
}

TEST(Redactor, stops_at_the_end_of_a_path_component) {
  for (const char* kept : {"/home/adam", "/home/ada-2/x", "/home/ada.old", "/tmpfile", "/tmp_x",
                           "/home/ada\xc3\xa9", "/home"})
    EXPECT_EQ(kRedactor(kept), kept);
}

TEST(Redactor, leaves_the_middle_of_longer_paths_alone) {
  for (const char* kept : {"/var/tmp/x", "/mnt/home/ada", "./tmp/x", "../tmp", "build/tmp/x",
                           "http://localhost/tmp/x", "-I/mnt/home/ada"})
    EXPECT_EQ(kRedactor(kept), kept);
}

TEST(Redactor, finds_paths_inside_words) {
  EXPECT_EQ(kRedactor("--input=/home/ada/f"), "--input={home}/f");
  EXPECT_EQ(kRedactor("-I/home/ada/include"), "-I{home}/include");
  EXPECT_EQ(kRedactor("@/tmp/args"), "@{tmp}/args");
  EXPECT_EQ(kRedactor("file:///home/ada/f"), "file://{home}/f");
  EXPECT_EQ(kRedactor("/tmp:/home/ada/bin:/usr/bin"), "{tmp}:{home}/bin:/usr/bin");
  EXPECT_EQ(kRedactor("cat '/home/ada/a' >\"/tmp/b\""), "cat '{home}/a' >\"{tmp}/b\"");
  EXPECT_EQ(kRedactor("-Wl,-rpath,/home/ada/lib"), "-Wl,-rpath,{home}/lib");
  EXPECT_EQ(kRedactor("//home/ada/x"), "/{home}/x");
}

TEST(Redactor, replaces_every_occurrence) {
  EXPECT_EQ(kRedactor("/home/ada /home/ada/home/ada"), "{home} {home}/home/ada");
}

TEST(Redactor, ignores_roots_that_would_match_everything_or_nothing) {
  const Redactor none("/", "", {"relative", "///", ""});
  EXPECT_EQ(none("/usr/bin/x /"), "/usr/bin/x /");
}

TEST(Redactor, keeps_any_bytes_that_are_no_root) {
  const std::string odd("\xff\0/\n", 4);
  EXPECT_EQ(kRedactor(odd), odd);
}

class RedactorHere : public HostTree {};

TEST_F(RedactorHere, takes_the_checkout_around_the_working_directory) {
  // Outside /tmp's name on purpose: the checkout is the longer root.
  put("tree/.git/HEAD", "ref");
  put("tree/a/b/f", "");
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(path("tree/a/b"));
  const Redactor redact = Redactor::for_this_process();
  std::filesystem::current_path(before);
  EXPECT_EQ(redact(path("tree/a/b/f")), "{repo}/a/b/f");
  EXPECT_EQ(redact("/tmp/x"), "{tmp}/x");
}

TEST_F(RedactorHere, takes_home_with_its_symlinks_resolved) {
  put("real/f", "");
  std::filesystem::create_symlink("real", path("link"));
  const char* home = std::getenv("HOME");
  const std::string before = home != nullptr ? home : "";
  ::setenv("HOME", path("link").c_str(), 1);
  const Redactor redact = Redactor::for_this_process();
  if (home != nullptr)
    ::setenv("HOME", before.c_str(), 1);
  else
    ::unsetenv("HOME");
  EXPECT_EQ(redact(path("link/f")), "{home}/f");
  EXPECT_EQ(redact(path("real/f")), "{home}/f");
}

}  // namespace
}  // namespace assay::host
