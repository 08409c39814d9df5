// Reads dimensions and relates them.
//
//   dimension = part { ("." | "*" | blank | "/") part }    a/b/c is a/(b.c); a/b.c is ambiguous
//   part      = "1" | name [exponent] | "(" the same without brackets ")" [exponent]
//   exponent  = ["^" | "**"] [sign] digit | "^(" [sign] digit ")"
//   name      = [prefix] symbol
//
// Units and their values: BIPM, The International System of Units, 9th edition 2019, tables 2, 4, 7
// and 8; bar, atmosphere, inch, foot, pound, pound-force, psi: NIST SP 811 (2008), appendix B.8.
// "C" is the coulomb, "g" the gram, "h" the hour. A whole text "1/min" is a rotational speed, as on
// every motor's plate; anywhere else a minute is 60 s. Assumes nothing about the text: at most
// MAX_TEXT bytes are looked at, one level of brackets, no recursion.
#include "base/base_dim.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/base_check.h"

#define PI        3.14159265358979323846
#define MAX_TEXT  128  // longer texts are no dimensions
#define MAX_POWER 99   // of a base dimension; far beyond any use, far inside int8_t

typedef struct symbol {
  const char* name;
  int8_t exponents[YOKE_DIM_N_BASES];  // kg m s A K mol cd rad
  int8_t n_turns;
  bool takes_prefix;
  double num, den;
  double offset;
} symbol;

