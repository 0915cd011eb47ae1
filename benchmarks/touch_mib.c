/* touch_mib N: holds N MiB of touched memory for a moment. */
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  const size_t bytes = argc > 1 ? (size_t)atol(argv[1]) << 20 : 0;
  char* volatile p = malloc(bytes + 1);
  memset(p, 1, bytes);
  return p[bytes / 2] == 2;
}
