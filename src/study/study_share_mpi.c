// Finds and loads the companion with MPI; see study_share_mpi.h.
#include "study/study_share_mpi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "base/base_process.h"

#define COMPANION "yoke-mpi.so"
#define PATH_SIZE 4096

// The first variable that is there and a number from 0 on; else otherwise.
static int read_environment(const char* const names[2], int otherwise) {
  for (size_t i = 0; i < 2; i++) {
    const char* text = getenv(names[i]);
    int64_t number = 0;
    if (text != NULL && yoke__number_parse_integer(text, &number) && number >= 0 &&
        number < 1000000000) {
      return (int)number;
    }
  }
  return otherwise;
}

int yoke__share_mpi_size(void) {
  static const char* const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
  return read_environment(names, 0);
}

int yoke__share_mpi_rank(void) {
  static const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
  return read_environment(names, 0);
}

// MPI's own modules look for its functions among the global ones.
static void* load(const char* path) {
  return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

// In the build folder, then as installed, seen from the program and from the library. *fault: what
// is wrong with one that is there; it stays NULL if there is none.
static void* find_beside(const char** fault) {
  static const char* const places[] = {"", "../libexec/yoke/", "../../libexec/yoke/"};
  char folders[2][PATH_SIZE], path[PATH_SIZE + 64];
  yoke__process_directory(folders[0], PATH_SIZE);
  yoke__process_library_directory(folders[1], PATH_SIZE);
  for (size_t i = 0; i < 2 * YOKE_COUNT(places); i++) {
    const char* folder = folders[i % 2];
    snprintf(path, sizeof path, "%s/%s%s", folder, places[i / 2], COMPANION);
    if (folder[0] == '\0' || !yoke__os_is_file(path)) {
      continue;
    }
    void* library = load(path);
    if (library != NULL) {
      return library;
    }
    *fault = dlerror();
  }
  return NULL;
}

static void* find_library(const yoke_sink* sink) {
  const char* wanted = getenv("YOKE_MPI");
  if (wanted != NULL && wanted[0] != '\0') {
    void* library = load(wanted);
    if (library == NULL) {
      yoke_fail(sink, YOKE_BAD_INPUT, "YOKE_MPI does not name a usable file: %s", dlerror());
    }
    return library;
  }
  const char* fault = NULL;
  void* library = find_beside(&fault);
  if (library == NULL) {
    yoke_fail(sink, YOKE_BAD_INPUT,
              "several ranks need " COMPANION ", which %s%s; it is built where MPI is installed "
              "(Debian package libopenmpi-dev). Without it start yoke without mpirun: --jobs uses "
              "the processors of one machine",
              fault == NULL ? "was not found beside the program or in libexec/yoke"
                            : "cannot be loaded: ",
              fault == NULL ? "" : fault);
  }
  return library;
}

yoke_status yoke__share_mpi_open(yoke_link* link, const yoke_mpi_api** api, const yoke_sink* sink) {
  // never unloaded: MPI leaves handlers behind that run at the end of the process
  void* library = find_library(sink);
  if (library == NULL) {
    return YOKE_BAD_INPUT;
  }
  *api = dlsym(library, YOKE_MPI_SYMBOL);
  if (*api == NULL || (*api)->version != YOKE_MPI_VERSION) {
    return yoke_fail(sink, YOKE_BAD_INPUT, COMPANION " is of another version of Yoke");
  }
  if (!(*api)->open(link)) {
    return yoke_fail(sink, YOKE_IO, "MPI does not start");
  }
  // ranks that do not see each other would all do everything, into one folder
  if (link->size != yoke__share_mpi_size()) {
    (*api)->close();
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "mpirun has started %d ranks, but MPI connects %d: " COMPANION
                     " was built with another MPI than that of mpirun",
                     yoke__share_mpi_size(), link->size);
  }
  return YOKE_OK;
}
