# Toolchain for 32-bit ARM (ARMv7 with hardware floating point) with Debian's cross compiler; tests run in qemu's
# user-mode emulator. The libraries are those of the foreign architecture armhf (tools/setup full installs them), or,
# where the architectures of a machine cannot have the same versions, of the packages that tools/armhf_root has unpacked
# into the folder YOKE_ARMHF_ROOT of the environment.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(CMAKE_C_COMPILER arm-linux-gnueabihf-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE arm-linux-gnueabihf)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-arm)
if(DEFINED ENV{YOKE_ARMHF_ROOT})
  # kept, since the build runs CMake again by itself
  set(YOKE_ARMHF_ROOT "$ENV{YOKE_ARMHF_ROOT}" CACHE PATH "Folder of unpacked packages for armhf" FORCE)
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES YOKE_ARMHF_ROOT)
if(YOKE_ARMHF_ROOT)
  set(CMAKE_SYSROOT ${YOKE_ARMHF_ROOT})
  list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -L ${CMAKE_SYSROOT})
  set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
endif()

# programs from this machine; headers and libraries of the foreign architecture lie under its own name
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_IGNORE_PATH /usr/lib/x86_64-linux-gnu /lib/x86_64-linux-gnu /usr/include/x86_64-linux-gnu)
