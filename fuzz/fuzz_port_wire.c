// Any bytes as the numbers of a foreign machine: no crash, only finite reals and sound booleans come out, and whole numbers go back as
// the same bytes. The first byte says how many signals there are, one byte each what they are, the rest is the datagram.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit/port/port_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

enum { MOST = 32 };

// Packs again what was unpacked.
static void check(const yoke_wire_signal signals[], size_t n, const uint8_t values[],
                  const uint8_t bytes[]) {
  for (size_t i = 0; i < n; i++) {
    uint8_t again[8];
    uint64_t n_clipped = 0;
    double real = 0;
    int64_t whole = 0;
    memcpy(&real, values + 8 * i, 8);
    memcpy(&whole, values + 8 * i, 8);
    if ((signals[i].type == YOKE_REAL && !isfinite(real)) ||
        (signals[i].type == YOKE_BOOLEAN && whole != 0 && whole != 1)) {
      abort();
    }
    const size_t size = yoke__wire_size(&signals[i], 1);
    yoke__wire_pack(&signals[i], 1, values + 8 * i, again, &n_clipped);
    if (signals[i].type == YOKE_INTEGER && (n_clipped > 0 || memcmp(again, bytes, size) != 0)) {
      abort();
    }
    bytes += size;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  yoke_wire_signal signals[MOST];
  uint8_t values[8 * MOST];
  const size_t n_signals = n == 0 ? 0 : bytes[0] % (MOST + 1);
  if (n < 1 + n_signals) {
    return 0;
  }
  for (size_t i = 0; i < n_signals; i++) {
    const uint8_t what = bytes[1 + i];
    const yoke_type type = (yoke_type)(what / 16 % 3);
    yoke_wire_type as = (yoke_wire_type)(what % 16 % YOKE_N_WIRES);
    as = type != YOKE_REAL && as <= YOKE_WIRE_F32 ? YOKE_WIRE_I64 : as;
    signals[i] = (yoke_wire_signal){type, as, what & 64 ? 1e-3 : -1e10, what & 128 ? 1e300 : 0};
  }
  const uint8_t* data = bytes + 1 + n_signals;
  if (n - 1 - n_signals < yoke__wire_size(signals, n_signals) ||
      !yoke__wire_unpack(signals, n_signals, data, values)) {
    return 0;
  }
  check(signals, n_signals, values, data);
  return 0;
}
