// The layout of a zip archive, read from its bytes: which entry lies where. libzip reads archives well but does not say
// where entries lie, so that entries that share bytes (the cheapest way to a bomb) would pass.
//
//   | local header, name, extra | packed bytes | ... | central directory | [zip64 end record, locator] | end record |
//
// Facts from the PKWARE application note (APPNOTE 6.3.9, sections 4.3 and 4.5.3). Numbers are little-endian. Checked
// here: both headers of an entry agree in name and size, names keep the rules, entries do not overlap each other or the
// directory.
#include "base/base_zip_part.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define END_SIZE          22u
#define END64_SIZE        56u
#define LOCATOR_SIZE      20u
#define CENTRAL_SIZE      46u
#define LOCAL_SIZE        30u
#define MAX_COMMENT       65535u
#define MAX_DIRECTORY     (UINT64_C(128) << 20)  // 100000 entries of 1.3 kB
#define END_MARK          0x06054b50u
#define END64_MARK        0x06064b50u
#define LOCATOR_MARK      0x07064b50u
#define CENTRAL_MARK      0x02014b50u
#define LOCAL_MARK        0x04034b50u
#define IN_ZIP64          0xffffffffu
#define HAS_SIZES_BEHIND  0x0008u  // flag: sizes follow the packed bytes
#define ZIP64_EXTRA       0x0001u
#define LOCAL_HEADER_NAME (LOCAL_SIZE + YOKE_ZIP_MAX_NAME)

