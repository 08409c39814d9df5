// Folders on the disk: names in them, absolute paths, sizes of files.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
#define _XOPEN_SOURCE 700

#include "fmi/fmi_folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_NAMES 10000  // of platforms and libraries there are few

static int compare_names(const void* left, const void* right) {
  const char *a = *(const char*const*)left, *b = *(const char*const*)right;
  return strcmp(a, b);
}

yoke_status yoke__fmi_folder_names(const char* path, yoke_arena* arena, const char*** names,
                                   size_t* n) {
  *n = 0;
  *names = NULL;
  DIR* folder = opendir(path);
  size_t room = 0;
  yoke_status status = YOKE_OK;
  const char** all = NULL;
  for (struct dirent* entry = folder == NULL ? NULL : readdir(folder);
       entry != NULL && *n < MAX_NAMES && status >= 0; entry = readdir(folder)) {
    if (entry->d_name[0] == '.') {
      continue;
    }
    if (*n == room) {
      room = room == 0 ? 16 : 2 * room;
      const char** grown = realloc(all, room * sizeof *all);
      status = grown == NULL ? YOKE_NO_MEMORY : YOKE_OK;
      all = grown == NULL ? all : grown;
    }
    const char* name =
        status < 0 ? NULL : yoke__arena_text(arena, entry->d_name, strlen(entry->d_name));
    if (name == NULL) {
      status = YOKE_NO_MEMORY;
      continue;
    }
    all[(*n)++] = name;
  }
  if (folder != NULL) {
    closedir(folder);
  }

  // the order of a disk is anybody's guess
  if (status >= 0 && *n > 0) {
    qsort(all, *n, sizeof *all, compare_names);
    *names = yoke__arena_array(arena, *n, sizeof *all);
    if (*names == NULL) {
      status = YOKE_NO_MEMORY;
    } else {
      memcpy(*names, all, *n * sizeof *all);
    }
  }
  free(all);
  return status;
}

const char* yoke__fmi_folder_real(const char* path, yoke_arena* arena) {
  char* found = realpath(path, NULL);
  if (found == NULL) {
    return NULL;
  }
  const char* kept = yoke__arena_text(arena, found, strlen(found));
  free(found);
  return kept;
}

uint64_t yoke__fmi_file_size(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
}
