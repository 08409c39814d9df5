// The mailbox: values written from outside, by any thread, taken over before the next macro step.
//
// A bounded ring for many writers and one reader without locks (Vyukov): a writer takes a ticket, fills its cell and marks it
// with the ticket's number; the reader takes cells in order as far as they are marked. Nothing waits: a full ring is reported.
//
//   cell.turn == ticket          free for the writer with that ticket
//   cell.turn == ticket + 1      filled, the reader may take it
#include <string.h>

#include "master/master.h"

yoke_status yoke__master_layout_mail(yoke_state* state) {
  state->mail.cells = yoke__arena_array(&state->arena, YOKE_MAIL_SIZE, sizeof *state->mail.cells);
  for (size_t i = 0; state->mail.cells != NULL && i < YOKE_MAIL_SIZE; i++) {
    atomic_init(&state->mail.cells[i].turn, i);
  }
  return state->mail.cells == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

yoke_status yoke__master_post(yoke_state* state, const yoke_mail* mail) {
  uint64_t ticket = atomic_load_explicit(&state->mail.next, memory_order_relaxed);
  for (int attempt = 0; attempt < YOKE_MAIL_SIZE; attempt++) {
    yoke_mail_cell* cell = &state->mail.cells[ticket % YOKE_MAIL_SIZE];
    const uint64_t turn = atomic_load_explicit(&cell->turn, memory_order_acquire);
    if (turn < ticket) {
      return YOKE_FULL;
    }
    if (turn == ticket &&
        atomic_compare_exchange_weak_explicit(&state->mail.next, &ticket, ticket + 1,
                                              memory_order_relaxed, memory_order_relaxed)) {
      cell->mail = *mail;
      atomic_store_explicit(&cell->turn, ticket + 1, memory_order_release);
      return YOKE_OK;
    }
    if (turn > ticket) {
      ticket = atomic_load_explicit(&state->mail.next, memory_order_relaxed);
    }
  }
  return YOKE_FULL;
}

// ---- the reader

// All mail at hand, for the threads that units belong to.
typedef struct take_job {
  const yoke_system* system;
  yoke_mailbox* box;
  uint64_t end;              // behind the last ticket
  _Atomic uint64_t refused;  // first ticket that a unit refused; end: none
} take_job;

static yoke_mail* mail_at(const yoke_mailbox* box, uint64_t ticket) {
  return &box->cells[ticket % YOKE_MAIL_SIZE].mail;
}

yoke_status yoke__master_deliver(const yoke_unit* unit, const yoke_mail* mail) {
  const size_t size = yoke__variable_size(&unit->info->variables[mail->variable]);
  char room[YOKE_MAIL_ROOM];
  if (size == sizeof mail->bits) {
    return yoke__unit_set(unit, mail->variable, &mail->bits, size);
  }
  if (size > sizeof room) {
    return YOKE_FULL;
  }
  YOKE_TRY(yoke__unit_get(unit, mail->variable, room, size));
  memcpy(room + mail->element * sizeof mail->bits, &mail->bits, sizeof mail->bits);
  return yoke__unit_set(unit, mail->variable, room, size);
}

// What is not among the dense inputs, up to the first refusal; its status takes the place of the value.
static void set_on_thread(void* context, int thread) {
  take_job* job = context;
  for (uint64_t k = job->box->n_taken; k < job->end; k++) {
    yoke_mail* mail = mail_at(job->box, k);
    const yoke_system_unit* unit = &job->system->units[mail->unit];
    if (unit->thread != thread || unit->unit.dense[mail->variable] != YOKE_NOT_DENSE) {
      continue;
    }
    const yoke_status status = yoke__master_deliver(&unit->unit, mail);
    if (status < 0) {
      uint64_t first = atomic_load(&job->refused);
      mail->bits = status;
      while (k < first && !atomic_compare_exchange_weak(&job->refused, &first, k)) {
      }
      return;
    }
  }
}

static yoke_status refuse(const yoke_system* system, yoke_state* state, const yoke_mail* mail) {
  const yoke_variable* v = &system->units[mail->unit].unit.info->variables[mail->variable];
  return yoke__master_fail_unit(&state->failure, system, mail->unit, (yoke_status)mail->bits,
                                state->t, "the value written to '%s' was refused", v->name);
}

// The next value that waits; false: none.
static bool take_next(yoke_state* state, yoke_mail* mail) {
  yoke_mail_cell* cell = &state->mail.cells[state->mail.n_taken % YOKE_MAIL_SIZE];
  if (atomic_load_explicit(&cell->turn, memory_order_acquire) != state->mail.n_taken + 1) {
    return false;
  }
  *mail = cell->mail;
  atomic_store_explicit(&cell->turn, state->mail.n_taken + YOKE_MAIL_SIZE, memory_order_release);
  state->mail.n_taken++;
  return true;
}

// at most one round: writers may go on posting meanwhile
yoke_status yoke__master_take_mail(const yoke_system* system, yoke_state* state) {
  yoke_mailbox* box = &state->mail;
  uint64_t end = box->n_taken;
  bool has_typed = false, has_others = false;
  // at most one round: writers may go on posting meanwhile
  while (end - box->n_taken < YOKE_MAIL_SIZE &&
         atomic_load_explicit(&box->cells[end % YOKE_MAIL_SIZE].turn, memory_order_acquire) ==
             end + 1) {
    const yoke_mail* mail = mail_at(box, end);
    const yoke_system_unit* unit = &system->units[mail->unit];
    const size_t dense = unit->unit.dense[mail->variable];
    // by the clock one that may be at work takes its mail with its next step; what finds no room waits here
    const bool is_aside = unit->is_own && dense == YOKE_NOT_DENSE && state->pace != NULL;
    if (is_aside && !yoke__master_post_own(state, mail)) {
      break;
    }
    end++;
    if (dense != YOKE_NOT_DENSE) {
      memcpy(&state->u[unit->u + dense + mail->element], &mail->bits, sizeof mail->bits);
    } else if (!is_aside) {
      has_typed = true;
      has_others = has_others || unit->thread != 0;
    }
  }
  if (end > box->n_taken && state->t > system->t_start && state->ledger != NULL) {
    yoke__ledger_note_write(state->ledger);
  }
  take_job job = {system, box, end, end};
  if (has_others && state->pace != NULL) {
    yoke__pool_run_crew(system->pool, set_on_thread, &job);
  } else if (has_others) {
    yoke__pool_run(system->pool, set_on_thread, &job);
  } else if (has_typed) {
    set_on_thread(&job, 0);
  }
  const yoke_status status =
      job.refused < end ? refuse(system, state, mail_at(box, job.refused)) : YOKE_OK;
  for (; box->n_taken < end; box->n_taken++) {
    atomic_store_explicit(&box->cells[box->n_taken % YOKE_MAIL_SIZE].turn,
                          box->n_taken + YOKE_MAIL_SIZE, memory_order_release);
  }
  return status;
}

void yoke__master_drop_mail(yoke_state* state) {
  yoke_mail mail;
  for (int i = 0; i < YOKE_MAIL_SIZE && take_next(state, &mail); i++) {
  }
}
