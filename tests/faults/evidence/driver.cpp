// Writes one small archive and tells through a shared page what was acknowledged, so that telling
// makes no system call a fault could hit. Exit 0: finished; 3: not persisted; 1: anything else.
#include "acknowledged.h"

#include "assay/base/files.h"
#include "assay/evidence/archive.h"

#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>

namespace {

using assay::Json;
using assay::Result;
using assay::evidence::ArchiveWriter;
using assay::faults::Acknowledged;

Result<void> write_archive(const std::string& path, volatile Acknowledged& done) {
  ASSAY_TRY(ArchiveWriter archive, ArchiveWriter::create(path, {"comparison", "0"}, {{"cap", 1.05}},
                                                         "{}\n", Json::object()));
  done.events = 1;
  for (int pair = 0; pair < assay::faults::kPairs; ++pair) {
    ASSAY_TRY_VOID(archive.event("pair_started", {{"first_seq", 2 * pair}}));
    done.events = done.events + 1;
    ASSAY_TRY_VOID(
        archive.append_samples(assay::faults::pair_lines(pair), {0, pair, 2 * pair + 1}));
    done.pairs = pair + 1;
    done.events = done.events + 1;
  }
  ASSAY_TRY([[maybe_unused]] const std::string digest, archive.store_blob("output\n"));
  ASSAY_TRY_VOID(archive.sync());
  return archive.finalize("finished", Json::object(), []() -> Result<Json> {
    return Json{{"verdict", "PASS"}};
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3)
    return 1;
  const assay::Fd page(::open(argv[2], O_RDWR | O_CLOEXEC));
  void* const memory =
      ::mmap(nullptr, sizeof(Acknowledged), PROT_READ | PROT_WRITE, MAP_SHARED, page.get(), 0);
  if (memory == MAP_FAILED)
    return 1;
  const Result<void> written = write_archive(argv[1], *static_cast<Acknowledged*>(memory));
  if (written)
    return 0;
  std::fprintf(stderr, "%s\n", written.error().message().c_str());
  return written.error().code == assay::ErrorCode::not_persisted ? 3 : 1;
}
