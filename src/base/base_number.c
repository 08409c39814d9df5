// Doubles to shortest text and back, in integer arithmetic only: the result does not depend on
// locale, rounding mode or denormal mode.
//
// Printing. x = c 2^q lies in the interval of all reals that round to x, between the midpoints to
// its neighbours:
//   [(c - 1/2) 2^q, (c + 1/2) 2^q]   (lower end (c - 1/4) 2^q if c is the smallest of its binade)
// With 10^k the largest power of ten not above the interval's length, the interval holds at least
// one multiple of 10^k and at most one of 10^(k+1) (or two, at its ends). The multiple of 10^(k+1)
// wins if there is one, else the multiple of 10^k nearest to x. Scaled by 4 * 10^-k all comparisons
// are exact in 64 bits if the scaled numbers are rounded to odd. Source: R. Giulietti, "The
// Schubfach way to render doubles", 2021.
//
// Parsing. w 10^p with w < 2^64 is multiplied with the 128 bit power of ten g, which is rounded up
// by less than one unit. The error of the 192 bit product is below 2^64, so the product decides the
// rounding unless the bits behind the last kept one are 1000...0; only then big integers compare
// the text with the midpoint exactly.
#include "base/base_number.h"

#include <float.h>
#include <string.h>

#include "base/base_number_table.h"

#define EXPONENT_BIAS 1075                          // value = c * 2^(biased - 1075)
#define HIDDEN_BIT    (UINT64_C(1) << 52)           // implicit leading bit of normal numbers
#define INFINITE_BITS UINT64_C(0x7ff0000000000000)  // bits of infinity
#define SIGN_BIT      (UINT64_C(1) << 63)
#define MAX_W_DIGITS  19  // decimal digits that always fit in 64 bits

typedef struct product {
  uint64_t hi, lo;
} product;

// a * b in 128 bits
static product multiply(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
  __extension__ typedef unsigned __int128 wide;
  const wide p = (wide)a * b;
  return (product){(uint64_t)(p >> 64), (uint64_t)p};
#else
  const uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  const uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0;
  const uint64_t mid = (p00 >> 32) + (p01 & 0xffffffffu) + (p10 & 0xffffffffu);
  return (product){a1 * b1 + (p01 >> 32) + (p10 >> 32) + (mid >> 32),
                   (mid << 32) | (p00 & 0xffffffffu)};
#endif
}

// g of 10^p = g 2^(floor(log2(10^p)) - 127), rounded up to 128 bits: the leading bits of a power of
// ten times one of five. The 192 bits of the first are enough to round every power in the table
// right; tools/make_number_table.py checks it.
static product power_of_ten(int p) {
  const int n_above = p - YOKE_COARSE_STRIDE * YOKE_COARSE_FIRST;
  const uint64_t* coarse = coarse_powers[n_above / YOKE_COARSE_STRIDE];
  const uint64_t fine = fine_powers[n_above % YOKE_COARSE_STRIDE];
  const uint64_t carry = multiply(coarse[2], fine).hi;
  product low = multiply(coarse[1], fine);
  product g = multiply(coarse[0], fine);
  low.lo += carry;
  low.hi += low.lo < carry;
  g.lo += low.hi;
  g.hi += g.lo < low.hi;
  if ((g.hi & SIGN_BIT) == 0) {
    g.hi = g.hi << 1 | g.lo >> 63;
    g.lo = g.lo << 1 | low.lo >> 63;
  }
  const uint64_t up = (unsigned)p > YOKE_POWER_EXACT;  // something was cut off
  g.lo += up;
  g.hi += g.lo < up;
  return g;
}

// Logarithms by multiply and shift; tools/make_number_table.py checks them over the ranges used
// here.
static int floor_log2_pow10(int p) {
  return (p * 1741647) >> 19;
}

static int floor_log10_pow2(int q) {
  return (q * 1262611) >> 22;
}

