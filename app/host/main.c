// The program yoke-host: a process for one isolated unit, started by yoke and by programs that use its library.
#include "unit/host/unit_host.h"

int main(int argc, char** argv) {
  return yoke__host_main(argc, argv);
}
