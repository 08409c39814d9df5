// The library that ships_library brings along and needs_library lacks.
double yoke_test_part(double x);

double yoke_test_part(double x) {
  return x;
}
