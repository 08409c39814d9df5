// SSP 1.0 (System Structure and Parameterization): an .ssp archive or a bare .ssd becomes the tree that a system file in
// YAML would have given, with the lines of the XML in its places. Everything behind the tree (--set, checks, messages) is
// the same. docs/ssp.md says what is read and how.
#ifndef YOKE_SCENARIO_SSP_H
#define YOKE_SCENARIO_SSP_H

#include "scenario/scenario_reader.h"

// The annotation that holds what SSP cannot say, as text in YAML.
#define YOKE_SSP_ANNOTATION "org.yoke.system"
// The default variant of an archive.
#define YOKE_SSP_MAIN "SystemStructure.ssd"

// Where files come from that an SSD names. Paths are relative to the folder of the first SSD.
typedef struct yoke_ssp_files {
  void* context;
  // A whole file, NUL behind it, malloc'ed.
  yoke_status (*read)(void* context, const char* path, char** bytes, size_t* n,
                      const yoke_sink* sink);
  // An entry of an archive (a resource of an FMU). NULL: cannot be done.
  yoke_status (*read_entry)(void* context, const char* path, const char* entry, char** bytes,
                            size_t* n, const yoke_sink* sink);
  // Unpacks another .ssp; folder receives where its entries are then ("../ssp-1/"). NULL: cannot be done.
  yoke_status (*unpack)(void* context, const char* path, char* folder, size_t size,
                        const yoke_sink* sink);
  const char* directory;  // in which FMUs are looked into for units and steps; NULL: they are not
  bool is_closed;         // an archive: no path may leave it
} yoke_ssp_files;

// What the first SSD is called.
typedef struct yoke_ssp_names {
  const char* path;    // relative to the folder: "SystemStructure.ssd"
  const char* source;  // in messages: "car.ssp/SystemStructure.ssd"
  const char* prefix;  // of other files in messages: "car.ssp/"
} yoke_ssp_names;

// Bytes of an SSD -> tree, in the arena of the reader. sets: the texts of --set, of which only the keys are looked at (a
// step that was given needs no guess). YOKE_BAD_INPUT: nothing could be made of it, messages say why. Other errors are
// only in messages.
yoke_status yoke__ssp_tree(const char* bytes, size_t n, const yoke_ssp_names* names,
                           const yoke_ssp_files* files, const char* const sets[], size_t n_sets,
                           yoke_reader* reader, yoke_node** root);

// Merges the tree of an annotation into that of the SSP: maps key by key, connections by their ends, all else replaces
// what was there. A law takes the place of the unit with its name.
void yoke__ssp_merge(yoke_reader* reader, yoke_node* root, const yoke_node* annotation);

// True if bytes start like an archive or like XML.
bool yoke__ssp_is_archive(const char* bytes, size_t n);
bool yoke__ssp_is_xml(const char* bytes, size_t n);
// True if the file is called .ssp and does not start like XML; also for "car.ssp#Variant.ssd".
bool yoke__ssp_is_archive_file(const char* path);
// An archive (bytes NULL: the file s->path) or the bytes of an SSD -> tree. Sets s->directory, and s->temp for an archive.
yoke_status yoke__ssp_read(yoke_scenario* s, const char* bytes, size_t n, const char* const sets[],
                           size_t n_sets, yoke_reader* reader, yoke_node** root);

#endif
