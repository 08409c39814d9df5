// Zip archives: read with distrust, written whole. libzip does the work; this file adds the rules.
//
// Opening checks the whole directory of the archive: the number of entries, every name (no absolute names, no "..", no
// drive letters, no control characters, no two files with one name; a folder may be listed again), no links or devices, sizes and
// packing ratios within the limits below. Reading checks lengths and CRC.
#ifndef YOKE_BASE_ZIP_H
#define YOKE_BASE_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yoke/message.h"
#include "yoke/status.h"

#define YOKE_ZIP_MAX_ENTRIES 100000
#define YOKE_ZIP_MAX_SIZE    (UINT64_C(8) << 30)   // of all entries unpacked
#define YOKE_ZIP_FREE_SIZE   (UINT64_C(64) << 20)  // below this much no ratio is asked for
#define YOKE_ZIP_MAX_RATIO   200                   // unpacked : packed, of the whole archive

typedef struct yoke_zip yoke_zip;

typedef struct yoke_zip_entry {
  const char* name;  // a folder ends in '/'; "" is the folder that all others are in
  uint64_t size;     // unpacked
  bool is_directory;
} yoke_zip_entry;

// YOKE_BAD_INPUT, or YOKE_IO if there is no such file. Messages about the content, here and below, carry the path of the
// archive as their file.
yoke_status yoke__zip_open(const char* path, yoke_zip** out, const yoke_sink* sink);
// The same for bytes, which must live as long as the archive.
yoke_status yoke__zip_open_memory(const void* bytes, size_t n, yoke_zip** out,
                                  const yoke_sink* sink);
void yoke__zip_close(yoke_zip** zip);

size_t yoke__zip_count(const yoke_zip* zip);
const yoke_zip_entry* yoke__zip_entry(const yoke_zip* zip, size_t i);
// Index of the entry with this very name, or (size_t)-1.
size_t yoke__zip_find(const yoke_zip* zip, const char* name);

// One entry, NUL behind it, malloc'ed. Refuses more than max_size bytes.
yoke_status yoke__zip_read(yoke_zip* zip, size_t i, size_t max_size, char** bytes, size_t* n,
                           const yoke_sink* sink);
// All entries whose names begin with prefix ("" takes all) into an existing directory, with their folders. Files get mode
// 0644, or 0755 where the archive says executable. Nothing existing is overwritten or followed.
yoke_status yoke__zip_extract(yoke_zip* zip, const char* prefix, const char* directory,
                              const yoke_sink* sink);

// Writing: entries go into a temporary file beside path, finish gives it its name. Entries carry a fixed date, so that
// the same content gives the same bytes.
typedef struct yoke_zip_writer yoke_zip_writer;
yoke_status yoke__zip_create(const char* path, yoke_zip_writer** out, const yoke_sink* sink);
yoke_status yoke__zip_add(yoke_zip_writer* writer, const char* name, const void* bytes, size_t n,
                          const yoke_sink* sink);
yoke_status yoke__zip_add_file(yoke_zip_writer* writer, const char* name, const char* path,
                               const yoke_sink* sink);
// Entry i of another archive, packed as it is there; `from` must stay open until the writer is finished.
yoke_status yoke__zip_copy(yoke_zip_writer* writer, const char* name, yoke_zip* from, size_t i,
                           const yoke_sink* sink);
// Finishes and frees the writer in any case.
yoke_status yoke__zip_finish(yoke_zip_writer** writer, const yoke_sink* sink);
void yoke__zip_abandon(yoke_zip_writer** writer);

#endif
