// A small archive and an independent reading of its files.
#pragma once

#include "assay/base/ids.h"
#include "assay/evidence/archive.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "unit/base/temp_dir.h"

namespace assay::evidence {

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

inline std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

inline std::string pair_lines(std::int64_t pair) {
  return "{\"seq\":" + std::to_string(2 * pair) + "}\n{\"seq\":" + std::to_string(2 * pair + 1) +
         "}\n";
}

inline Result<ArchiveWriter> new_archive(const std::string& path) {
  return ArchiveWriter::create(path, {"comparison", "0.1.0"}, {{"cap", 1.05}}, "{\"seed\":5}\n",
                               {{"cpu", "x"}});
}

inline Result<Json> pass_report() {
  return Json{{"status", "measured"}, {"verdict", "PASS"}};
}

// Two pairs, one blob, finished.
inline void write_finished_archive(const std::string& path) {
  Result<ArchiveWriter> archive = new_archive(path);
  ASSERT_TRUE(archive) << archive.error().message();
  ASSERT_TRUE(archive->event("campaign_started"));
  for (std::int64_t pair = 0; pair < 2; ++pair) {
    ASSERT_TRUE(archive->event("pair_started", {{"first_seq", 2 * pair}}));
    ASSERT_TRUE(archive->append_samples(pair_lines(pair), {0, pair, 2 * pair + 1}));
  }
  ASSERT_TRUE(archive->store_blob("output\n"));
  ASSERT_TRUE(archive->sync());
  ASSERT_TRUE(archive->finalize("finished", {{"batches_done", 1}}, pass_report));
}

}  // namespace assay::evidence
