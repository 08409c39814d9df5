// What the files of base_zip share: rules for names, the layout of an archive as its bytes tell it, and reading an entry
// piece by piece. Not for others.
#ifndef YOKE_BASE_ZIP_PART_H
#define YOKE_BASE_ZIP_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zip.h>

#include "base/base_arena.h"
#include "base/base_map.h"
#include "base/base_message.h"
#include "base/base_zip.h"

#define YOKE_ZIP_MAX_NAME   1024   // bytes of a name; Linux takes 4096 for a whole path
#define YOKE_ZIP_SHOWN_SIZE 128    // room for a name in a message
#define YOKE_ZIP_CHUNK      65536  // bytes unpacked at a time

struct yoke_zip {
  zip_t* archive;
  const char* path;  // NULL: from memory
  yoke_arena arena;
  yoke_map map;  // names without the slash of folders
  yoke_zip_entry* entries;
  bool* is_executable;
  size_t n;
  char chunk[YOKE_ZIP_CHUNK];
};

// The name with everything that is not plain ASCII as '?', cut if long: fit for a terminal.
const char* yoke__zip_shown(const char* name, size_t n, char to[YOKE_ZIP_SHOWN_SIZE]);
// Sends "entry 'NAME': ..." and returns the status.
yoke_status yoke__zip_fail(const yoke_sink* sink, yoke_status status, const char* name, size_t n,
                           const char* format, ...) YOKE_PRINTF(5, 6);
// The status of an error of libzip: a shortage where it was one, else `otherwise`. libzip does not always say that memory
// was out: set errno to 0 before a call whose errors come here.
yoke_status yoke__zip_status(const zip_error_t* error, yoke_status otherwise);
const char* yoke__zip_error_text(zip_error_t* error);
// What is sent to the sink returned is about the archive.
const yoke_sink* yoke__zip_context(yoke_context* context, const char* path, const yoke_sink* outer);
// The rules of base_zip.h for a name of n bytes.
yoke_status yoke__zip_check_name(const char* name, size_t n, const yoke_sink* sink);

// One entry as the central directory describes it.
typedef struct yoke_zip_record {
  uint64_t packed, size;  // bytes in the archive and unpacked
  uint64_t begin, end;    // local header up to the last packed byte, from the start of the archive
  uint32_t crc;
  uint32_t rank;             // position in the directory
  uint32_t name_at, n_name;  // bytes of the directory
} yoke_zip_record;

typedef struct yoke_zip_layout {
  yoke_zip_record* records;  // malloc'ed, in the order of the directory
  size_t n;
  uint64_t archive_size;
} yoke_zip_layout;

// Walks the directory and the local headers of a source that is not open. On failure nothing is left to free.
yoke_status yoke__zip_layout_read(zip_source_t* source, yoke_zip_layout* layout,
                                  const yoke_sink* sink);

// Unpacks entry i piece by piece, never more than the entry declares; checks length and CRC at its end.
typedef yoke_status (*yoke_zip_write)(void* context, const char* bytes, size_t n,
                                      const yoke_sink* sink);
yoke_status yoke__zip_stream(yoke_zip* zip, size_t i, yoke_zip_write write, void* context,
                             const yoke_sink* sink);

#endif
