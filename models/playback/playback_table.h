// The table that a playback plays: read, its settings applied, every cell checked.
#ifndef YOKE_MODELS_PLAYBACK_TABLE_H
#define YOKE_MODELS_PLAYBACK_TABLE_H

#include "base/base_csv.h"
#include "yoke/unit.h"

#define PLAYBACK_MAX_TEXT 4096  // bytes of a path, a column name or a cell of text

enum { INTERPOLATION_LINEAR, INTERPOLATION_HOLD };
enum { END_HOLD, END_STOP, END_REPEAT };
enum { GAPS_REFUSE, GAPS_HOLD };

// What create gathers before it knows the size of the unit.
typedef struct playback_table {
  const char* file;
  char path[2 * PLAYBACK_MAX_TEXT];  // of the file
  const char* time;
  const yoke_argument* columns;
  int64_t interpolation, end, gaps;
  double offset;
  char* bytes;  // of the file
  size_t n_bytes;
  yoke_csv csv;
  yoke_type* types;    // of the columns; real if no setting names them
  const char** items;  // of all enumerations, n_items and a NULL; in the arena of the table
  size_t n_items;
  void** cells;    // of the columns that are not real: n_rows wholes or texts, in that arena, too
  size_t* chosen;  // indices of the columns to play
  size_t n_chosen, time_index;
} playback_table;

// Failures go to the sink with file, line and column. What was read is the caller's to free in any case.
yoke_status yoke__playback_read(const yoke_unit_args* args, playback_table* p,
                                const yoke_sink* sink);
// Without what was moved out of it: a member that is zero is nobody's.
void yoke__playback_free(playback_table* p);
// The cell is an empty one, or a number that says nan. Texts have no gaps.
bool yoke__playback_is_gap(const playback_table* p, size_t index, size_t row);

#endif
