#!/usr/bin/env bash
# yoke export --c on microcontrollers: compiled for Cortex-M4 (single-precision unit) and M7 (double), run under
# qemu-system-arm without any library, the same bits as on the host.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
cc=${YOKE_CC:-cc}
for tool in arm-none-eabi-gcc arm-none-eabi-size qemu-system-arm; do
  command -v $tool >/dev/null || { echo "skipped: $tool is missing"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$source_dir/test/export/export_c_cases.sh"
n_failed=0
fail() { echo "FAILED: $1"; n_failed=$((n_failed + 1)); }
write_netlists
write_bits

# vectors, the floating-point unit, text and end by semihosting; code at 0, data at 0x20000000
cat >board.c <<'C'
#include "bits.h"
#include "drive.h"
extern unsigned char stack_top;
static int host_call(int what, const void* with) {
  register int r0 __asm__("r0") = what;
  register const void* r1 __asm__("r1") = with;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}
static void put_text(const char* text) { (void)host_call(4, text); }
static void begin(void) {
  *(volatile unsigned*)0xe000ed88u |= 0xfu << 20;
  __asm__ volatile("dsb\n\tisb");
  drive();
  (void)host_call(0x18, (const void*)0x20026);
  for (;;) {
  }
}
static void trap(void) {
  put_text("trap\n");
  (void)host_call(0x18, (const void*)0x20023);
  for (;;) {
  }
}
__attribute__((section(".vectors"), used)) static const void* const vectors[] = {
    &stack_top, (const void*)begin, (const void*)trap, (const void*)trap, (const void*)trap, (const void*)trap};
C
cat >board.ld <<'LD'
MEMORY { FLASH (rx) : ORIGIN = 0, LENGTH = 1M  RAM (rw) : ORIGIN = 0x20000000, LENGTH = 128K }
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > FLASH
  .ARM.exidx : { *(.ARM.exidx*) } > FLASH
  .data : { *(.data*) } > RAM
  .bss : { *(.bss*) } > RAM
  stack_top = ORIGIN(RAM) + LENGTH(RAM);
  ASSERT(SIZEOF(.data) + SIZEOF(.bss) == 0, "the model has data that changes")
}
LD

# on_board NAME OPTIONS RAMP INPUT...
on_board() {
  local name=$1 options=$2 ramp=$3 type=double
  shift 3
  [[ $options == *--float* ]] && type=float
  rm -rf c
  "$yoke" export $name.cir --c $options -o c >/dev/null || { fail "export of $name $options"; return; }
  write_driver $name $type "$ramp" "$@"
  cat >main.c <<'C'
#include <stdio.h>
#include "bits.h"
#include "drive.h"
static void put_text(const char* text) { fputs(text, stdout); }
int main(void) { drive(); return 0; }
C
  "$cc" -std=gnu11 -DNUMBER=$type -O2 -ffp-contract=off -Ic main.c c/$name.c -o main && ./main >host.txt || { fail "$name on the host"; return; }
  for mcu in m4 m7; do
    local flags="-mcpu=cortex-m4 -mfpu=fpv4-sp-d16" machine=mps2-an386
    [ $mcu = m7 ] && flags="-mcpu=cortex-m7 -mfpu=fpv5-d16" machine=mps2-an500
    flags="$flags -mthumb -mfloat-abi=hard -O2 -ffp-contract=off -ffreestanding"
    arm-none-eabi-gcc -std=c11 $flags -Wall -Wextra -Werror -Wconversion -Wdouble-promotion -c c/$name.c -o model.o ||
      { fail "$name $options does not compile for $mcu"; continue; }
    wanted=$(arm-none-eabi-nm -u model.o | grep -vE '__aeabi_d')
    [ -z "$wanted" ] || fail "$name $options calls on $mcu: $wanted"
    arm-none-eabi-gcc -std=gnu11 $flags -DNUMBER=$type -Ic -nostdlib -nostartfiles -T board.ld board.c model.o -lgcc -o board.elf ||
      { fail "$name $options does not link for $mcu"; continue; }
    # text goes to the standard error of the emulator
    timeout 120 qemu-system-arm -M $machine -nographic -monitor none -serial none \
      -semihosting-config enable=on,target=native -kernel board.elf >qemu.txt 2>board.txt </dev/null
    if cmp -s host.txt board.txt && [ "$(wc -l <board.txt)" -eq 303 ]; then
      echo "$name $options on $mcu: 303 numbers, the same bits; $(arm-none-eabi-size -A model.o | awk '/^.text|^.rodata/ { s += $2 } END { print s }') bytes of flash"
    else
      fail "$name $options on $mcu differs from the host: $(diff host.txt board.txt | head -3 | tr '\n' ' ') $(head -c 300 qemu.txt)"
    fi
  done
}
on_board warm "" no 50 290
on_board warm "--float" no 50 290
on_board warm "--float --hold first" yes 50 290
on_board rlc "" no 2
on_board ladder "--reduce 1e-3" no 1
on_board ladder "--reduce 1e-3 --float" no 1

[ $n_failed -eq 0 ] || { echo "$n_failed checks failed"; exit 1; }
echo "all checks passed"
