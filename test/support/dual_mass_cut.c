#include "support/dual_mass_cut.h"

#include <math.h>
#include <string.h>

#include "support/check.h"
#include "support/normal_noise.h"

static double draw(normal_noise* noise, double low, double high) {
  return low + (high - low) * (noise_even(noise) + 1) / 2;
}

cut_masses cut_draw(uint64_t* seed) {
  normal_noise noise = {.seed = *seed};
  cut_masses m = {.k1 = draw(&noise, 0, 1000), .kc = draw(&noise, 0, 1000)};
  m.k2 = draw(&noise, 0, 1000);
  m.m1 = draw(&noise, 0, 100);
  m.m2 = draw(&noise, 0, 100);
  m.d1 = 2 * draw(&noise, 0.3, 1.3) * sqrt(m.k1 * m.m1);
  m.d2 = 2 * draw(&noise, 0.3, 1.3) * sqrt(m.k2 * m.m2);
  m.dc = 2 * draw(&noise, 0.3, 1.3) * sqrt(m.kc * m.m1 * m.m2 / (m.m1 + m.m2));
  *seed = noise.seed;
  return m;
}

static double outer_force(size_t k) {
  return (k >= 500 && k < 600) || (k >= 2500 && k < 2600) ? 1000 : 0;
}

typedef struct cut_states {
  double x1, v1, x2c, x2, v2;
} cut_states;

static void advance(cut_states* s, const cut_masses* m, double h, double v_in, double f_out,
                    double f_in, double outer) {
  const double a1 = (-m->k1 * s->x1 - m->d1 * s->v1 - f_out) / m->m1;
  const double a2 = (-m->k2 * s->x2 - m->d2 * s->v2 + f_in + outer) / m->m2;
  s->x1 += h * s->v1;
  s->x2c += h * v_in;
  s->x2 += h * s->v2;
  s->v1 += h * a1;
  s->v2 += h * a2;
}

static double joint_force(const cut_states* s, const cut_masses* m) {
  return m->kc * (s->x1 - s->x2) + m->dc * (s->v1 - s->v2);
}

void cut_whole(const cut_masses* m, cut_signals* to) {
  cut_states s = {0};
  for (size_t k = 0; k < CUT_N; k++) {
    const double f = joint_force(&s, m);
    to->v2[k] = s.v2;
    to->force[k] = f;
    advance(&s, m, CUT_STEP, s.v2, f, f, outer_force(k));
  }
}

// One signal on its way.
typedef struct cut_path {
  const cut_coupling* by;
  double samples[3];  // newest first
  yoke_synth_lead lead;
  yoke_synth_smoother smoother;
  double y, dy;  // of the Euler smoother
} cut_path;

static void send(cut_path* p, size_t k, double value) {
  if (p->by->method == CUT_ELEMENT) {
    value = yoke__synth_lead_step(p->by->element, &p->lead, value);
  }
  if (k % p->by->ratio == 0) {
    p->samples[2] = p->samples[1];
    p->samples[1] = p->samples[0];
    p->samples[0] = value;
  }
}

static double smooth(cut_path* p, double u) {
  if (p->by->euler_hz > 0) {
    const double w = 2 * 3.14159265358979323846 * p->by->euler_hz, y = p->y;
    p->y += CUT_STEP * p->dy;
    p->dy += CUT_STEP * (w * w * (u - y) - 2 * 0.7071 * w * p->dy);
    return y;
  }
  return yoke__synth_smoother_step(p->by->element, &p->smoother, u);
}

static double receive(cut_path* p, size_t k) {
  const double t = (double)(k % p->by->ratio) / (double)p->by->ratio, *s = p->samples;
  switch (p->by->method) {
  case CUT_FOH:
    return s[0] + t * (s[0] - s[1]);
  case CUT_SOH:
    return s[0] * (t + 1) * (t + 2) / 2 - s[1] * t * (t + 2) + s[2] * t * (t + 1) / 2;
  case CUT_ELEMENT:
    return smooth(p, s[0]);
  default:
    return s[0];
  }
}

