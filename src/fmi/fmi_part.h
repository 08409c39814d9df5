// Which functions a binary must have, depending on the interface that is used.
//
// The lists of fmi1.h, fmi2.h and fmi3.h give each function a mask of these. All functions are looked up; one that is
// absent is a fault if its mask names the interface in use (or YOKE_FMI_COMMON) and does not say OPTIONAL. What is
// needed is what a run cannot do without, which is less than the standard asks of a binary.
#ifndef YOKE_FMI_PART_H
#define YOKE_FMI_PART_H

enum {
  YOKE_FMI_COMMON = 1u << 0,    // every interface
  YOKE_FMI_CS = 1u << 1,        // co-simulation
  YOKE_FMI_ME = 1u << 2,        // model exchange
  YOKE_FMI_SE = 1u << 3,        // scheduled execution (FMI 3.0)
  YOKE_FMI_OPTIONAL = 1u << 4,  // may be absent: the pointer is NULL then
  YOKE_FMI_ACCESS =
      1u << 5,  // get and set by type: if absent, a stand-in that returns the status Error
};

#endif
