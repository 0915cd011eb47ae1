/* assay-work ITERATIONS: a fixed amount of CPU work, the built-in subject of `assay calibrate`.
 * Prints the final state of its generator, so that every run's output can be checked. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  char* end = NULL;
  const unsigned long long n = argc == 2 ? strtoull(argv[1], &end, 10) : 0;
  if (argc != 2 || end == argv[1] || *end != '\0') {
    fprintf(stderr, "assay-work: expected one number of iterations\n");
    return 2;
  }
  /* A dependent chain: the compiler cannot shorten it and memory plays no part. */
  volatile uint64_t start = UINT64_C(0x9E3779B97F4A7C15);
  uint64_t x = start;
  for (unsigned long long i = 0; i < n; ++i)
    x = x * UINT64_C(6364136223846793005) + (x >> 33) + 1442695040888963407ULL;
  printf("%016llx\n", (unsigned long long)x);
  return 0;
}
