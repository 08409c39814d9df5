#!/usr/bin/env python3
"""Writes src/base/base_number_table.h: the powers of ten that base_number.c multiplies with.

10^p = g * 2^(floor(log2(10^p)) - 127) with 2^127 <= g < 2^128, rounded up to an integer. g is the upper half of the product
of two table entries: every 27th power of ten in 192 bits, and a power of five that fits into 64.
Usage: python3 tools/make_number_table.py > src/base/base_number_table.h
"""

FIRST, LAST = -342, 324  # parsing needs -342..308, printing -292..324
STRIDE = 27  # 5^27 is the largest power of five below 2^64


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


def leading(num, den, n_bits):
    """The first n_bits of num / den, cut"""
    shift = n_bits - 1 - floor_log2(num, den)
    return (num << max(shift, 0)) // (den << max(-shift, 0))


def coarse(k):
    return leading(10 ** (STRIDE * k), 1, 192) if k >= 0 else leading(1, 10 ** (-STRIDE * k), 192)


def fine(r):
    return leading(5**r, 1, 64)


def check_products(exact):
    """What base_number.c makes of the two tables, for every power"""
    for p in range(FIRST, LAST + 1):
        product = coarse(p // STRIDE) * fine(p % STRIDE)
        product <<= 256 - product.bit_length()
        assert (product >> 128) + (p not in exact) == power(p)[0], p


def words(value, n):
    return ", ".join(f"UINT64_C(0x{value >> 64 * (n - 1 - i) & (2**64 - 1):016x})" for i in range(n))


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
    assert exact == list(range(exact[-1] + 1))
    check_products(exact)
    first, last = FIRST // STRIDE, LAST // STRIDE
    print("// Made by tools/make_number_table.py: do not edit.")
    print("// Leading bits of powers of ten and five, the first one at the top; what does not fit is cut.")
    print("#ifndef YOKE_BASE_NUMBER_TABLE_H\n#define YOKE_BASE_NUMBER_TABLE_H\n\n#include <stdint.h>\n")
    print(f"#define YOKE_POWER_FIRST ({FIRST})\n#define YOKE_POWER_LAST  {LAST}")
    print(f"#define YOKE_POWER_EXACT {exact[-1]}  // 128 bits are exact for powers 0..{exact[-1]} only\n")
    print(f"#define YOKE_COARSE_STRIDE {STRIDE}\n#define YOKE_COARSE_FIRST  ({first})  // in strides\n")
    print("// clang-format off")
    print(f"static const uint64_t coarse_powers[{last - first + 1}][3] = {{")
    for k in range(first, last + 1):
        print(f"  {{{words(coarse(k), 3)}}},  // 10^{STRIDE * k}")
    print(f"}};\n\nstatic const uint64_t fine_powers[{STRIDE}] = {{  // 5^0 to 5^{STRIDE - 1}")
    for r in range(0, STRIDE, 3):
        print(f"  {', '.join(words(fine(i), 1) for i in range(r, min(r + 3, STRIDE)))},")
    print("};\n// clang-format on\n\n#endif")


main()