// The two units and what travels between them.
typedef struct cut_pair {
  cut_states s;
  cut_path v, f;
  double v_in;
} cut_pair;

// Step k of length h; the force that was sent.
static double step_pair(cut_pair* p, const cut_masses* m, size_t k, double h, double outer) {
  cut_states* s = &p->s;
  send(&p->v, k, s->v2);
  const double v_before = p->v_in;
  p->v_in = receive(&p->v, k);
  const double spring = m->kc * (s->x1 - s->x2c);
  const double f_out = spring + m->dc * (s->v1 - p->v_in);
  const double f_sent = p->v.by->is_stale ? spring + m->dc * (s->v1 - v_before) : f_out;
  send(&p->f, k, f_sent);
  advance(s, m, h, p->v_in, f_out, receive(&p->f, k), outer);
  return f_sent;
}

void cut_run(const cut_masses* m, const cut_coupling* by, cut_signals* to) {
  cut_pair p = {.v = {.by = by}, .f = {.by = by}};
  for (size_t k = 0; k < CUT_N; k++) {
    to->v2[k] = p.s.v2;
    to->force[k] = step_pair(&p, m, k, CUT_STEP, outer_force(k));
  }
}

double cut_smooth_error(const cut_masses* m, const cut_coupling* by) {
  const double h = CUT_FINE_STEP;
  cut_pair p = {.v = {.by = by}, .f = {.by = by}};
  cut_states whole = {0};
  double largest = 0;
  for (size_t k = 0; (double)k * h < 5 + h / 2; k++) {
    const double outer = 10 * sin(2 * h * (double)k), f = joint_force(&whole, m);
    largest = fmax(largest, fabs(p.s.v2 - whole.v2));
    step_pair(&p, m, k, h, outer);
    advance(&whole, m, h, whole.v2, f, f, outer);
  }
  return largest;
}

double cut_rms(const double a[], const double b[]) {
  double sum = 0;
  for (size_t k = 0; k < CUT_N; k++) {
    sum += (a[k] - b[k]) * (a[k] - b[k]);
  }
  return sqrt(sum / CUT_N);
}

// ---- counts

static void judge(const cut_signals* whole, const cut_masses* m, const cut_coupling* coupling,
                  cut_counts* to) {
  static const double factors[] = {1.5, 3, 5, 10}, growths[] = {5, 10, 100, 1000};
  static cut_signals run;
  double v2[CUT_N_METHODS], force[CUT_N_METHODS], end[CUT_N_METHODS];
  double best_v2 = (double)INFINITY, best_force = (double)INFINITY;
  for (cut_method i = CUT_ZOH; i < CUT_N_METHODS; i++) {
    cut_coupling by = *coupling;
    by.method = i;
    cut_run(m, &by, &run);
    v2[i] = cut_rms(run.v2, whole->v2);
    force[i] = cut_rms(run.force, whole->force);
    end[i] = fabs(run.v2[CUT_N - 1]);
    // NaN loses against everything
    best_v2 = fmin(best_v2, v2[i]);
    best_force = fmin(best_force, force[i]);
  }
  for (cut_method i = CUT_ZOH; i < CUT_N_METHODS; i++) {
    for (size_t j = 0; j < 4; j++) {
      to->inaccurate[i][j] +=
          !(v2[i] <= factors[j] * best_v2 && force[i] <= factors[j] * best_force);
      to->unstable[i][j] += !(end[i] <= growths[j] * fabs(whole->v2[CUT_N - 1]));
    }
  }
}

void cut_count(size_t n_cases, uint64_t seed, const cut_coupling* coupling, cut_counts* to) {
  static cut_signals whole;
  memset(to, 0, sizeof *to);
  for (size_t i = 0; i < n_cases; i++) {
    const cut_masses m = cut_draw(&seed);
    cut_whole(&m, &whole);
    judge(&whole, &m, coupling, to);
  }
}