static uint32_t get16(const unsigned char* at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static uint32_t get32(const unsigned char* at) {
  return get16(at) | get16(at + 2) << 16;
}

static uint64_t get64(const unsigned char* at) {
  return get32(at) | (uint64_t)get32(at + 4) << 32;
}

static yoke_status refuse_archive(const yoke_sink* sink, const char* what) {
  return yoke_fail(sink, YOKE_BAD_INPUT, "%s", what);
}

// n bytes at offset; false if they are not there
static bool read_at(zip_source_t* source, uint64_t offset, void* to, size_t n) {
  if (offset > INT64_MAX || zip_source_seek(source, (zip_int64_t)offset, SEEK_SET) != 0) {
    return false;
  }
  char* at = to;
  while (n > 0) {
    const zip_int64_t done = zip_source_read(source, at, n);
    if (done <= 0) {
      return false;
    }
    at += done;
    n -= (size_t)done;
  }
  return true;
}

// where the directory lies and how many entries it claims
typedef struct directory {
  uint64_t offset, size, n_entries;
  uint64_t end;  // first byte of the end records: the directory ends before it
} directory;

// The 64-bit end record takes the place of the short one where that overflows.
static yoke_status read_end64(zip_source_t* source, uint64_t end, directory* dir,
                              const yoke_sink* sink) {
  unsigned char locator[LOCATOR_SIZE], record[END64_SIZE];
  if (end < LOCATOR_SIZE || !read_at(source, end - LOCATOR_SIZE, locator, sizeof locator) ||
      get32(locator) != LOCATOR_MARK) {
    return YOKE_OK;
  }
  const uint64_t at = get64(locator + 8);
  if (at > end - LOCATOR_SIZE || !read_at(source, at, record, sizeof record) ||
      get32(record) != END64_MARK) {
    return refuse_archive(sink, "the 64-bit end record of the archive is damaged");
  }
  *dir = (directory){get64(record + 48), get64(record + 40), get64(record + 32), at};
  return YOKE_OK;
}

// The last end record whose comment fits into the archive.
static yoke_status find_directory(zip_source_t* source, uint64_t archive_size, directory* dir,
                                  const yoke_sink* sink) {
  const size_t n = archive_size < END_SIZE + MAX_COMMENT ? (size_t)archive_size
                                                         : (size_t)(END_SIZE + MAX_COMMENT);
  unsigned char* tail = malloc(n + 1);
  if (tail == NULL) {
    return yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  }
  size_t back = END_SIZE;  // from the end of the archive
  bool is_found = false;
  if (n >= END_SIZE && read_at(source, archive_size - n, tail, n)) {
    while (!is_found && back <= n) {
      const unsigned char* end = tail + n - back;
      is_found = get32(end) == END_MARK && get16(end + 20) <= back - END_SIZE;
      back += is_found ? 0 : 1;
    }
  }
  if (!is_found) {
    free(tail);
    return refuse_archive(sink, "not a zip archive, or cut short: its end record is missing");
  }
  const unsigned char* end = tail + n - back;
  *dir = (directory){get32(end + 16), get32(end + 12), get16(end + 10), archive_size - back};
  const bool is_split = get16(end + 4) != get16(end + 6) || get16(end + 8) != get16(end + 10);
  free(tail);
  return is_split ? refuse_archive(sink, "the archive is split over several files")
                  : read_end64(source, dir->end, dir, sink);
}

// sizes and offset that did not fit into 32 bits stand in an extra field, in this order
static void read_zip64_extra(const unsigned char* extra, size_t n, yoke_zip_record* record) {
  uint64_t* const wide[] = {&record->size, &record->packed, &record->begin};
  while (n >= 4) {
    const size_t length = get16(extra + 2);
    if (length > n - 4) {
      return;  // padding of sloppy writers; nothing of ours
    }
    const unsigned char *at = extra + 4, *end = at + length;
    for (size_t i = 0; get16(extra) == ZIP64_EXTRA && i < 3; i++) {
      if (*wide[i] == IN_ZIP64 && end - at >= 8) {
        *wide[i] = get64(at);
        at += 8;
      }
    }
    extra += 4 + length;
    n -= 4 + length;
  }
}

// The local header must tell the same story: some programs read only those.
static yoke_status check_local(zip_source_t* source, const unsigned char* name, size_t n_name,
                               const directory* dir, yoke_zip_record* record,
                               const yoke_sink* sink) {
  const char* text = (const char*)name;
  unsigned char local[LOCAL_HEADER_NAME];
  if (record->begin >= dir->offset || !read_at(source, record->begin, local, LOCAL_SIZE + n_name) ||
      get32(local) != LOCAL_MARK) {
    return yoke__zip_fail(sink, YOKE_BAD_INPUT, text, n_name, "its local header is missing");
  }
  if (get16(local + 26) != n_name || memcmp(local + LOCAL_SIZE, name, n_name) != 0) {
    return yoke__zip_fail(sink, YOKE_BAD_INPUT, text, n_name, "its local header has another name");
  }
  const uint32_t packed = get32(local + 18), size = get32(local + 22);
  const bool is_told = (get16(local + 6) & HAS_SIZES_BEHIND) == 0 && packed != IN_ZIP64 &&
                       size != IN_ZIP64 && (packed != 0 || size != 0);
  if (is_told && (packed != record->packed || size != record->size)) {
    return yoke__zip_fail(sink, YOKE_BAD_INPUT, text, n_name,
                          "its local header says %lu bytes, the directory %llu",
                          (unsigned long)size, (unsigned long long)record->size);
  }
  const uint64_t data = record->begin + LOCAL_SIZE + n_name + get16(local + 28);
  if (data > dir->offset || record->packed > dir->offset - data) {
    return yoke__zip_fail(sink, YOKE_BAD_INPUT, text, n_name,
                          "runs into the directory of the archive, or the archive is cut short");
  }
  record->end = data + record->packed;
  return YOKE_OK;
}

// One directory entry at bytes[0..n-1]; *used tells its length.
static yoke_status read_record(zip_source_t* source, const unsigned char* bytes, size_t n,
                               const directory* dir, yoke_zip_record* record, size_t* used,
                               const yoke_sink* sink) {
  if (n < CENTRAL_SIZE || get32(bytes) != CENTRAL_MARK) {
    return refuse_archive(sink, "the directory of the archive is damaged");
  }
  const size_t n_name = get16(bytes + 28), n_extra = get16(bytes + 30);
  *used = CENTRAL_SIZE + n_name + n_extra + get16(bytes + 32);
  if (*used > n) {
    return refuse_archive(sink, "the directory of the archive is cut short");
  }
  const unsigned char* name = bytes + CENTRAL_SIZE;
  YOKE_TRY(yoke__zip_check_name((const char*)name, n_name, sink));
  record->n_name = (uint32_t)n_name;
  record->crc = get32(bytes + 16);
  record->packed = get32(bytes + 20);
  record->size = get32(bytes + 24);
  record->begin = get32(bytes + 42);
  read_zip64_extra(name + n_name, n_extra, record);
  return check_local(source, name, n_name, dir, record, sink);
}

static int compare_begins(const void* left, const void* right) {
  const yoke_zip_record *a = left, *b = right;
  return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static int compare_ranks(const void* left, const void* right) {
  const yoke_zip_record *a = left, *b = right;
  return a->rank < b->rank ? -1 : a->rank > b->rank;
}

// sorted by place, each entry must end before the next begins
static yoke_status check_overlap(const unsigned char* bytes, yoke_zip_layout* layout,
                                 const yoke_sink* sink) {
  qsort(layout->records, layout->n, sizeof *layout->records, compare_begins);
  for (size_t i = 1; i < layout->n; i++) {
    const yoke_zip_record *a = &layout->records[i - 1], *b = &layout->records[i];
    if (a->end > b->begin) {
      char shown[YOKE_ZIP_SHOWN_SIZE];
      yoke__zip_shown((const char*)bytes + b->name_at, b->n_name, shown);
      return yoke__zip_fail(sink, YOKE_BAD_INPUT, (const char*)bytes + a->name_at, a->n_name,
                            "shares bytes with entry '%s'", shown);
    }
  }
  qsort(layout->records, layout->n, sizeof *layout->records, compare_ranks);
  return YOKE_OK;
}

static yoke_status read_records(zip_source_t* source, const directory* dir,
                                const unsigned char* bytes, yoke_zip_layout* layout,
                                const yoke_sink* sink) {
  size_t at = 0;
  for (size_t i = 0; i < layout->n; i++) {
    size_t used = 0;
    layout->records[i].rank = (uint32_t)i;
    YOKE_TRY(read_record(source, bytes + at, (size_t)dir->size - at, dir, &layout->records[i],
                         &used, sink));
    layout->records[i].name_at = (uint32_t)(at + CENTRAL_SIZE);
    at += used;
  }
  return check_overlap(bytes, layout, sink);
}

static yoke_status read_directory(zip_source_t* source, yoke_zip_layout* layout,
                                  const yoke_sink* sink) {
  directory dir = {0};
  YOKE_TRY(find_directory(source, layout->archive_size, &dir, sink));
  if (dir.n_entries > YOKE_ZIP_MAX_ENTRIES) {
    return yoke_fail(sink, YOKE_BAD_INPUT, "the archive has %llu entries, at most %d are accepted",
                     (unsigned long long)dir.n_entries, YOKE_ZIP_MAX_ENTRIES);
  }
  if (dir.offset > dir.end || dir.size > dir.end - dir.offset || dir.size > MAX_DIRECTORY ||
      dir.size / CENTRAL_SIZE < dir.n_entries) {
    return refuse_archive(sink, "the directory of the archive is damaged or cut short");
  }

  layout->n = (size_t)dir.n_entries;
  layout->records = calloc(layout->n + 1, sizeof *layout->records);
  unsigned char* bytes = malloc((size_t)dir.size + 1);
  yoke_status status = YOKE_OK;
  if (layout->records == NULL || bytes == NULL) {
    status = yoke_fail(sink, YOKE_NO_MEMORY, "out of memory");
  } else if (!read_at(source, dir.offset, bytes, (size_t)dir.size)) {
    status = refuse_archive(sink, "the directory of the archive cannot be read");
  } else {
    status = read_records(source, &dir, bytes, layout, sink);
  }
  free(bytes);
  return status;
}

yoke_status yoke__zip_layout_read(zip_source_t* source, yoke_zip_layout* layout,
                                  const yoke_sink* sink) {
  memset(layout, 0, sizeof *layout);
  zip_stat_t info;
  errno = 0;
  if (zip_source_open(source) != 0) {
    zip_error_t* error = zip_source_error(source);
    return yoke_fail(sink, yoke__zip_status(error, YOKE_IO), "cannot open: %s",
                     yoke__zip_error_text(error));
  }
  yoke_status status = YOKE_IO;
  if (zip_source_stat(source, &info) == 0 && (info.valid & ZIP_STAT_SIZE) != 0) {
    layout->archive_size = info.size;
    status = read_directory(source, layout, sink);
  } else {
    yoke_fail(sink, status, "the size of the archive is unknown");
  }
  zip_source_close(source);
  if (status < 0) {
    free(layout->records);
    layout->records = NULL;
  }
  return status;
}
