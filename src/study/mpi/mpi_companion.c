// MPI behind the interface of study_share_mpi.h, built as `yoke-mpi.so` where MPI is there.
//
// Messages are looked for, not waited for: a blocking receive of most MPI libraries keeps a core
// busy, which a run could use. Errors end all ranks, as MPI does by default.
#include <stdlib.h>

#include <mpi.h>

#include "study/study_share_mpi.h"

#define TAG 1

static MPI_Comm comm;
static char host[MPI_MAX_PROCESSOR_NAME];

static void send_bytes(void* self, int to, const void* bytes, size_t n) {
  (void)self;
  MPI_Send(bytes, (int)n, MPI_BYTE, to, TAG, comm);
}

static bool look(void* self, int* from, size_t* n) {
  (void)self;
  int is_there = 0, count = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, TAG, comm, &is_there, &status);
  if (!is_there) {
    return false;
  }
  MPI_Get_count(&status, MPI_BYTE, &count);
  *from = status.MPI_SOURCE;
  *n = (size_t)count;
  return true;
}

static void receive(void* self, int from, void* bytes, size_t n) {
  (void)self;
  MPI_Recv(bytes, (int)n, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE);
}

static bool open_mpi(yoke_link* link) {
  int has = MPI_THREAD_SINGLE, n_host = 0;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &has) != MPI_SUCCESS) {
    return false;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Get_processor_name(host, &n_host);
  *link = (yoke_link){.host = host, .send = send_bytes, .look = look, .receive = receive};
  MPI_Comm_rank(comm, &link->rank);
  MPI_Comm_size(comm, &link->size);
  return true;
}

static void close_mpi(void) {
  MPI_Comm_free(&comm);
  MPI_Finalize();
}

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const yoke_mpi_api yoke_mpi;

const yoke_mpi_api yoke_mpi = {
    .version = YOKE_MPI_VERSION,
    .open = open_mpi,
    .close = close_mpi,
};
