// What carries the datagrams of a port; see port_carrier.h.
#include "unit/port/port_carrier.h"

#include <stdlib.h>

#include "base/base_check.h"
#include "unit/port/port_shm.h"
#include "unit/port/port_udp.h"

// One kind of carrier. `self` is what its `open` made.
typedef struct carrier_ops {
  yoke_status (*open)(const char* bind, const char* peer, void** self, const yoke_sink* sink);
  void (*close)(void* self);
  const char* (*address)(const void* self);
  bool (*send)(void* self, const uint8_t bytes[], size_t n);
  size_t (*receive)(void* self, int64_t timeout_ns,
                    yoke_port_datagram out[YOKE_PORT_MOST_DATAGRAMS]);
  void (*adopt)(void* self, size_t i);
  void (*forget)(void* self);
  yoke_carrier_counts (*count)(const void* self);
  const char* (*trouble)(const void* self);  // NULL: never known
} carrier_ops;

struct yoke_carrier {
  const carrier_ops* ops;
  void* self;
};

// ---- sockets

static yoke_status udp_open(const char* bind, const char* peer, void** self,
                            const yoke_sink* sink) {
  yoke_udp* udp = NULL;
  const yoke_status status = yoke__udp_open(bind, peer, &udp, sink);
  *self = udp;
  return status;
}

static void udp_close(void* self) {
  yoke_udp* udp = self;
  yoke__udp_close(&udp);
}

static const char* udp_address(const void* self) {
  return yoke__udp_address(self);
}

static bool udp_send(void* self, const uint8_t bytes[], size_t n) {
  return yoke__udp_send(self, bytes, n);
}

static size_t udp_receive(void* self, int64_t timeout_ns,
                          yoke_port_datagram out[YOKE_PORT_MOST_DATAGRAMS]) {
  return yoke__udp_receive(self, timeout_ns, out);
}

static void udp_adopt(void* self, size_t i) {
  yoke__udp_adopt(self, i);
}

static void udp_forget(void* self) {
  yoke__udp_forget(self);
}

static yoke_carrier_counts udp_count(const void* self) {
  return yoke__udp_count(self);
}

// ---- shared memory: whoever is attached is the peer

static yoke_status shm_open_carrier(const char* bind, const char* peer, void** self,
                                    const yoke_sink* sink) {
  yoke_shm* shm = NULL;
  const yoke_status status = yoke__shm_open(bind, peer, &shm, sink);
  *self = shm;
  return status;
}

static void shm_close(void* self) {
  yoke_shm* shm = self;
  yoke__shm_close(&shm);
}

static const char* shm_address(const void* self) {
  return yoke__shm_address(self);
}

static bool shm_send(void* self, const uint8_t bytes[], size_t n) {
  return yoke__shm_send(self, bytes, n);
}

static size_t shm_receive(void* self, int64_t timeout_ns,
                          yoke_port_datagram out[YOKE_PORT_MOST_DATAGRAMS]) {
  return yoke__shm_receive(self, timeout_ns, out);
}

static void shm_adopt(void* self, size_t i) {
  (void)self;
  (void)i;
}

static void shm_forget(void* self) {
  (void)self;
}

static yoke_carrier_counts shm_count(const void* self) {
  return yoke__shm_count(self);
}

static const char* shm_trouble(const void* self) {
  return yoke__shm_trouble(self);
}

static const carrier_ops kinds[] = {
    [YOKE_CARRIER_UDP] = {udp_open, udp_close, udp_address, udp_send, udp_receive, udp_adopt,
                          udp_forget, udp_count, NULL},
    [YOKE_CARRIER_SHM] = {shm_open_carrier, shm_close, shm_address, shm_send, shm_receive,
                          shm_adopt, shm_forget, shm_count, shm_trouble},
};

// ---- all of them

yoke_status yoke__carrier_open(yoke_carrier_kind kind, const char* bind, const char* peer,
                               yoke_carrier** out, const yoke_sink* sink) {
  *out = NULL;
  if ((size_t)kind >= sizeof kinds / sizeof *kinds) {
    return YOKE_BAD_ARG;
  }
  yoke_carrier* carrier = calloc(1, sizeof *carrier);
  YOKE_TRY_MEMORY(carrier);
  carrier->ops = &kinds[kind];
  const yoke_status status = carrier->ops->open(bind, peer, &carrier->self, sink);
  if (status < 0) {
    free(carrier);
    return status;
  }
  *out = carrier;
  return YOKE_OK;
}

void yoke__carrier_close(yoke_carrier** carrier) {
  if (*carrier != NULL) {
    (*carrier)->ops->close((*carrier)->self);
  }
  free(*carrier);
  *carrier = NULL;
}

const char* yoke__carrier_address(const yoke_carrier* carrier) {
  return carrier->ops->address(carrier->self);
}

bool yoke__carrier_send(yoke_carrier* carrier, const uint8_t bytes[], size_t n) {
  return carrier->ops->send(carrier->self, bytes, n);
}

size_t yoke__carrier_receive(yoke_carrier* carrier, int64_t timeout_ns,
                             yoke_port_datagram out[YOKE_PORT_MOST_DATAGRAMS]) {
  return carrier->ops->receive(carrier->self, timeout_ns, out);
}

void yoke__carrier_adopt(yoke_carrier* carrier, size_t i) {
  carrier->ops->adopt(carrier->self, i);
}

void yoke__carrier_forget(yoke_carrier* carrier) {
  carrier->ops->forget(carrier->self);
}

yoke_carrier_counts yoke__carrier_count(const yoke_carrier* carrier) {
  return carrier->ops->count(carrier->self);
}

const char* yoke__carrier_trouble(const yoke_carrier* carrier) {
  return carrier->ops->trouble == NULL ? NULL : carrier->ops->trouble(carrier->self);
}
