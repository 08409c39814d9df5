#include "support/steering_loop.h"

#include <math.h>
#include <string.h>

#include "support/check.h"

#define H       STEERING_STEP
#define PI      3.14159265358979323846
#define WARM_UP 20
#define MOST    4000  // exchanges

typedef struct epas {
  double angle, w_column, a_motor, w_motor, x, v, z_column, z_rack, request, torque;
} epas;

typedef struct chassis {
  double x, d_wheel, w_wheel, alpha_f, alpha_r, v_y, yaw_rate;
} chassis;

static double friction(double v, double* z, double F_c, double F_s, double v_s, double s0,
                       double s1, double s2) {
  const double g = F_c + (F_s - F_c) * exp(-(v / v_s) * (v / v_s));
  const double next = (*z + H * v) / (1 + H * s0 * fabs(v) / g), rate = (next - *z) / H;
  *z = next;
  return s0 * next + s1 * rate + s2 * v;
}

static void step_epas(epas* e, double hands, double force, long n) {
  const double i_pinion = 0.0088, i_motor = 4.126e-4;
  const double bar = 143 * (e->angle - e->x / i_pinion) + 0.4 * (e->w_column - e->v / i_pinion);
  const double belt = 1.7 * (e->a_motor - e->x / i_motor) + 8e-4 * (e->w_motor - e->v / i_motor);
  if (n % 10 == 0) {
    e->request = fmin(fmax(0.25 * bar - 0.004 * e->w_motor, -5), 5);
  }
  const double at_column = friction(e->w_column, &e->z_column, 0.25, 0.35, 0.1, 40, 0.4, 0.02);
  const double at_rack = friction(e->v, &e->z_rack, 80, 110, 0.005, 4e5, 900, 150);
  e->torque += H * (e->request - e->torque) / 0.002;
  const double motor = (e->torque - belt) / 1.5e-4;
  e->w_column += H * (hands - bar - at_column) / 0.04;
  e->w_motor += H * motor;
  e->v += H * (bar / i_pinion + belt / i_motor - force - at_rack) / 3;
  e->angle += H * e->w_column;
  e->a_motor += H * e->w_motor;
  e->x += H * e->v;
}

static double force_of(const chassis* c, double v) {
  return 1.5e6 * (c->x - 0.14 * c->d_wheel) + 3000 * (v - 0.14 * c->w_wheel);
}

static void step_chassis(chassis* c, double v) {
  const double V = 19.444, l_f = 1.45, l_r = 1.53;
  const double front = -150e3 * c->alpha_f, rear = -190e3 * c->alpha_r;
  const double wheel = (0.14 * force_of(c, v) - 0.045 * front - 15 * c->w_wheel) / 3;
  const double slip_f = V / 0.6 * ((c->v_y + l_f * c->yaw_rate) / V - c->d_wheel - c->alpha_f);
  const double slip_r = V / 0.6 * ((c->v_y - l_r * c->yaw_rate) / V - c->alpha_r);
  const double lateral = (front + rear) / 2100 - V * c->yaw_rate;
  const double yaw = (l_f * front - l_r * rear) / 4100;
  c->w_wheel += H * wheel;
  c->v_y += H * lateral;
  c->yaw_rate += H * yaw;
  c->x += H * v;
  c->d_wheel += H * c->w_wheel;
  c->alpha_f += H * slip_f;
  c->alpha_r += H * slip_r;
}

static double hands(steering_manoeuvre manoeuvre, double t) {
  static const double chirps[][3] = {{0}, {1.5, 0.1, 1}, {2, 0.5, 3}};
  if (manoeuvre == STEERING_M0) {
    return 2 * sin(2 * PI * t);
  }
  const double* c = chirps[manoeuvre];
  return c[0] * sin(2 * PI * (c[1] * t + (c[2] - c[1]) * t * t / 40));
}

static void record(steering_signals* to, size_t n, const epas* e, const chassis* c, double force) {
  const double x[STEERING_SIGNALS] = {e->angle, e->v, c->yaw_rate, c->v_y, force};
  for (size_t i = 0; i < STEERING_SIGNALS; i++) {
    to->x[i][n] = x[i];
    to->is_lost = to->is_lost || !(fabs(x[i]) < 1e6);
  }
}

static size_t count_steps(steering_manoeuvre manoeuvre) {
  return manoeuvre == STEERING_M0 ? 50000 : 200000;
}

void steering_loop_whole(steering_manoeuvre manoeuvre, steering_signals* to) {
  epas e = {0};
  chassis c = {0};
  *to = (steering_signals){.n = count_steps(manoeuvre)};
  for (size_t n = 0; n < to->n; n++) {
    const double v = e.v, force = force_of(&c, v);
    record(to, n, &e, &c, force);
    step_chassis(&c, v);
    step_epas(&e, hands(manoeuvre, (double)n * H), force, (long)n);
  }
}

// ---- models

typedef struct plain_rls {
  double theta[4], P[4][4];
} plain_rls;

