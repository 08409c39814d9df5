// Commands of the pilot: rate of climb [ft/s], pitch and roll [rad], rate of turn [rad/s].
//
//   version 1   one command at a time, raised cosines a (1 - cos 2 pi (t - t0)/(t1 - t0)) / 2
//   version 2   climb in steps of 15 s; turn a sine, then steps of 10 s
//   version 3   climb a square wave, pitch a sine, turn one step
//   version 4   version 2 with edges of 3 s; turn a sine with a pause
//   version 5   everything at once; turn a square wave
//
// Every command is a smooth part and stairs; where the stairs change the jump is announced, so that
// extrapolation does not shoot over it. Own commands: those of S. Genser, thesis, Graz 2020, section
// 4.1, are not published; these keep what is known (times of climb, no jumps in version 1).
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "models/helicopter/helicopter.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { CLIMB, PITCH, ROLL, TURN, N_COMMANDS };

typedef struct pilot {
  double heave, pitch, roll, turn;
  double stairs[N_COMMANDS];  // of the commands above
  int64_t version;
} pilot;

#define COMMAND(member_, dim_, text_)                                                              \
  {                                                                                                \
    .name = #member_, .dim = (dim_), .text = (text_), .type = YOKE_REAL, .causality = YOKE_OUTPUT, \
    .offset = offsetof(pilot, member_)                                                             \
  }

// no dimension: those of the airframe have none either
static const yoke_variable variables[] = {
    COMMAND(heave, NULL, "rate of climb [ft/s]"),
    COMMAND(pitch, NULL, "attitude [rad]"),
    COMMAND(roll, NULL, "attitude [rad]"),
    COMMAND(turn, NULL, "rate of turn [rad/s]"),
    {.name = "version",
     .dim = "1",
     .text = "which commands, 1 to 5",
     .type = YOKE_INTEGER,
     .causality = YOKE_PARAMETER,
     .start = 1.0,
     .offset = offsetof(pilot, version)},
};

static const yoke_unit_info info = {
    .variables = variables,
    .n_variables = COUNT(variables),
    .flags = YOKE_UNIT_FLAT,
    .self_size = sizeof(pilot),
};

static const double pi = 3.14159265358979323846;

static double bump(double t, double t0, double t1, double a) {
  // a (1 - cos 2 pi (t - t0) / (t1 - t0)) / 2: smooth value and slope at both ends
  return t > t0 && t < t1 ? a * 0.5 * (1.0 - cos(2.0 * pi * (t - t0) / (t1 - t0))) : 0.0;
}

static double wave(double t, double period, double a) {
  return a * sin(2.0 * pi * t / period);
}

// Number of the interval that t lies in; a time that is a sum of steps may fall short of its start.
static long interval_of(double t, double length) {
  // 1e-9 of an interval forgives the rounding of summed times
  return lround(floor(t / length + 1e-9));
}

static bool is_within(double t, double from, double to) {
  return t >= from - 1e-9 * from && t < to - 1e-9 * to;
}

static double square(double t, double period, double a) {
  // first half of the period up, second half down
  return interval_of(t, 0.5 * period) % 2 == 0 ? a : -a;
}

static const double climb_steps[] = {1.0, 0.0, -1.0, 0.5, 0.0};

static double climb_step(long i) {
  return i < 0 ? 0.0 : climb_steps[i % (long)COUNT(climb_steps)];
}

static void command_1(double t, double smooth[]) {
  // one command after the other, with pauses of a second
  smooth[CLIMB] =
      bump(t, 1, 11, 1) + bump(t, 35, 45, -1) + bump(t, 81, 91, 1) + bump(t, 115, 125, -1);
  smooth[PITCH] = bump(t, 12, 22, 0.1) - bump(t, 92, 102, 0.1);
  smooth[ROLL] = bump(t, 23, 33, 0.1) - bump(t, 103, 113, 0.1);
  smooth[TURN] = bump(t, 46, 60, 0.1) - bump(t, 126, 140, 0.1);
}

static void command_2(double t, double smooth[], double stairs[]) {
  // climb: levels of 15 s; turn: a sine, then a square wave
  stairs[CLIMB] = climb_step(interval_of(t, 15));
  if (is_within(t, 10, 60)) {
    smooth[TURN] = wave(t, 20, 0.1);
  } else if (t >= 10) {
    stairs[TURN] = square(t - 60, 20, 0.1);
  }
}

static void command_3(double t, double smooth[], double stairs[]) {
  stairs[CLIMB] = square(t, 40, 0.5);
  smooth[PITCH] = wave(t, 30, 0.1);
  stairs[TURN] = is_within(t, 60, 100) ? 0.05 : 0.0;
}

static void command_4(double t, double smooth[]) {
  const long i = interval_of(t, 15);
  const double share = fmin((t - 15.0 * (double)i) / 3.0, 1.0);

  // level before, level after, and a raised cosine of 3 s between them
  smooth[CLIMB] = climb_step(i - 1) +
                  (climb_step(i) - climb_step(i - 1)) * 0.5 * (1.0 - cos(pi * fmax(share, 0.0)));
  smooth[TURN] = t >= 10 && !is_within(t, 60, 80) ? wave(t, 20, 0.1) : 0.0;
}

static void command_5(double t, double smooth[], double stairs[]) {
  smooth[CLIMB] = wave(t, 25, 0.5);
  smooth[PITCH] = wave(t, 31, 0.1);
  smooth[ROLL] = wave(t, 37, 0.1);
  stairs[TURN] = square(t, 20, 0.05);
}

static yoke_status refresh(void* self, double t) {
  pilot* p = self;
  double smooth[N_COMMANDS] = {0};
  memset(p->stairs, 0, sizeof p->stairs);
  switch (p->version) {
  case 2:
    command_2(t, smooth, p->stairs);
    break;
  case 3:
    command_3(t, smooth, p->stairs);
    break;
  case 4:
    command_4(t, smooth);
    break;
  case 5:
    command_5(t, smooth, p->stairs);
    break;
  default:
    command_1(t, smooth);
  }
  p->heave = smooth[CLIMB] + p->stairs[CLIMB];
  p->pitch = smooth[PITCH] + p->stairs[PITCH];
  p->roll = smooth[ROLL] + p->stairs[ROLL];
  p->turn = smooth[TURN] + p->stairs[TURN];
  return YOKE_OK;
}

static yoke_status enter_init(void* self, double t_start, double t_stop, const yoke_sink* sink) {
  const pilot* p = self;
  (void)t_stop;
  if (p->version < 1 || p->version > 5) {
    return yoke_fail(sink, YOKE_BAD_ARG, "version is %lld, expected 1 to 5", (long long)p->version);
  }
  return refresh(self, t_start);
}

static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  pilot* p = self;
  (void)t;
  (void)h;
  double before[N_COMMANDS];
  memcpy(before, p->stairs, sizeof before);
  YOKE_TRY(refresh(self, result->t_reached));
  for (size_t i = 0; i < N_COMMANDS; i++) {
    result->flags |= p->stairs[i] != before[i] ? YOKE_STEP_EVENT_NEEDED : 0;
  }
  return YOKE_OK;
}

const yoke_unit_ops yoke__model_helicopter_pilot = {
    .name = "helicopter.pilot",
    .text = "commands of a pilot over time",
    .info = &info,
    .enter_init = enter_init,
    .step = step,
    .refresh = refresh,
};
