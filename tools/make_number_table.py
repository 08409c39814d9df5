#!/usr/bin/env python3
"""Writes src/base/base_number_table.h: the powers of ten that base_number.c multiplies with.

10^p = g * 2^(floor(log2(10^p)) - 127) with 2^127 <= g < 2^128, rounded up to an integer.
Usage: python3 tools/make_number_table.py > src/base/base_number_table.h
"""

FIRST, LAST = -342, 324  # parsing needs -342..308, printing -292..324


def floor_log2(num, den):
    e = num.bit_length() - den.bit_length()
    while (num << max(-e, 0)) < (den << max(e, 0)):
        e -= 1
    while (num << max(-e - 1, 0)) >= (den << max(e + 1, 0)):
        e += 1
    return e


def power(p):
    """(g, exponent of the leading bit, whether g is exact)"""
    num, den = (10**p, 1) if p >= 0 else (1, 10**-p)
    e = floor_log2(num, den)
    shift = 127 - e
    num, den = num << max(shift, 0), den << max(-shift, 0)
    return -(-num // den), e, num % den == 0


def check_logarithms():
    """The multiply-and-shift logarithms of base_number.c over the ranges it uses."""
    for p in range(FIRST, LAST + 1):
        assert power(p)[1] == (p * 1741647) >> 19, p
    for q in range(-1074, 972):
        num, den = (2**q, 1) if q >= 0 else (1, 2**-q)
        for scale_num, scale_den, got in ((1, 1, (q * 1262611) >> 22), (3, 4, (q * 1262611 - 524031) >> 22)):
            a, b = num * scale_num, den * scale_den
            low = 10**got * b <= a if got >= 0 else b <= a * 10**-got
            high = a < 10 ** (got + 1) * b if got + 1 >= 0 else a * 10 ** -(got + 1) < b
            assert low and high, q


def main():
    check_logarithms()
    exact = [p for p in range(FIRST, LAST + 1) if power(p)[2]]
    print("// Made by tools/make_number_table.py: do not edit.")
    print("// 10^p = g * 2^(floor(log2(10^p)) - 127), g rounded up to 128 bits, upper half first.")
    print("#ifndef YOKE_BASE_NUMBER_TABLE_H\n#define YOKE_BASE_NUMBER_TABLE_H\n\n#include <stdint.h>\n")
    print(f"#define YOKE_POWER_FIRST ({FIRST})\n#define YOKE_POWER_LAST  {LAST}")
    print(f"#define YOKE_POWER_EXACT {exact[-1]}  // g is exact for p in 0..{exact[-1]} only\n")
    assert exact == list(range(exact[-1] + 1))
    print("// clang-format off")
    print(f"static const uint64_t power_table[{LAST - FIRST + 1}][2] = {{")
    for p in range(FIRST, LAST + 1):
        g = power(p)[0]
        assert 2**127 <= g < 2**128
        print(f"  {{UINT64_C(0x{g >> 64:016x}), UINT64_C(0x{g & (2**64 - 1):016x})}},  // 1e{p}")
    print("};\n// clang-format on\n\n#endif")


main()
