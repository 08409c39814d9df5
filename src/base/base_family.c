// Descendants of a process. A process that forks twice and calls setsid leaves its group, its session and its parent; what it
// keeps is its environment, and an adopted parent: the nearest ancestor that is a subreaper.
#define _GNU_SOURCE
#include "base/base_family.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base_os.h"

#define MAX_ROUNDS  50
#define PAUSE_NS    2000000
#define STAT_SIZE   512
#define ENVIRONMENT 262144  // bytes that are looked at

typedef struct member {
  int pid, parent;
  uint64_t start;
  bool is_family;
  bool is_over;  // ended and not waited for
} member;

typedef struct family {
  member* all;
  size_t n, room;
} family;

static size_t read_file(int pid, const char* name, char* to, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  size_t n = 0;
  while (file >= 0 && n + 1 < size) {
    const ssize_t got = read(file, to + n, size - 1 - n);
    if (got <= 0) {
      break;
    }
    n += (size_t)got;
  }
  if (file >= 0) {
    close(file);
  }
  to[n] = '\0';
  return n;
}

static char* skip_field(char* at) {
  at += strspn(at, " ");
  return at + strcspn(at, " ");
}

// False: gone.
static bool read_member(int pid, member* to) {
  char text[STAT_SIZE];
  read_file(pid, "stat", text, sizeof text);
  const char* at = strrchr(text, ')');  // the name may hold anything
  if (at == NULL || at[1] == '\0') {
    return false;
  }
  // fields 3, 4, 20 and 22 of proc(5)
  at++;
  at += strspn(at, " ");
  const char state = *at;
  if (state == '\0') {
    return false;
  }
  char* end = NULL;
  at++;
  const int parent = (int)strtol(at, &end, 10);
  if (end == at) {
    return false;
  }
  for (int i = 5; i < 20; i++) {
    end = skip_field(end);
  }
  const long n_threads = strtol(end, &end, 10);
  at = skip_field(end);
  *to = (member){.pid = pid, .parent = parent, .start = strtoull(at, &end, 10)};
  // while other threads go on, a process whose first one has ended is alive, and the parent of its children
  to->is_over = (state == 'Z' || state == 'X') && n_threads <= 1;
  return end != at;
}

uint64_t yoke__family_start_time(int pid) {
  member m;
  return read_member(pid, &m) && !m.is_over ? m.start : 0;
}

static bool list_all(family* f) {
  DIR* folder = opendir("/proc");
  f->n = 0;
  if (folder == NULL) {
    return false;
  }
  bool is_good = true;
  for (const struct dirent* e = readdir(folder); e != NULL && is_good; e = readdir(folder)) {
    const int pid = (int)strtol(e->d_name, NULL, 10);
    if (f->n == f->room) {
      const size_t room = f->room == 0 ? 1024 : 2 * f->room;
      member* larger = realloc(f->all, room * sizeof *larger);
      is_good = larger != NULL;
      f->all = is_good ? larger : f->all;
      f->room = is_good ? room : f->room;
    }
    if (is_good && pid > 0 && read_member(pid, &f->all[f->n])) {
      f->n++;
    }
  }
  closedir(folder);
  return is_good;
}

static bool has_mark(int pid, const char* mark, char* room) {
  const size_t n = read_file(pid, "environ", room, ENVIRONMENT);
  for (size_t at = 0; at < n; at += strlen(room + at) + 1) {
    if (strcmp(room + at, mark) == 0) {
      return true;
    }
  }
  return false;
}

static bool is_child_of_family(const family* f, int parent) {
  for (size_t i = 0; i < f->n; i++) {
    if (f->all[i].pid == parent) {
      return f->all[i].is_family;
    }
  }
  return false;
}

static bool is_exempt(int pid) {
  char name[32];
  read_file(pid, "comm", name, sizeof name);
  name[strcspn(name, "\n")] = '\0';
  return strcmp(name, YOKE_FAMILY_EXEMPT) == 0;
}

// An exempt process may turn into another program that has no mark and another name: it is asked for its name first.
static void find_family(family* f, int root, const char* mark, uint64_t since, char* room) {
  for (size_t i = 0; i < f->n; i++) {
    member* m = &f->all[i];
    m->is_family =
        m->pid != root && m->pid != getpid() &&
        ((m->parent == root && root > 0) ||
         (mark != NULL && m->start >= since && !is_exempt(m->pid) && has_mark(m->pid, mark, room)));
  }
  for (bool is_grown = true; is_grown;) {
    is_grown = false;
    for (size_t i = 0; i < f->n; i++) {
      member* m = &f->all[i];
      if (!m->is_family && m->pid != root && m->pid != getpid() &&
          is_child_of_family(f, m->parent)) {
        m->is_family = is_grown = true;
      }
    }
  }
}

void yoke__family_end(int root, const char* mark, uint64_t since) {
  family f = {0};
  char* room = malloc(ENVIRONMENT);
  // a process whose parent ends while the list is made seems to be nobody's: one look that finds none is not enough
  int n_quiet = room == NULL ? 2 : 0;
  for (int round = 0; round < MAX_ROUNDS && n_quiet < 2 && list_all(&f); round++) {
    bool is_any = false;
    find_family(&f, root, mark, since, room);
    for (size_t i = 0; i < f.n; i++) {
      if (f.all[i].is_family && !f.all[i].is_over && !is_exempt(f.all[i].pid)) {
        kill(f.all[i].pid, SIGKILL);
        is_any = true;
      }
    }
    n_quiet = is_any ? 0 : n_quiet + 1;
    if (is_any) {
      yoke__os_sleep_ns(PAUSE_NS);
    }
  }
  free(room);
  free(f.all);
}
