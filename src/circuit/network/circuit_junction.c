// Junction law (docs/circuit.md, "Equations and signs"):
//
//   i = IS (exp(v / nVt) - 1) + gmin v,   below -bv: -IS exp(-(v + bv) / nVt) + gmin v
//
// where bv lies as far above -BV as it takes for the current to be IBV at -BV, as in SPICE.
// The exponential goes on as its tangent above v_linear. Newton's method recedes from forward bias by nVt per iteration;
// the logarithmic step of L. Nagel (SPICE2, 1975) avoids that.
//
// The charge q(v) is the integral of the depletion capacitance CJO (1 - v/VJ)^-M, continued beyond FC VJ as its tangent,
// plus TT times the current of both exponentials, gmin left out: breakdown stores charge as
// conduction does (ngspice 39).
#include "circuit/network/circuit_junction.h"

#include <math.h>

// exp(80) = 5e34: far beyond any current, far below overflow
#define LINEAR_FROM 80.0

// The voltage where the breakdown branch leaves -IS: bv = BV - nVt ln(IBV/IS + 1 - bv/nVt), by iteration.
static double breakdown_voltage(const yoke_junction_model* model, double nvt) {
  if (!(model->bv > 0.0) || isinf(model->bv)) {
    return (double)INFINITY;
  }
  double bv = model->bv;

  // IBV too small for the formula: the knee stays at BV
  if (model->ibv <= model->is * bv / nvt) {
    return bv;
  }

  // fixed point; 25 iterations as in SPICE
  for (int i = 0; i < 25; i++) {
    bv = model->bv - nvt * log(fmax(model->ibv / model->is + 1.0 - bv / nvt, 1.0));
  }
  return bv;
}

double yoke__junction_knee(const yoke_junction_model* model) {
  return breakdown_voltage(model, model->n * model->vt);
}

void yoke__junction_init(yoke_junction* self, const yoke_junction_model* model, double gmin) {
  const double nvt = model->n * model->vt;
  *self = (yoke_junction){
      .is = model->is,
      .nvt = nvt,
      // v_crit = nVt ln(nVt / (sqrt(2) IS)): point of the largest curvature of the characteristic
      .v_crit = nvt * log(nvt / (1.4142135623730951 * model->is)),
      .bv = breakdown_voltage(model, nvt),
      .gmin = gmin,
      .v_linear = LINEAR_FROM * nvt,
  };
}

void yoke__junction_evaluate(const yoke_junction* self, double v, double* i, double* g) {
  // exponential up to v_linear, its tangent from there on
  const double w = v > self->v_linear ? self->v_linear : v;
  if (v >= -self->bv) {
    const double e = exp(w / self->nvt);
    const double slope = self->is * e / self->nvt;
    // IS (e^{w/nVt} - 1) + tangent + gmin v
    *i = self->is * (e - 1.0) + slope * (v - w) + self->gmin * v;
    *g = slope + self->gmin;
    return;
  }

  // mirrored at -bv: -IS e^{x/nVt}, tangent beyond
  const double depth = -(v + self->bv);
  const double x = depth > self->v_linear ? self->v_linear : depth;
  const double e = exp(x / self->nvt);
  const double slope = self->is * e / self->nvt;
  *i = -self->is * e - slope * (depth - x) + self->gmin * v;
  *g = slope + self->gmin;
}

// The step from v_old to v_new on an exponential that rises with v: logarithmic where it is steep.
static double limit_forward(const yoke_junction* self, double v_new, double v_old) {
  const double nvt = self->nvt;

  // below v_crit, or for steps of up to two nVt, the exponential is mild
  if (v_new <= self->v_crit || fabs(v_new - v_old) <= 2.0 * nvt) {
    return v_new;
  }
  if (v_old <= 0.0) {
    // from reverse bias: straight to where the logarithm puts it
    return nvt * log(v_new / nvt);
  }

  // v_old + nVt ln(1 + (v_new - v_old) / nVt)
  const double x = 1.0 + (v_new - v_old) / nvt;
  return x > 0.0 ? v_old + nvt * log(x) : self->v_crit;
}

