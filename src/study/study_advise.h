// Which settings would make a result better: a bounded trial of the admissible ones, each run with its companions and ranked
// by its error bands and its cost (docs/advise.md).
#ifndef YOKE_STUDY_ADVISE_H
#define YOKE_STUDY_ADVISE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base_arena.h"
#include "base/base_json.h"
#include "base/base_message.h"
#include "trust/trust.h"

#define YOKE_ADVISE_BUDGET 24.0  // runs of the cost of the given one; `auto` comes on top,
#define YOKE_ADVISE_AUTO   96.0  // up to this, where it calls units so often that it does not fit in
#define YOKE_ADVISE_NEAR                                                                           \
  1.5  // scores that count as equally good; what is better must be so by this

typedef struct yoke_advise_settings {
  const char* path;         // of the system
  const char* const* sets;  // "path=value" of the user, for all runs
  size_t n_sets;
  double
      budget;  // runs of the cost of the given one; 0: YOKE_ADVISE_BUDGET, or no limit with budget_s
  double budget_s;  // of wall time; 0: no limit
  double keep;      // scores up to this are judged in any case, not only those near the best
  bool (*goes_on)(void* to);  // asked now and then; NULL: always
  void (*progress)(void* to, size_t n_done, size_t n, const char* name);  // NULL: none
  void* to;
} yoke_advise_settings;

typedef enum yoke_advised_status {
  YOKE_ADVISED_LEFT_OUT,  // not run: the budget was used up
  YOKE_ADVISED_REFUSED,   // the system cannot be built that way
  YOKE_ADVISED_JUDGED,    // run with its companions
  YOKE_ADVISED_BOUNDED,   // run; its band is at least this, which is enough to drop it
  YOKE_ADVISED_SAME,      // run: the same bits as another setting
  YOKE_ADVISED_DIVERGES,  // run: grows without bound
  YOKE_ADVISED_FAILED,    // run: a unit failed or ended it
} yoke_advised_status;
extern const char* const yoke__advised_status_names[];

// One setting.
typedef struct yoke_advised {
  const char* name;         // for people: "nepce, exchange: fresh"
  const char* const* sets;  // besides those of the user
  size_t n_sets;
  double step;  // exchange interval [s]
  yoke_advised_status status;
  yoke_trust_mode mode;  // of its companions
  // its worst wanted signal
  double score;        // error over what is allowed; infinite if nothing is known
  const char* signal;  // NULL: none
  const char* dim;
  double band, band_max, relative;
  bool is_lossy;  // a flow gets lost, which its band does not show
  yoke_verdict verdict;
  char reason[320];
  double cost;    // calls of units that the run made, as a multiple of those of the given one
  uint64_t hash;  // of its samples
  size_t recipe;  // what it was made from
} yoke_advised;

typedef struct yoke_advice {
  yoke_arena arena;
  yoke_advised* all;  // the given setting first
  size_t n, n_room;
  size_t* ranked;  // those that were judged or bounded, best first
  size_t n_ranked;
  size_t chosen;      // 0: nothing that was tried is better; YOKE_NOT_FOUND: nothing is usable
  double spent;       // runs of the cost of the given one
  bool is_exhausted;  // settings were left out for lack of budget
  bool is_over;       // the given run and its companions alone cost more than the budget
  char text[640];     // the advice in a sentence or two
} yoke_advice;

// YOKE_BAD_INPUT with messages: the system cannot be read or run, or has nothing to judge. YOKE_INTERRUPTED: nothing is
// advised. *out is to be freed in any case.
yoke_status yoke__advise(const yoke_advise_settings* settings, yoke_advice* out,
                         const yoke_sink* sink);
void yoke__advise_free(yoke_advice* advice);
// How many settings besides the given one would be tried at its step, and about how many runs of the given cost that takes.
// Nothing is run.
yoke_status yoke__advise_count(const yoke_advise_settings* settings, size_t* n, double* cost);
// The cheapest setting that is trustworthy, or else the best one; YOKE_NOT_FOUND: nothing is usable.
size_t yoke__advise_cheapest(const yoke_advice* advice);

// All sets of a setting, those of the user first unless it replaces them; in `arena`, NULL if memory is out.
const char** yoke__advise_sets(const yoke_advise_settings* settings, const yoke_advised* setting,
                               yoke_arena* arena, size_t* n);
// A word behind a blank, in single quotes where a shell would change it.
void yoke__advise_append_word(yoke_text* to, const char* word);
// The same for the name of a file: one that begins like an option gets its folder.
void yoke__advise_append_path(yoke_text* to, const char* path);
// "yoke advise FILE --set ..."
void yoke__advise_search_command(const yoke_advise_settings* settings, yoke_text* to);
// The command that runs it, quoted for a shell: "yoke run FILE --set ...".
void yoke__advise_command(const yoke_advise_settings* settings, const yoke_advised* setting,
                          yoke_text* to);
void yoke__advise_json(const yoke_advise_settings* settings, const yoke_advice* advice,
                       yoke_json* json);

// ---- between the files of this folder: which settings there are

typedef struct yoke_advise_list {
  yoke_arena* arena;
  const yoke_advise_settings* settings;
  const yoke_system* system;  // the given one
  const yoke_companion_unit* units;
  // tells whether a system can be built so
  bool (*accepts)(void* to, const char* const sets[], size_t n);
  void* to;
} yoke_advise_list;

size_t yoke__advise_n_recipes(void);
// Setting `recipe` with its steps divided by `by` (a power of two; -2: doubled). False: it does not apply to this system, or
// no way to write it is accepted.
bool yoke__advise_make(const yoke_advise_list* list, size_t recipe, int by, yoke_advised* out);
// Whether it is `auto`, what a file gets that names nothing.
bool yoke__advise_is_auto(size_t recipe);
// Whether the given system has nothing to give back to `auto`, which serves it already.
bool yoke__advise_has_auto(const yoke_advise_list* list);

#endif