// clang-format off
static const symbol symbols[] = {
    // name      kg  m   s   A  K mol cd rad turns prefix num den offset
    {"m",      { 0,  1,  0,  0, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"g",      { 1,  0,  0,  0, 0, 0, 0, 0}, 0, true,  1, 1000, 0},
    {"s",      { 0,  0,  1,  0, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"A",      { 0,  0,  0,  1, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"K",      { 0,  0,  0,  0, 1, 0, 0, 0}, 0, true,  1, 1, 0},
    {"mol",    { 0,  0,  0,  0, 0, 1, 0, 0}, 0, true,  1, 1, 0},
    {"cd",     { 0,  0,  0,  0, 0, 0, 1, 0}, 0, true,  1, 1, 0},
    {"rad",    { 0,  0,  0,  0, 0, 0, 0, 1}, 0, true,  1, 1, 0},
    {"sr",     { 0,  0,  0,  0, 0, 0, 0, 2}, 0, true,  1, 1, 0},
    // derived
    {"Hz",     { 0,  0, -1,  0, 0, 0, 0, 1}, 1, true,  1, 1, 0},
    {"N",      { 1,  1, -2,  0, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"Pa",     { 1, -1, -2,  0, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"J",      { 1,  2, -2,  0, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"W",      { 1,  2, -3,  0, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"C",      { 0,  0,  1,  1, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"V",      { 1,  2, -3, -1, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"F",      {-1, -2,  4,  2, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"Ohm",    { 1,  2, -3, -2, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"ohm",    { 1,  2, -3, -2, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"S",      {-1, -2,  3,  2, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"Wb",     { 1,  2, -2, -1, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"T",      { 1,  0, -2, -1, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"H",      { 1,  2, -2, -2, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"lm",     { 0,  0,  0,  0, 0, 0, 1, 2}, 0, true,  1, 1, 0},
    {"lx",     { 0, -2,  0,  0, 0, 0, 1, 2}, 0, true,  1, 1, 0},
    {"Bq",     { 0,  0, -1,  0, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"kat",    { 0,  0, -1,  0, 0, 1, 0, 0}, 0, true,  1, 1, 0},
    {"VA",     { 1,  2, -3,  0, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"var",    { 1,  2, -3,  0, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"Nm",     { 1,  2, -2,  0, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"Ns",     { 1,  1, -1,  0, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"Nms",    { 1,  2, -1,  0, 0, 0, 0, 0}, 0, true,  1, 1, 0},
    {"Wh",     { 1,  2, -2,  0, 0, 0, 0, 0}, 0, true,  3600, 1, 0},
    {"Ah",     { 0,  0,  1,  1, 0, 0, 0, 0}, 0, true,  3600, 1, 0},
    // beside the SI
    {"l",      { 0,  3,  0,  0, 0, 0, 0, 0}, 0, true,  1, 1000, 0},
    {"L",      { 0,  3,  0,  0, 0, 0, 0, 0}, 0, true,  1, 1000, 0},
    {"t",      { 1,  0,  0,  0, 0, 0, 0, 0}, 0, true,  1000, 1, 0},
    {"bar",    { 1, -1, -2,  0, 0, 0, 0, 0}, 0, true,  1e5, 1, 0},
    {"atm",    { 1, -1, -2,  0, 0, 0, 0, 0}, 0, false, 101325, 1, 0},
    {"eV",     { 1,  2, -2,  0, 0, 0, 0, 0}, 0, true,  1.602176634e-19, 1, 0},
    {"min",    { 0,  0,  1,  0, 0, 0, 0, 0}, 0, false, 60, 1, 0},
    {"h",      { 0,  0,  1,  0, 0, 0, 0, 0}, 0, false, 3600, 1, 0},
    {"d",      { 0,  0,  1,  0, 0, 0, 0, 0}, 0, false, 86400, 1, 0},
    {"deg",    { 0,  0,  0,  0, 0, 0, 0, 1}, 0, false, PI, 180, 0},
    {"rev",    { 0,  0,  0,  0, 0, 0, 0, 1}, 1, false, 1, 1, 0},
    {"r",      { 0,  0,  0,  0, 0, 0, 0, 1}, 1, false, 1, 1, 0},
    {"rpm",    { 0,  0, -1,  0, 0, 0, 0, 1}, 1, false, 1, 60, 0},
    {"degC",   { 0,  0,  0,  0, 1, 0, 0, 0}, 0, false, 1, 1, 273.15},
    {"degF",   { 0,  0,  0,  0, 1, 0, 0, 0}, 0, false, 5, 9, 459.67 * 5 / 9},
    {"in",     { 0,  1,  0,  0, 0, 0, 0, 0}, 0, false, 254, 1e4, 0},
    {"ft",     { 0,  1,  0,  0, 0, 0, 0, 0}, 0, false, 3048, 1e4, 0},
    {"lb",     { 1,  0,  0,  0, 0, 0, 0, 0}, 0, false, 45359237, 1e8, 0},
    {"lbf",    { 1,  1, -2,  0, 0, 0, 0, 0}, 0, false, 4.4482216152605, 1, 0},
    {"psi",    { 1, -1, -2,  0, 0, 0, 0, 0}, 0, false, 6894.757293168361, 1, 0},
    // pure numbers
    {"%",      { 0,  0,  0,  0, 0, 0, 0, 0}, 0, false, 1, 100, 0},
    {"ppm",    { 0,  0,  0,  0, 0, 0, 0, 0}, 0, false, 1, 1e6, 0},
};

// num / den, both exact doubles up to 1e22
static const struct {
  const char* text;
  double num, den;
} prefixes[] = {
    {"da", 1e1, 1}, {"Y", 1e24, 1}, {"Z", 1e21, 1}, {"E", 1e18, 1}, {"P", 1e15, 1}, {"T", 1e12, 1},
    {"G", 1e9, 1},  {"M", 1e6, 1},  {"k", 1e3, 1},  {"h", 1e2, 1},  {"d", 1, 1e1},  {"c", 1, 1e2},
    {"m", 1, 1e3},  {"u", 1, 1e6},  {"n", 1, 1e9},  {"p", 1, 1e12}, {"f", 1, 1e15}, {"a", 1, 1e18},
    {"z", 1, 1e21}, {"y", 1, 1e24},
};

// characters outside ASCII and how they are written inside it
static const struct {
  const char *from, *to;
} spellings[] = {
    {"\xC2\xB0", "deg"},     // degree sign; with C: degC
    {"\xCE\xA9", "Ohm"},     // Greek capital omega
    {"\xE2\x84\xA6", "Ohm"}, // ohm sign
    {"\xC2\xB5", "u"},       // micro sign
    {"\xCE\xBC", "u"},       // Greek small mu
    {"\xC2\xB7", "."},       // middle dot
    {"\xE2\x8B\x85", "."},   // dot operator
    {"\xC2\xB9", "1"},       // superscripts
    {"\xC2\xB2", "2"},
    {"\xC2\xB3", "3"},
    {"\xE2\x81\xBB", "-"},
};
// clang-format on

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '%';
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// One character outside ASCII: its length, and its spelling in *to. 0 if it is not known.
static size_t find_spelling(const char* text, const char** to) {
  for (size_t i = 0; i < YOKE_COUNT(spellings); i++) {
    const size_t n = strlen(spellings[i].from);
    if (strncmp(text, spellings[i].from, n) == 0) {
      *to = spellings[i].to;
      return n;
    }
  }
  return 0;
}

// Copies text in ASCII without blanks at its ends. False if it does not fit or has other
// characters.
static bool normalise(const char* text, char to[MAX_TEXT]) {
  size_t n = 0;
  while (*text == ' ') {
    text++;
  }
  while (*text != '\0') {
    const char one[2] = {*text, '\0'};
    const char* piece = one;
    size_t length = 1;
    if ((unsigned char)*text >= 0x80) {
      length = find_spelling(text, &piece);
    }
    const size_t piece_length = strlen(piece);
    if (length == 0 || n + piece_length >= MAX_TEXT) {
      return false;
    }
    memcpy(to + n, piece, piece_length);
    n += piece_length;
    text += length;
  }
  while (n > 0 && to[n - 1] == ' ') {
    n--;
  }
  to[n] = '\0';
  return n > 0;
}

static void set_one(yoke_dim* dim) {
  *dim = (yoke_dim){.num = 1, .den = 1, .factor = 1};
}

static double integer_power(double x, int n) {
  double product = 1;
  for (int i = 0; i < n; i++) {
    product *= x;
  }
  return product;
}

// product *= dim^power. False if an exponent leaves its bounds. Offsets are for the caller.
static bool multiply(yoke_dim* product, const yoke_dim* dim, int power) {
  for (int i = 0; i < YOKE_DIM_N_BASES; i++) {
    const int sum = product->exponents[i] + power * dim->exponents[i];
    if (sum < -MAX_POWER || sum > MAX_POWER) {
      return false;
    }
    product->exponents[i] = (int8_t)sum;
  }
  const int turns = product->n_turns + power * dim->n_turns;
  if (turns < -MAX_POWER || turns > MAX_POWER) {
    return false;
  }
  product->n_turns = (int8_t)turns;

  // a negative power swaps numerator and denominator and keeps both exact
  const int n = power < 0 ? -power : power;
  product->num *= integer_power(power < 0 ? dim->den : dim->num, n);
  product->den *= integer_power(power < 0 ? dim->num : dim->den, n);
  return true;
}

static void take_symbol(const symbol* from, double num, double den, yoke_dim* to) {
  set_one(to);
  memcpy(to->exponents, from->exponents, sizeof to->exponents);
  to->n_turns = from->n_turns;
  to->num = from->num * num;
  to->den = from->den * den;
  to->offset = from->offset;
}

static const symbol* find_symbol(const char* name, size_t n) {
  for (size_t i = 0; i < YOKE_COUNT(symbols); i++) {
    if (strlen(symbols[i].name) == n && strncmp(symbols[i].name, name, n) == 0) {
      return &symbols[i];
    }
  }
  return NULL;
}

// A name without prefix first: "min" is the minute and "Pa" the pascal.
static bool find_name(const char* name, size_t n, yoke_dim* to) {
  const symbol* found = find_symbol(name, n);
  if (found != NULL) {
    take_symbol(found, 1, 1, to);
    return true;
  }
  for (size_t i = 0; i < YOKE_COUNT(prefixes); i++) {
    const size_t length = strlen(prefixes[i].text);
    if (n <= length || strncmp(name, prefixes[i].text, length) != 0) {
      continue;
    }
    found = find_symbol(name + length, n - length);
    if (found != NULL && found->takes_prefix) {
      take_symbol(found, prefixes[i].num, prefixes[i].den, to);
      return true;
    }
  }
  return false;
}

// Reads an exponent at *at, if there is one (power 1 otherwise). One digit is enough for every real
// dimension.
static bool read_exponent(const char** at, int* power) {
  const char* p = *at;
  *power = 1;
  bool is_announced = true;
  if (*p == '^') {
    p++;
  } else if (p[0] == '*' && p[1] == '*') {
    p += 2;
  } else {
    is_announced = false;
  }
  const bool has_bracket = is_announced && *p == '(';
  p += has_bracket;
  const bool is_negative = *p == '-';
  p += is_negative || *p == '+';
  if (!is_digit(*p)) {
    return !is_announced && p == *at;
  }
  const int value = *p++ - '0';
  if (is_digit(*p) || (has_bracket && *p++ != ')')) {
    return false;
  }
  *power = is_negative ? -value : value;
  *at = p;
  return true;
}

// The operator at *at: '.', '/', or 0 if the list ends here.
static char read_operator(const char** at) {
  const char* p = *at;
  while (*p == ' ') {
    p++;
  }
  char found = 0;
  if (*p == '/' || *p == '.' || *p == '*') {
    found = *p == '/' ? '/' : '.';
    p++;
    while (*p == ' ') {
      p++;
    }
  } else if (p != *at && (is_letter(*p) || is_digit(*p) || *p == '(')) {
    found = '.';  // a blank between two parts
  }
  *at = found != 0 ? p : *at;
  return found;
}

// "1" or a name, with its exponent. The offset stays only with the exponent 1.
static bool read_plain(const char** at, yoke_dim* to) {
  yoke_dim base;
  const char* p = *at;
  if (*p == '1' && !is_digit(p[1])) {
    set_one(to);
    *at = p + 1;
    return true;
  }
  size_t n = 0;
  while (is_letter(p[n])) {
    n++;
  }
  if (n == 0 || !find_name(p, n, &base)) {
    return false;
  }
  p += n;
  int power = 1;
  if (!read_exponent(&p, &power)) {
    return false;
  }
  set_one(to);
  to->offset = power == 1 ? base.offset : 0;
  *at = p;
  return multiply(to, &base, power);
}

// Keeps the product of a list and refuses "a/b.c".
typedef struct list {
  yoke_dim product;
  char op;  // before the next part
  bool has_division;
  int n_parts;
} list;

static void list_begin(list* l) {
  *l = (list){.op = '.'};
  set_one(&l->product);
}

static bool list_add(list* l, const yoke_dim* part) {
  if (l->op == '.' && l->has_division) {
    return false;
  }
  l->has_division = l->has_division || l->op == '/';
  // a scale with its own zero keeps it only if nothing else is there
  l->n_parts++;
  l->product.offset = l->n_parts == 1 ? part->offset : 0;
  return multiply(&l->product, part, l->op == '/' ? -1 : 1);
}

// Parts and operators up to the end of the list.
static bool read_inner(const char** at, yoke_dim* to) {
  list inner;
  list_begin(&inner);
  do {
    yoke_dim part;
    if (!read_plain(at, &part) || !list_add(&inner, &part)) {
      return false;
    }
    inner.op = read_operator(at);
  } while (inner.op != 0);
  *to = inner.product;
  return true;
}

static bool read_part(const char** at, yoke_dim* to) {
  if (**at != '(') {
    return read_plain(at, to);
  }
  ++*at;
  yoke_dim base;
  int power = 1;
  if (!read_inner(at, &base) || *(*at)++ != ')' || !read_exponent(at, &power)) {
    return false;
  }
  set_one(to);
  return multiply(to, &base, power);
}

static bool read_all(const char* at, yoke_dim* to) {
  list outer;
  list_begin(&outer);
  do {
    yoke_dim part;
    if (!read_part(&at, &part) || !list_add(&outer, &part)) {
      return false;
    }
    outer.op = read_operator(&at);
  } while (outer.op != 0);
  *to = outer.product;
  return *at == '\0';
}

bool yoke__dim_parse(const char* text, yoke_dim* out) {
  char plain[MAX_TEXT];
  if (text == NULL || !normalise(text, plain)) {
    return false;
  }

  // customs: a dash for "no dimension", a bare 1/min for a rotational speed
  const char* read = plain;
  if (strcmp(plain, "-") == 0) {
    read = "1";
  } else if (strcmp(plain, "1/min") == 0 || strcmp(plain, "min-1") == 0 ||
             strcmp(plain, "min^-1") == 0) {
    read = "rpm";
  }
  yoke_dim dim;
  if (!read_all(read, &dim)) {
    return false;
  }
  dim.factor = dim.num * pow(2 * PI, dim.n_turns) / dim.den;
  if (!yoke__is_finite(dim.factor) || dim.factor <= 0) {
    return false;
  }
  *out = dim;
  return true;
}

// y_to = factor * y_from + offset for two dimensions of the same kind.
static void convert(const yoke_dim* from, const yoke_dim* to, double* factor, double* offset) {
  // turns are worth 2 pi where both sides count angles and are plain counts where one does not
  double turns = 1;
  if (from->exponents[YOKE_DIM_RAD] == to->exponents[YOKE_DIM_RAD]) {
    turns = pow(2 * PI, from->n_turns - to->n_turns);
  }
  *factor = turns * (from->num * to->den) / (from->den * to->num);
  *offset = (from->offset - to->offset) * to->den / to->num;
}

yoke_dim_kinship yoke__dim_relation(const char* from, const char* to, double* factor,
                                    double* offset) {
  double f = 1, o = 0;
  yoke_dim a, b;
  yoke_dim_kinship answer = YOKE_DIM_UNKNOWN;
  if (yoke__dim_parse(from, &a) && yoke__dim_parse(to, &b)) {
    // all exponents but the last, the angle
    if (memcmp(a.exponents, b.exponents, YOKE_DIM_RAD * sizeof a.exponents[0]) != 0) {
      answer = YOKE_DIM_DIFFERENT;
    } else {
      convert(&a, &b, &f, &o);
      // some roundings of a product of a few factors are no difference
      const bool is_same = fabs(f - 1) <= 1e-14 && o == 0;
      answer = is_same ? YOKE_DIM_SAME : YOKE_DIM_SCALED;
      f = is_same ? 1 : f;
    }
  }
  if (factor != NULL) {
    *factor = f;
  }
  if (offset != NULL) {
    *offset = o;
  }
  return answer;
}
