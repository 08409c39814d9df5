# Netlists and a driver that the tests of `yoke export --c` share.

# a thermal network that starts away from rest, an RLC circuit, a ladder of 20 loops
write_netlists() {
  cat >warm.cir <<'CIR'
A core, its case and two coolants
.input q=50 W
.input t_air=290 K
heat_source Q1 core {q}
heat_capacity C1 core 20 J/K T0=350
thermal_resistance R1 core case 0.5 K/W
heat_capacity C2 case 100 J/K T0=300
thermal_resistance R2 case air 1 K/W
thermal_resistance R3 case water 2 K/W
temperature_source Ta air {t_air}
temperature_source Tw water 280
.output t(core)
.output t(case)
.output i(r3) name=into_water
.yoke method=esdirk4 step=10m
.tran 1 100 uic
.end
CIR
  cat >rlc.cir <<'CIR'
RLC with a constant source
.input u=2 V
V1 2 0 {u}
R1 2 3 10
L1 3 0 100m IC=0.5
C1 3 0 40m IC=1
C2 3 0 20m IC=1
.output v(3)
.output i(l1)
.output i(c1)
.yoke method=esdirk4 step=100u
.tran 10m 1 uic
.end
CIR
  {
    printf 'Ladder of 20 RLC loops\n.input u=1 V\nV1 2 0 {u}\n'
    for i in $(seq 20); do
      from=$((i == 1 ? 2 : 2 * i - 1))
      printf 'R%d %d %d 10\nL%d %d %d 100m IC=0\nC%d %d 0 100m IC=0\n' "$i" $from $((2 * i + 1)) "$i" $((2 * i + 1)) \
        $((2 * i + 2)) "$i" $((2 * i + 2))
    done
    printf '.output v(4)\n.output i(l1)\n.output v(42)\n.yoke method=esdirk4 step=100u\n.tran 10m 1 uic\n.end\n'
  } >ladder.cir
}

# driver NAME TYPE RAMP INPUT...: drive.h, which runs 100 steps with these inputs and hands every output to put()
write_driver() {
  local name=$1 type=$2 ramp=$3 inputs
  shift 3
  inputs=$(IFS=,; echo "$*")
  cat >drive.h <<C
#include "$name.h"
static void put($type value);
static void drive(void) {
  static const $type u[] = {$inputs};
  $type y[8];
  $name unit;
  ${name}_init(&unit);
  for (unsigned k = 0; k <= 100; k++) {
    ${name}_output(&unit, u, y);
    for (unsigned i = 0; i < (unsigned)${name^^}_N_OUTPUTS; i++) {
      put(y[i]);
    }
    ${name}_step(&unit, u$([ "$ramp" = yes ] && echo ", u"));
  }
}
C
}

# bits of a number, most significant first, as text of the driver
write_bits() {
  cat >bits.h <<'C'
static void put_text(const char* text);
static void put_bits(unsigned long long bits, unsigned n_digits) {
  char text[18];
  for (unsigned i = 0; i < n_digits; i++) {
    text[i] = "0123456789abcdef"[bits >> (4 * (n_digits - 1 - i)) & 15u];
  }
  text[n_digits] = '\n';
  text[n_digits + 1] = '\0';
  put_text(text);
}
static void put(NUMBER value) {
  union {
    NUMBER number;
    unsigned char bytes[sizeof(NUMBER)];
  } as = {value};
  unsigned long long bits = 0;
  for (unsigned i = sizeof(NUMBER); i-- > 0;) {
    bits = bits << 8 | as.bytes[i];
  }
  put_bits(bits, 2 * sizeof(NUMBER));
}
C
}