static void start(plain_rls* r) {
  memset(r, 0, sizeof *r);
  for (int i = 0; i < 4; i++) {
    r->P[i][i] = 1e3;
  }
}

// g = P phi / (lambda + phi^T P phi), P := (P - g phi^T P) / lambda, theta += g (y - phi^T theta)
static void renew(plain_rls* r, double y, const double phi[4], double lambda) {
  double P_phi[4] = {0}, below = lambda, error = y;
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      P_phi[i] += r->P[i][j] * phi[j];
    }
    error -= phi[i] * r->theta[i];
  }
  for (int i = 0; i < 4; i++) {
    below += phi[i] * P_phi[i];
  }
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      r->P[i][j] = (r->P[i][j] - P_phi[i] * P_phi[j] / below) / lambda;
    }
    r->theta[i] += P_phi[i] / below * error;
  }
}

static double foretell(const plain_rls* r, double y1, double y2, double u1, double u2) {
  return -r->theta[0] * y1 - r->theta[1] * y2 + r->theta[2] * u1 + r->theta[3] * u2;
}

// Exchanges so far: 0 before the first.
typedef struct exchanged {
  double v[MOST], angle[MOST], x[MOST], sent[MOST], force[MOST];
} exchanged;

static double before(const double x[], long k) {
  return k >= 0 ? x[k] : 0;
}

static double weight_at(const steering_loop* loop, long k) {
  return loop->fade == 0 ? k >= WARM_UP
                         : fmin(fmax((double)(k - WARM_UP) / (double)loop->fade, 0), 1);
}

// Step (1) of 11.4: what is sent at exchange k.
static double send(const steering_loop* loop, plain_rls* model, double* D, const exchanged* s,
                   long k) {
  const double dt = loop->ratio * H;
  const double phi[4] = {-before(s->v, k - 1), -before(s->v, k - 2), before(s->angle, k - 1),
                         before(s->angle, k - 2)};
  if (k >= 2) {
    renew(model, s->v[k], phi, loop->forgetting);
  }
  double y1 = s->v[k], y2 = before(s->v, k - 1), u2 = before(s->angle, k - 1);
  for (int i = 0; i < loop->delay; i++) {
    const double y = foretell(model, y1, y2, s->angle[k], u2);
    y2 = y1;
    y1 = y;
    u2 = s->angle[k];
  }
  if (k >= loop->delay + 3) {
    *D += s->sent[k - loop->delay - 1] * dt - (s->x[k] - s->x[k - 1]);
  }
  return s->v[k] + weight_at(loop, k) * (y1 - s->v[k]) - loop->correction * *D / dt;
}

// Step (3): the force now and at the next exchange.
static void receive(const steering_loop* loop, plain_rls* model, const exchanged* s, long k,
                    double pair[2]) {
  const long j = k - loop->delay;
  pair[0] = pair[1] = before(s->force, j);
  if (!loop->is_foretold || j < 2) {
    return;
  }
  const double phi[4] = {-s->force[j - 1], -s->force[j - 2], s->v[j - 1], s->v[j - 2]};
  renew(model, s->force[j], phi, loop->forgetting);
  double y1 = s->force[j], y2 = s->force[j - 1], now = y1;
  for (long i = j; i <= k; i++) {
    const double y = foretell(model, y1, y2, s->v[i], s->v[i - 1]);
    now = y1;
    y2 = y1;
    y1 = y;
  }
  const double w = weight_at(loop, k), held = s->force[j];
  pair[0] = held + w * (now - held);
  pair[1] = held + w * (y1 - held);
}

void steering_loop_run(const steering_loop* loop, steering_manoeuvre manoeuvre,
                       steering_signals* to) {
  static exchanged s;
  epas e = {0};
  chassis c = {0};
  plain_rls at_sender, at_receiver;
  double D = 0;
  memset(&s, 0, sizeof s);
  start(&at_sender);
  start(&at_receiver);
  *to = (steering_signals){.n = count_steps(manoeuvre)};
  const long n_exchanges = (long)to->n / loop->ratio;
  assert_true(n_exchanges <= MOST);
  for (long k = 0; k < n_exchanges && !to->is_lost; k++) {
    s.v[k] = e.v;
    s.angle[k] = e.angle;
    s.x[k] = e.x;
    s.sent[k] = loop->is_foretold ? send(loop, &at_sender, &D, &s, k) : e.v;
    // step (2)
    const double v = before(s.sent, k - loop->delay);
    s.force[k] = force_of(&c, v);
    double pair[2];
    receive(loop, &at_receiver, &s, k, pair);
    for (long m = 0; m < loop->ratio; m++) {
      const long n = k * loop->ratio + m;
      record(to, (size_t)n, &e, &c, force_of(&c, v));
      step_chassis(&c, v);
      step_epas(&e, hands(manoeuvre, (double)n * H),
                pair[0] + (pair[1] - pair[0]) * (double)m / (double)loop->ratio, n);
    }
  }
}
