// assay-launch: starts, times and ends the programs that assay measures. docs/design/launcher.md
#include "launch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char** argv) {
  using namespace assay::process::launch;
  struct stat control;
  const bool started_by_assay = fstat(kSocket, &control) == 0 && S_ISSOCK(control.st_mode);
  if (started_by_assay && argc == 3 && strcmp(argv[1], "guard") == 0)
    return guard_main(argv[2]);
  if (started_by_assay && argc == 4 && strcmp(argv[1], "worker") == 0)
    return worker_main(atoi(argv[2]), argv[3]);
  constexpr char kText[] = "assay-launch: started by assay, of no use by itself; run assay\n";
  [[maybe_unused]] const ssize_t written = write(2, kText, sizeof kText - 1);
  return 2;
}