static int floor_log10_three_quarters_pow2(int q) {
  return (q * 1262611 - 524031) >> 22;
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// floor(g * c / 2^128) with the lowest bit set if anything was cut off: keeps every comparison with
// an even number right. The lower half's contribution of 1 may come from rounding g up and does not
// count.
static uint64_t scale_to_odd(product g, uint64_t c) {
  const product high = multiply(g.hi, c);
  const uint64_t carry_in = multiply(g.lo, c).hi;
  const uint64_t lo = high.lo + carry_in;
  const uint64_t hi = high.hi + (lo < carry_in);
  return hi | (lo > 1);
}

static void strip_zeros(uint64_t* digits, int* exponent) {
  // eight at once first: short decimals such as 0.5 come out of the search with many zeros
  if (*digits % 100000000u == 0) {
    *digits /= 100000000u;
    *exponent += 8;
  }
  while (*digits % 10 == 0) {
    *digits /= 10;
    ++*exponent;
  }
}

// The search described at the top; digits may end with zeros.
static void search_shortest(uint64_t c, int q, bool is_lower_closer, uint64_t* digits,
                            int* exponent) {
  const int k = is_lower_closer ? floor_log10_three_quarters_pow2(q) : floor_log10_pow2(q);
  const int h = q + floor_log2_pow10(-k) + 1;
  const product g = power_of_ten(-k);

  // x and the ends of its interval times 4 * 10^-k; ends belong to it if c is even
  const uint64_t odd = c & 1;
  const uint64_t x4 = scale_to_odd(g, (4 * c) << h);
  const uint64_t low = scale_to_odd(g, (4 * c - (is_lower_closer ? 1 : 2)) << h) + odd;
  const uint64_t high = scale_to_odd(g, (4 * c + 2) << h) - odd;
  const uint64_t s = x4 / 4;

  // one digit less, if just one of the two neighbours is inside
  if (s >= 10) {
    const uint64_t tens = s / 10;
    const bool is_down_inside = low <= 40 * tens;
    const bool is_up_inside = 40 * tens + 40 <= high;
    if (is_down_inside != is_up_inside) {
      *digits = tens + is_up_inside;
      *exponent = k + 1;
      return;
    }
  }

  // else the neighbour inside, or of two the nearer, or of two equally near the even one
  const bool is_down_inside = low <= 4 * s;
  const bool is_up_inside = 4 * s + 4 <= high;
  const uint64_t middle = 4 * s + 2;
  const bool is_up_nearer = x4 > middle || (x4 == middle && (s & 1) != 0);
  *digits = s + (is_down_inside != is_up_inside ? is_up_inside : is_up_nearer);
  *exponent = k;
}

void yoke__number_shortest(double x, uint64_t* digits, int* exponent) {
  const uint64_t bits = bits_of(x);
  const uint64_t fraction = bits & (HIDDEN_BIT - 1);
  const int biased = (int)((bits & ~SIGN_BIT) >> 52);
  const uint64_t c = biased == 0 ? fraction : fraction | HIDDEN_BIT;
  const int q = biased == 0 ? 1 - EXPONENT_BIAS : biased - EXPONENT_BIAS;

  // integers below 2^53 are their own digits: neighbours are at least 1 apart on both sides of a
  // shorter text
  if (q <= 0 && q > -53 && (c & ((UINT64_C(1) << -q) - 1)) == 0) {
    *digits = c >> -q;
    *exponent = 0;
  } else {
    search_shortest(c, q, fraction == 0 && biased > 1, digits, exponent);
  }
  strip_zeros(digits, exponent);
}

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

static int count_digits(uint64_t value) {
  int n = 1;
  for (; value >= 10000; value /= 10000) {
    n += 4;
  }
  return n + (value >= 10) + (value >= 100) + (value >= 1000);
}

// the n digits of value, from the right
static void put_digits(uint64_t value, int n, char* to) {
  char* at = to + n;
  for (; n >= 2; n -= 2) {
    at -= 2;
    memcpy(at, digit_pairs + 2 * (value % 100), 2);
    value /= 100;
  }
  if (n > 0) {
    *--at = (char)('0' + value % 10);
  }
}

// d.ddde-NN: n digits, scientific exponent e
static char* put_scientific(uint64_t digits, int n, int e, char* at) {
  put_digits(digits, n, at + 1);
  at[0] = at[1];
  at[1] = '.';
  at += n > 1 ? n + 1 : 1;
  *at++ = 'e';
  if (e < 0) {
    *at++ = '-';
    e = -e;
  }
  const int n_exponent = e >= 100 ? 3 : e >= 10 ? 2 : 1;
  put_digits((uint64_t)e, n_exponent, at);
  return at + n_exponent;
}

// Plain digits. e is the exponent of the first digit, -5..16.
static char* put_plain(uint64_t digits, int n, int e, char* at) {
  if (e < 0) {
    memset(at, '0', (size_t)(1 - e));
    at[1] = '.';
    put_digits(digits, n, at + 1 - e);
    return at + 1 - e + n;
  }
  put_digits(digits, n, at);
  if (n <= e + 1) {
    memset(at + n, '0', (size_t)(e + 1 - n));
    return at + e + 1;
  }
  memmove(at + e + 2, at + e + 1, (size_t)(n - e - 1));
  at[e + 1] = '.';
  return at + n + 1;
}

size_t yoke__number_format(double x, char to[YOKE_NUMBER_SIZE]) {
  const uint64_t bits = bits_of(x);
  const uint64_t magnitude = bits & ~SIGN_BIT;
  if (magnitude > INFINITE_BITS) {
    memcpy(to, "nan", 4);
    return 3;
  }
  char* at = to;
  *at = '-';
  at += bits != magnitude;
  if (magnitude == INFINITE_BITS) {
    memcpy(at, "inf", 4);
    return (size_t)(at + 3 - to);
  }
  if (magnitude == 0) {
    memcpy(at, "0", 2);
    return (size_t)(at + 1 - to);
  }

  uint64_t digits;
  int exponent;
  yoke__number_shortest(x, &digits, &exponent);
  const int n = count_digits(digits);
  const int e = exponent + n - 1;

  // many zeros at the end are hard to count: 1e7, but 1000000
  const int n_plain = e + 1;
  const int n_scientific = n + (n > 1) + 1 + (e >= 10 ? 2 : 1);
  const bool is_plain = e >= -5 && e <= 16 && (n_plain <= n || n_plain - n_scientific <= 4);
  at = is_plain ? put_plain(digits, n, e, at) : put_scientific(digits, n, e, at);
  *at = '\0';
  return (size_t)(at - to);
}

const char* yoke__number_brief(double x, char to[YOKE_NUMBER_SIZE]) {
  const uint64_t magnitude = bits_of(x) & ~SIGN_BIT;
  if (magnitude == 0 || magnitude >= INFINITE_BITS) {
    const char* word = magnitude == 0              ? "0"
                       : magnitude > INFINITE_BITS ? "unknown"
                       : x > 0                     ? "infinite"
                                                   : "-infinite";
    return memcpy(to, word, strlen(word) + 1);
  }
  uint64_t digits, cut = 1;
  int exponent;
  yoke__number_shortest(x, &digits, &exponent);
  uint64_t leading = digits;
  for (; leading >= 10; leading /= 10) {
  }
  for (int n = count_digits(digits); n > (leading == 1 ? 3 : 2); n--) {
    cut *= 10;
    exponent++;
  }
  digits = (digits + cut / 2) / cut;
  for (; digits % 10 == 0; digits /= 10) {
    exponent++;
  }
  const int n = count_digits(digits), e = exponent + n - 1;
  char* at = to;
  *at = '-';
  at += x < 0;
  at = e >= -4 && e <= 5 ? put_plain(digits, n, e, at) : put_scientific(digits, n, e, at);
  *at = '\0';
  return to;
}

size_t yoke__number_format_integer(int64_t x, char to[YOKE_NUMBER_SIZE]) {
  const uint64_t magnitude = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
  const int n = count_digits(magnitude);
  to[0] = '-';
  put_digits(magnitude, n, to + (x < 0));
  to[n + (x < 0)] = '\0';
  return (size_t)n + (x < 0);
}

// A number as written: its digits may contain one point and zeros in front.
typedef struct decimal_text {
  const char *first, *last;  // digits and point
  uint64_t w;                // the first digits, at most MAX_W_DIGITS, without zeros in front
  int64_t exponent;          // value = w 10^exponent, plus less than one unit of w if is_cut
  bool is_cut;               // digits other than 0 did not fit into w
} decimal_text;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Digits and point from at on; returns the end, or NULL if there is no digit.
static const char* scan_digits(const char* at, const char* end, decimal_text* text) {
  *text = (decimal_text){.first = at};
  int n_digits = 0;
  bool has_point = false, has_digit = false;
  for (; at < end; at++) {
    if (*at == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (!is_digit(*at)) {
      break;
    }
    has_digit = true;
    if (n_digits < MAX_W_DIGITS) {
      text->w = 10 * text->w + (uint64_t)(*at - '0');
      n_digits += text->w != 0;
      text->exponent -= has_point;
    } else {
      text->is_cut |= *at != '0';
      text->exponent += !has_point;
    }
  }
  text->last = at;
  return has_digit ? at : NULL;
}

// An exponent part at `at`, if there is a complete one; added to *exponent. Returns the end.
static const char* scan_exponent(const char* at, const char* end, int64_t* exponent) {
  if (at >= end || (*at != 'e' && *at != 'E')) {
    return at;
  }
  const char* digit = at + 1;
  const bool is_negative = digit < end && *digit == '-';
  digit += digit < end && (*digit == '-' || *digit == '+');
  if (digit >= end || !is_digit(*digit)) {
    return at;
  }

  // beyond 1e15 the sign alone matters: no text is long enough to bring the number back into range
  int64_t value = 0;
  for (; digit < end && is_digit(*digit); digit++) {
    value = value < INT64_C(1000000000000000) ? 10 * value + (*digit - '0') : value;
  }
  *exponent += is_negative ? -value : value;
  return digit;
}

// Outcome of rounding w 10^p: bits of the double below or at it, and whether to go up from there.
typedef struct rounding {
  uint64_t bits;
  bool is_up, is_unsure;
} rounding;

// w > 0, p inside the table. Never uncertain for the powers that are exact.
static rounding round_product(uint64_t w, int p) {
  // leading bit to the top, by halves
  int shift = 0;
  for (int step = 32; step > 0; step /= 2) {
    if (w >> (64 - step) == 0) {
      w <<= step;
      shift += step;
    }
  }

  // upper 128 bits of the 192 bit product w * g, and what is below
  const product g = power_of_ten(p);
  const product low = multiply(w, g.lo);
  product top = multiply(w, g.hi);
  top.lo += low.hi;
  top.hi += top.lo < low.hi;

  // exponent of the leading bit, and how many bits the double has room for there
  const int top_bit = (top.hi & SIGN_BIT) != 0 ? 63 : 62;
  const int e = floor_log2_pow10(p) + top_bit + 1 - shift;
  const int keep = e >= -1022 ? 53 : 53 - (-1022 - e);
  if (keep < 0) {
    return (rounding){0, false, false};
  }
  const int drop = top_bit + 1 - keep;  // 10..64
  const uint64_t m = drop < 64 ? top.hi >> drop : 0;
  const uint64_t half = UINT64_C(1) << (drop - 1);
  const uint64_t rest = top.hi & (half | (half - 1));

  rounding result = {.bits = e >= -1022 ? ((uint64_t)(e + 1022) << 52) + m : m,
                     .is_up = rest >= half};
  if (rest == half && top.lo == 0) {
    // exactly half as far as 128 bits can tell
    const bool is_exact = p >= 0 && p <= YOKE_POWER_EXACT;
    result.is_unsure = !is_exact;
    result.is_up = is_exact && (low.lo != 0 || (m & 1) != 0);
  }
  return result;
}

// Big integers for the rare exact comparison. 4096 bits: 800 digits, or 5^1142 times a midpoint,
// need 2800.
#define BIG_WORDS  128
#define BIG_DIGITS 800  // a midpoint between doubles has at most 768 significant digits

typedef struct big {
  uint32_t word[BIG_WORDS];  // lowest first
  int n;
} big;

static void big_multiply_add(big* b, uint32_t factor, uint32_t add) {
  uint64_t carry = add;
  for (int i = 0; i < b->n; i++) {
    carry += (uint64_t)b->word[i] * factor;
    b->word[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry != 0 && b->n < BIG_WORDS) {
    b->word[b->n++] = (uint32_t)carry;
  }
}

static void big_shift(big* b, int n_bits) {
  for (; n_bits >= 31; n_bits -= 31) {
    big_multiply_add(b, UINT32_C(1) << 31, 0);
  }
  big_multiply_add(b, UINT32_C(1) << n_bits, 0);
}

static void big_times_pow5(big* b, int n) {
  for (; n >= 13; n -= 13) {
    big_multiply_add(b, 1220703125u, 0);  // 5^13
  }
  for (; n > 0; n--) {
    big_multiply_add(b, 5, 0);
  }
}

static int big_compare(const big* a, const big* b) {
  if (a->n != b->n) {
    return a->n < b->n ? -1 : 1;
  }
  for (int i = a->n - 1; i >= 0; i--) {
    if (a->word[i] != b->word[i]) {
      return a->word[i] < b->word[i] ? -1 : 1;
    }
  }
  return 0;
}

// All digits up to BIG_DIGITS into `to`; their power of ten is the return value; *is_cut if more
// follow.
static int big_from_text(const decimal_text* text, big* to, bool* is_cut) {
  // w holds min(n, MAX_W_DIGITS) of the n significant digits: the exponent moves along with each
  // further one
  int64_t exponent = text->exponent;
  int n_digits = 0;
  *is_cut = false;
  to->n = 0;
  for (const char* at = text->first; at < text->last; at++) {
    if (*at == '.' || (n_digits == 0 && *at == '0')) {
      continue;
    }
    if (n_digits >= BIG_DIGITS) {
      *is_cut |= *at != '0';
      continue;
    }
    big_multiply_add(to, 10, (uint32_t)(*at - '0'));
    exponent -= n_digits >= MAX_W_DIGITS;
    n_digits++;
  }
  return (int)exponent;
}

// True if the text is nearer to the double above `bits` than to `bits`, or halfway and `bits` is
// odd.
static bool is_above_midpoint(const decimal_text* text, uint64_t bits) {
  big left, right = {.n = 0};
  bool is_cut = false;
  const int e10 = big_from_text(text, &left, &is_cut);

  // midpoint = (2 m + 1) 2^(q - 1)
  const int biased = (int)(bits >> 52);
  const uint64_t fraction = bits & (HIDDEN_BIT - 1);
  const uint64_t m = biased == 0 ? fraction : fraction | HIDDEN_BIT;
  const int q = biased == 0 ? 1 - EXPONENT_BIAS : biased - EXPONENT_BIAS;
  right.n = 2;
  right.word[1] = (uint32_t)((2 * m + 1) >> 32);
  right.word[0] = (uint32_t)(2 * m + 1);
  right.n -= right.word[1] == 0;

  // powers of five to the side where they are positive, then powers of two
  big_times_pow5(e10 >= 0 ? &left : &right, e10 >= 0 ? e10 : -e10);
  const int e2 = e10 - (q - 1);
  big_shift(e2 >= 0 ? &left : &right, e2 >= 0 ? e2 : -e2);

  const int order = big_compare(&left, &right);
  return order > 0 || (order == 0 && (is_cut || (m & 1) != 0));
}

// Bits of the double nearest to the text; INFINITE_BITS if beyond the largest.
static uint64_t nearest_bits(const decimal_text* text) {
  const uint64_t w = text->w;
  if (w == 0 || text->exponent < YOKE_POWER_FIRST) {
    return 0;
  }
  if (text->exponent > 308) {
    return INFINITE_BITS;
  }
  const int p = (int)text->exponent;

  // digits that did not fit: both ends of the range they leave open must round alike
  const rounding low = round_product(w, p);
  const uint64_t bits = low.bits + low.is_up;
  bool is_unsure = low.is_unsure;
  if (text->is_cut) {
    const rounding high = round_product(w + 1, p);
    is_unsure |= high.is_unsure || high.bits + high.is_up != bits;
  }
  if (is_unsure && bits < INFINITE_BITS) {
    return bits + is_above_midpoint(text, bits);
  }
  return bits;
}

// "nan", "inf", "infinity" in any case at the start of [at, end); NULL if none
static const char* scan_word(const char* at, const char* end, uint64_t* bits) {
  static const struct {
    const char* text;
    uint64_t bits;
  } words[] = {{"infinity", INFINITE_BITS},
               {"inf", INFINITE_BITS},
               {"nan", INFINITE_BITS | (HIDDEN_BIT >> 1)}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    const size_t n = strlen(words[i].text);
    size_t same = 0;
    while (same < n && at + same < end && (at[same] | 0x20) == words[i].text[same]) {
      same++;
    }
    if (same == n) {
      *bits = words[i].bits;
      return at + n;
    }
  }
  return NULL;
}

const char* yoke__number_scan(const char* text, const char* end, double* out) {
  const char* at = text;
  const bool is_negative = at < end && *at == '-';
  at += at < end && (*at == '-' || *at == '+');

  uint64_t bits = 0;
  decimal_text decimal;
  const char* behind = scan_digits(at, end, &decimal);
  if (behind != NULL) {
    behind = scan_exponent(behind, end, &decimal.exponent);
    bits = nearest_bits(&decimal);
    if (bits >= INFINITE_BITS) {
      return NULL;
    }
  } else {
    behind = scan_word(at, end, &bits);
    if (behind == NULL) {
      return NULL;
    }
  }
  *out = double_of(is_negative ? bits | SIGN_BIT : bits);
  return behind;
}

bool yoke__number_parse(const char* text, double* out) {
  const char* end = text + strlen(text);
  double value = 0;
  if (text == end || yoke__number_scan(text, end, &value) != end) {
    return false;
  }
  *out = value;
  return true;
}

// ---- suffixes

typedef struct suffix {
  const char* text;
  const char* exponent;  // as it is written behind the digits
  double factor;         // of a number that has an exponent of its own
} suffix;

// "meg" and "mil" before "m"; the sign of micro has two places in Unicode
static const suffix suffixes[] = {
    {"meg", "e6", 1e6},   {"mil", NULL, 25.4e-6},    {"t", "e12", 1e12},
    {"g", "e9", 1e9},     {"k", "e3", 1e3},          {"m", "e-3", 1e-3},
    {"u", "e-6", 1e-6},   {"n", "e-9", 1e-9},        {"p", "e-12", 1e-12},
    {"f", "e-15", 1e-15}, {"\xc2\xb5", "e-6", 1e-6}, {"\xce\xbc", "e-6", 1e-6},
};

static char lower(char c) {
  return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

// "" if none of them stands here
static suffix find_suffix(const char* at, const char* end) {
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
    const char* word = suffixes[i].text;
    size_t k = 0;
    while (word[k] != '\0' && at + k < end && lower(at[k]) == word[k]) {
      k++;
    }
    if (word[k] == '\0') {
      return suffixes[i];
    }
  }
  return (suffix){"", NULL, 1.0};
}

// 10u is 1e-5 to the last bit, which 10 * 1e-6 is not: the suffix becomes an exponent where there
// is none.
static double scale(const char* text, size_t n, double value, const suffix* s) {
  char whole[64];
  const bool has_exponent = memchr(text, 'e', n) != NULL || memchr(text, 'E', n) != NULL;
  if (s->exponent == NULL || has_exponent || n + 8 > sizeof whole) {
    return value * s->factor;
  }
  memcpy(whole, text, n);
  memcpy(whole + n, s->exponent, strlen(s->exponent) + 1);
  return yoke__number_parse(whole, &value) ? value : DBL_MAX * 2;
}

double yoke__number_scale(const char* at, const char* end, const char** next) {
  const suffix s = find_suffix(at, end);
  *next = at + strlen(s.text);
  return s.factor;
}

const char* yoke__number_scan_suffix(const char* at, const char* end, double* out) {
  const char* first = at < end && (*at == '+' || *at == '-') ? at + 1 : at;
  if (first >= end || !(is_digit(*first) || (*first == '.' && end - first > 1))) {
    return NULL;
  }
  at += *at == '+';
  double value = 0;
  const char* next = yoke__number_scan(at, end, &value);
  if (next == NULL) {
    return NULL;
  }
  const suffix s = find_suffix(next, end);
  value = scale(at, (size_t)(next - at), value, &s);
  next += strlen(s.text);
  // what names a unit: letters, those beyond ASCII too
  while (next < end &&
         ((lower(*next) >= 'a' && lower(*next) <= 'z') || (unsigned char)*next >= 0x80)) {
    next++;
  }
  if (!(value <= DBL_MAX && value >= -DBL_MAX)) {
    return NULL;
  }
  *out = value;
  return next;
}

bool yoke__number_parse_suffix(const char* text, double* out) {
  const char* end = text + strlen(text);
  double value = 0;
  if (yoke__number_scan_suffix(text, end, &value) != end) {
    return false;
  }
  *out = value;
  return true;
}

bool yoke__number_parse_integer(const char* text, int64_t* out) {
  const bool is_negative = *text == '-';
  const char* at = text + (*text == '-' || *text == '+');
  if (!is_digit(*at)) {
    return false;
  }
  const uint64_t limit = is_negative ? SIGN_BIT : SIGN_BIT - 1;
  uint64_t value = 0;
  for (; is_digit(*at); at++) {
    const uint64_t digit = (uint64_t)(*at - '0');
    if (value > (limit - digit) / 10) {
      return false;
    }
    value = 10 * value + digit;
  }
  if (*at != '\0') {
    return false;
  }
  // the most negative value has no positive counterpart
  *out = is_negative ? (int64_t)(0 - value) : (int64_t)value;
  return true;
}
