/* A program whose allocations are known exactly: what the meter is held against before it is
 * believed.
 *
 *   assay-alloc-calibration            the numbers in docs/reference/allocation-profile.md
 *   assay-alloc-calibration empty      nothing
 *   assay-alloc-calibration threads N  8 threads, each N blocks of 32 bytes, freed again
 *   assay-alloc-calibration fork       a block, and a child that allocates on its own
 *
 * It prints nothing: stdio would allocate. Exit code 0, or 1 when an allocation failed. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, BLOCKS = 100 };

static int failed;

/* The compiler cannot know that the block is not used. */
static void* seen(void* block) {
  void* volatile keep = block;
  if (keep == NULL)
    failed = 1;
  return keep;
}

/* 107 blocks, of which 106 are freed again (one of them by realloc); 3 are resized. */
static void known_numbers(void) {
  void* blocks[BLOCKS];
  for (size_t i = 0; i < BLOCKS; ++i)
    blocks[i] = seen(malloc(i + 1)); /* 5,050 bytes */
  for (size_t i = 0; i < BLOCKS; ++i)
    free(blocks[i]);
  char* grown = seen(realloc(NULL, 100)); /* a malloc */
  grown = seen(realloc(grown, 1000));     /* + 900 */
  grown = seen(realloc(grown, 10));       /* no new bytes */
  free(grown);
  void* zeroed = seen(calloc(10, 20));         /* 200 */
  zeroed = seen(reallocarray(zeroed, 20, 20)); /* + 200 */
  if (realloc(zeroed, 0) != NULL)              /* a free */
    failed = 1;
  void* aligned = seen(aligned_alloc(64, 640));
  free(aligned);
  aligned = NULL;
  if (posix_memalign(&aligned, 256, 300) != 0)
    failed = 1;
  free(aligned);
  free(seen(memalign(128, 500)));
  free(seen(strdup("seven."))); /* 7 */
  free(NULL);
  seen(malloc(4000)); /* is still there when main returns */
}

static pthread_barrier_t barrier;

static void* work(void* argument) {
  const size_t count = *(const size_t*)argument;
  pthread_barrier_wait(&barrier); /* all alive at once: as many stacks on every run */
  for (size_t i = 0; i < count; ++i)
    free(seen(malloc(32)));
  return NULL;
}

static void threads(size_t count) {
  pthread_t all[THREADS];
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < THREADS; ++i)
    if (pthread_create(&all[i], NULL, work, &count) != 0)
      abort();
  for (int i = 0; i < THREADS; ++i)
    pthread_join(all[i], NULL);
}

static void with_child(void) {
  void* block = seen(malloc(100));
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < BLOCKS; ++i)
      seen(malloc(1000));
    return;
  }
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
    failed = 1;
  free(block);
}

int main(int argc, char** argv) {
  if (argc == 1)
    known_numbers();
  else if (argc == 3 && strcmp(argv[1], "threads") == 0)
    threads(strtoul(argv[2], NULL, 10));
  else if (argc == 2 && strcmp(argv[1], "fork") == 0)
    with_child();
  else if (argc != 2 || strcmp(argv[1], "empty") != 0)
    return 2;
  return failed;
}
