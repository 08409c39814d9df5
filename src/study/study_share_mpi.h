// MPI for shared studies. It lives in a companion library, `yoke-mpi.so`, which is built where MPI
// is there and loaded only in a process that mpirun has started with others: nobody else needs MPI.
// The companion exports one object, `yoke_mpi`.
#ifndef YOKE_STUDY_SHARE_MPI_H
#define YOKE_STUDY_SHARE_MPI_H

#include "study/study_share.h"

#define YOKE_MPI_VERSION 1  // of this interface
#define YOKE_MPI_SYMBOL  "yoke_mpi"

typedef struct yoke_mpi_api {
  int version;  // YOKE_MPI_VERSION
  // Starts MPI and fills link. False: it does not start. All calls come from one thread.
  bool (*open)(yoke_link* link);
  // After the last message of every rank.
  void (*close)(void);
} yoke_mpi_api;

// Ranks that mpirun (Open MPI or MPICH) says there are, 0 without mpirun, and which one this is.
int yoke__share_mpi_size(void);
int yoke__share_mpi_rank(void);
// Loads the companion and connects the ranks. A failure says why, and what to do.
yoke_status yoke__share_mpi_open(yoke_link* link, const yoke_mpi_api** api, const yoke_sink* sink);

#endif
