/* Programs that do odd things with memory, by name: the subjects of check_alloc.py. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

/* The C library's own entry points, past every interposed one. */
void* __libc_malloc(size_t size);
void __libc_free(void* block);

/* Not constants to the compiler, which would warn of what is tried here. */
static volatile size_t half = SIZE_MAX / 2;
static volatile size_t too_much = PTRDIFF_MAX;

static void* seen(void* block) {
  void* volatile keep = block;
  return keep;
}

static int many(void) {
  enum { COUNT = 1000000 };
  void** blocks = seen(malloc(COUNT * sizeof(void*)));
  for (size_t i = 0; i < COUNT; ++i)
    blocks[i] = malloc(16 + i % 32);
  for (size_t i = 0; i < COUNT; i += 2) /* every other one first: gaps in the table */
    free(blocks[i]);
  for (size_t i = 1; i < COUNT; i += 2)
    free(blocks[i]);
  free(blocks);
  return 0;
}

static int edges(void) {
  free(NULL);
  void* block = seen(realloc(NULL, 10));
  if (realloc(block, 0) != NULL)
    return 1;
  free(seen(malloc(0)));
  errno = 0;
  if (seen(malloc(too_much)) != NULL || errno != ENOMEM) /* not an allocation */
    return 1;
  errno = 0;
  if (seen(calloc(half, 3)) != NULL || errno != ENOMEM)
    return 1;
  block = seen(malloc(50));
  errno = 0;
  if (seen(realloc(block, too_much)) != NULL || errno != ENOMEM) /* the block stays */
    return 1;
  if (seen(reallocarray(block, half, 3)) != NULL || errno != ENOMEM)
    return 1;
  if (posix_memalign(&block, 3, 10) != EINVAL) /* and so does the pointer */
    return 1;
  if (malloc_usable_size(block) < 50)
    return 1;
  errno = 7;
  free(block);
  if (errno != 7)
    return 1;
  for (size_t alignment = 16; alignment <= 4096; alignment *= 2) {
    void* aligned = aligned_alloc(alignment, alignment);
    if ((uintptr_t)aligned % alignment != 0)
      return 1;
    free(aligned);
  }
  free(seen(valloc(100)));
  free(seen(pvalloc(100)));
  return 0;
}

static void* sleeps(void* unused) {
  for (;;)
    pause();
  return unused;
}
static void* ends(void* unused) {
  free(seen(malloc(10)));
  return unused;
}
static void* exits(void* unused) {
  pthread_exit(unused);
}

static int threads_that_end(void) {
  pthread_t one;
  for (int i = 0; i < 50; ++i) {
    if (pthread_create(&one, NULL, i % 2 == 0 ? ends : exits, NULL) != 0)
      return 1;
    pthread_join(one, NULL);
  }
  if (pthread_create(&one, NULL, sleeps, NULL) != 0)
    return 1;
  pthread_cancel(one);
  pthread_join(one, NULL);
  return 0;
}

static int detached(void) {
  pthread_t one;
  if (pthread_create(&one, NULL, sleeps, NULL) != 0)
    return 1;
  return pthread_detach(one);
}

static int sleeps_as_thrd(void* unused) {
  sleeps(unused);
  return 0;
}
/* Not through pthread_create, as far as a preloaded library can see. */
static int detached_thrd(void) {
  thrd_t one;
  if (thrd_create(&one, sleeps_as_thrd, NULL) != thrd_success)
    return 1;
  return thrd_detach(one) != thrd_success;
}

static volatile int stop;
static void* busy(void* unused) {
  while (!stop)
    free(seen(realloc(seen(malloc(10)), 1000)));
  return unused;
}

/* Forks again and again while other threads hold the meter's lock and the allocator's. */
static int forks(void) {
  pthread_t all[4];
  for (int i = 0; i < 4; ++i)
    pthread_create(&all[i], NULL, busy, NULL);
  int bad = 0;
  for (int i = 0; i < 200; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60); /* a child that hangs is seen by its parent */
      for (int j = 0; j < 100; ++j)
        free(seen(malloc(100)));
      return 0; /* main returns here too, in another process */
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
      bad = 1;
  }
  stop = 1;
  for (int i = 0; i < 4; ++i)
    pthread_join(all[i], NULL);
  return bad;
}

static int runs_a_program(char** argv) {
  const pid_t child = fork();
  if (child == 0) {
    execl(argv[0], argv[0], "edges", (char*)NULL);
    _exit(127);
  }
  int status = 1;
  return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

static int foreign(void) {
  void* block = seen(__libc_malloc(100));
  free(block); /* never allocated as far as the meter knows */
  block = seen(__libc_malloc(100));
  free(seen(realloc(block, 200)));
  return 0;
}

static int freed_behind(void) {
  void* block = seen(malloc(100));
  __libc_free(block);
  free(seen(malloc(100))); /* the same address again */
  return 0;
}

static int twice(void) {
  void* block = seen(malloc(100));
  free(block);
  free(seen(block));
  return 0;
}

/* A second program within the first: its return ends the process. */
int __libc_start_main(int (*start)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void* stack_end);
static int returns_at_once(int argc, char** argv, char** environment) {
  (void)argc, (void)argv, (void)environment;
  return 0;
}
static int overlap(int argc, char** argv) {
  return __libc_start_main(returns_at_once, argc, argv, NULL, NULL, NULL, &argc);
}

static void* early;
__attribute__((constructor)) static void before_main(void) {
  early = malloc(100);
  free(seen(malloc(50)));
}
static int earlier(void) {
  early = realloc(early, 300); /* a free of an earlier block, and an allocation of 300 bytes */
  free(seen(early));
  return 0;
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  if (strcmp(name, "many") == 0)
    return many();
  if (strcmp(name, "edges") == 0)
    return edges();
  if (strcmp(name, "ends") == 0)
    return threads_that_end();
  if (strcmp(name, "detached") == 0)
    return detached();
  if (strcmp(name, "detached_thrd") == 0)
    return detached_thrd();
  if (strcmp(name, "overlap") == 0)
    return overlap(argc, argv);
  if (strcmp(name, "forks") == 0)
    return forks();
  if (strcmp(name, "runs") == 0)
    return runs_a_program(argv);
  if (strcmp(name, "foreign") == 0)
    return foreign();
  if (strcmp(name, "freed_behind") == 0)
    return freed_behind();
  if (strcmp(name, "twice") == 0)
    return twice();
  if (strcmp(name, "earlier") == 0)
    return earlier();
  if (strcmp(name, "switch") == 0) {
    const char* value = getenv("ASSAY_ALLOC_PROFILE");
    return value == NULL || strcmp(value, "0") != 0;
  }
  if (strcmp(name, "returns") == 0)
    return 7;
  if (strcmp(name, "exit") == 0)
    exit(0);
  if (strcmp(name, "_exit") == 0)
    _exit(0);
  if (strcmp(name, "pthread_exit") == 0)
    pthread_exit(NULL);
  if (strcmp(name, "abort") == 0)
    abort();
  if (strcmp(name, "kill") == 0)
    raise(SIGKILL);
  if (strcmp(name, "trap") == 0)
    raise(SIGSEGV);
  fprintf(stderr, "no such subject: %s\n", name);
  return 2;
}
