// Runs a fuzz target over stored inputs, without a fuzzer: every file of the directories (or single files)
// given as arguments, in the order of their names. Each input lies in a block of exactly its size, so that
// AddressSanitizer sees a read behind its end. The name is printed before the input is run: when the
// process dies, the last line says which input did it.
//
// Exit status: 0 all inputs were run, 1 a file could not be read or there was none.
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

// The whole file in a block of its own, to be freed; NULL with errno set on failure.
static uint8_t* read_input(const char* path, size_t n) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    return NULL;
  }

  // an empty input still gets a valid pointer
  uint8_t* bytes = malloc(n > 0 ? n : 1);
  if (bytes != NULL && fread(bytes, 1, n, file) != n) {
    free(bytes);
    bytes = NULL;
    errno = EIO;
  }
  fclose(file);
  return bytes;
}

// Runs one file; 0, or 1 if it could not be read.
static int run_file(const char* path, size_t* n_runs) {
  struct stat info = {0};
  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) {
    fprintf(stderr, "no such file: %s\n", path);
    return 1;
  }
  const size_t size = (size_t)info.st_size;
  printf("%s (%zu bytes)\n", path, size);
  fflush(stdout);
  uint8_t* bytes = read_input(path, size);
  if (bytes == NULL) {
    fprintf(stderr, "cannot read %s: %s\n", path, strerror(errno));
    return 1;
  }
  LLVMFuzzerTestOneInput(bytes, size);
  free(bytes);
  ++*n_runs;
  return 0;
}

// Runs every file of a directory except hidden ones; returns the number of failures.
static int run_directory(const char* path, size_t* n_runs) {
  struct dirent** entries = NULL;
  const int n_entries = scandir(path, &entries, NULL, alphasort);
  if (n_entries < 0) {
    fprintf(stderr, "cannot list %s: %s\n", path, strerror(errno));
    return 1;
  }
  int n_failures = 0;
  for (int i = 0; i < n_entries; i++) {
    char inner[4096];
    const int length = snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
    if (length < 0 || (size_t)length >= sizeof inner) {
      fprintf(stderr, "name too long: %s/%s\n", path, entries[i]->d_name);
      n_failures++;
    } else if (entries[i]->d_name[0] != '.') {
      n_failures += run_file(inner, n_runs);
    }
    free(entries[i]);
  }
  free(entries);
  return n_failures;
}

int main(int argc, char** argv) {
  size_t n_runs = 0;
  int n_failures = 0;
  for (int i = 1; i < argc; i++) {
    struct stat info = {0};
    const int is_directory = stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode);
    n_failures += is_directory ? run_directory(argv[i], &n_runs) : run_file(argv[i], &n_runs);
  }
  printf("%zu inputs run, %d could not be read\n", n_runs, n_failures);

  // an empty corpus would be a check that cannot fail
  return n_runs > 0 && n_failures == 0 ? 0 : 1;
}