double yoke__junction_limit(const yoke_junction* self, double v_new, double v_old,
                            bool* is_limited) {
  // the breakdown branch is the forward one mirrored at -bv
  const double v = v_new < -self->bv
                       ? -(limit_forward(self, -(v_new + self->bv), -(v_old + self->bv)) + self->bv)
                       : limit_forward(self, v_new, v_old);
  *is_limited |= v != v_new;
  return v;
}

// TT (i, di/dv, d2i/dv2) of the exponentials, forward or in breakdown.
static double add_transit(const yoke_junction_model* model, double v, double* c, double* dc) {
  const double nvt = model->n * model->vt;
  const double bv = model->bv_knee > 0.0 ? model->bv_knee : breakdown_voltage(model, nvt);

  // breakdown: the forward exponential mirrored at -bv
  const bool is_broken = v < -bv;
  const double depth = is_broken ? -(v + bv) : v;
  const double w = depth > LINEAR_FROM * nvt ? LINEAR_FROM * nvt : depth;

  // TT IS e^{w/nVt} / nVt; beyond the linear part its slope is constant
  const double slope = model->tt * model->is * exp(w / nvt) / nvt;
  *c += slope;
  *dc += w < depth ? 0.0 : (is_broken ? -slope : slope) / nvt;

  // expm1: the charge near 0 V keeps its digits
  return is_broken ? -model->tt * model->is * exp(w / nvt) - slope * (depth - w)
                   : model->tt * model->is * expm1(w / nvt) + slope * (depth - w);
}

double yoke__junction_capacitance(const yoke_junction_model* model, double v, double* slope) {
  double c = 0.0;
  double dc = 0.0;
  if (model->cjo > 0.0) {
    const double v_fc = model->fc * model->vj;
    if (v < v_fc) {
      const double x = 1.0 - v / model->vj;
      // CJO x^-M and its derivative
      c = model->cjo * pow(x, -model->m);
      dc = c * model->m / (model->vj * x);
    } else {
      // tangent beyond FC VJ, as in SPICE
      // F2 = (1 - FC)^(1+M), F3 = 1 - FC (1 + M)
      const double f2 = pow(1.0 - model->fc, 1.0 + model->m);
      const double f3 = 1.0 - model->fc * (1.0 + model->m);
      c = model->cjo / f2 * (f3 + model->m * v / model->vj);
      dc = model->cjo / f2 * model->m / model->vj;
    }
  }
  if (model->tt > 0.0) {
    (void)add_transit(model, v, &c, &dc);
  }
  *slope = dc;
  return c;
}

bool yoke__junction_holds_charge(const yoke_junction_model* model) {
  return model->cjo > 0.0 || model->tt > 0.0;
}

// CJO VJ (1 - x^(1-M)) / (1 - M) with x = 1 - v/VJ; power: x^-M
static double depletion_charge(const yoke_junction_model* model, double x, double power) {
  // M = 1 gives a logarithm
  const double rest = 1.0 - model->m;
  return rest == 0.0 ? -model->cjo * model->vj * log(x)
                     : model->cjo * model->vj / rest * (1.0 - x * power);
}

static double add_depletion(const yoke_junction_model* model, double v, double* capacitance) {
  const double v_fc = model->fc * model->vj;
  const double w = v < v_fc ? v : v_fc;
  const double x = 1.0 - w / model->vj;
  const double power = pow(x, -model->m);
  const double c = model->cjo * power;
  // tangent of C beyond FC VJ, as in SPICE: a parabola of q
  const double slope = c * model->m / (model->vj * x);

  // C + C' (v - w)
  *capacitance += c + slope * (v - w);

  // q(FC VJ) + integral of the tangent
  return depletion_charge(model, x, power) + (v - w) * (c + 0.5 * slope * (v - w));
}

double yoke__junction_charge(const yoke_junction_model* model, double v, double* capacitance) {
  double q = 0.0;
  *capacitance = 0.0;
  if (model->cjo > 0.0) {
    q += add_depletion(model, v, capacitance);
  }
  if (model->tt > 0.0) {
    double slope = 0.0;
    q += add_transit(model, v, capacitance, &slope);
  }
  return q;
}
