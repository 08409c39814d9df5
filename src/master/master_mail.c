// The mailbox: values written from outside, by any thread, taken over before the next macro step.
//
// A bounded ring for many writers and one reader without locks (Vyukov): a writer takes a ticket, fills its cell and marks it
// with the ticket's number; the reader takes cells in order as far as they are marked. Nothing waits: a full ring is told.
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

typedef struct set_job {
  const yoke_system_unit* unit;
  const yoke_mail* mail;
  yoke_status status;
} set_job;

// On the thread that the unit belongs to.
static void set_on_thread(void* context, int thread) {
  set_job* job = context;
  if (thread != job->unit->thread) {
    return;
  }
  const yoke_unit* unit = &job->unit->unit;
  const size_t size = yoke__variable_size(&unit->info->variables[job->mail->variable]);
  char room[YOKE_MAIL_ROOM];
  if (size == sizeof job->mail->bits) {
    job->status = yoke__unit_set(unit, job->mail->variable, &job->mail->bits, size);
    return;
  }
  if (size > sizeof room) {
    job->status = YOKE_FULL;
    return;
  }
  job->status = yoke__unit_get(unit, job->mail->variable, room, size);
  if (job->status >= 0) {
    memcpy(room + job->mail->element * sizeof job->mail->bits, &job->mail->bits,
           sizeof job->mail->bits);
    job->status = yoke__unit_set(unit, job->mail->variable, room, size);
  }
}

static yoke_status apply(const yoke_system* system, yoke_state* state, const yoke_mail* mail) {
  const yoke_system_unit* unit = &system->units[mail->unit];
  const size_t dense = unit->unit.dense[mail->variable];
  if (dense != YOKE_NOT_DENSE) {
    memcpy(&state->u[unit->u + dense + mail->element], &mail->bits, sizeof mail->bits);
    return YOKE_OK;
  }
  set_job job = {.unit = unit, .mail = mail};
  yoke__pool_run(system->pool, set_on_thread, &job);
  return job.status >= 0 ? YOKE_OK
                         : yoke__master_fail_unit(&state->failure, system, mail->unit, job.status,
                                                  state->t, "the value written to '%s' was refused",
                                                  unit->unit.info->variables[mail->variable].name);
}

yoke_status yoke__master_take_mail(const yoke_system* system, yoke_state* state) {
  yoke_status status = YOKE_OK;
  // at most one round: writers may go on posting meanwhile
  for (int i = 0; i < YOKE_MAIL_SIZE && status >= 0; i++) {
    yoke_mail_cell* cell = &state->mail.cells[state->mail.n_taken % YOKE_MAIL_SIZE];
    if (atomic_load_explicit(&cell->turn, memory_order_acquire) != state->mail.n_taken + 1) {
      break;
    }
    const yoke_mail mail = cell->mail;
    atomic_store_explicit(&cell->turn, state->mail.n_taken + YOKE_MAIL_SIZE, memory_order_release);
    state->mail.n_taken++;
    status = apply(system, state, &mail);
  }
  return status;
}
