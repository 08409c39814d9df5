// Drawings of a loop: complete SVG with the curves, the critical point and the margin; gaps and wild values do no harm.
#include "study/study_loop_figure.h"
#include "support/check.h"
#include "synth/dual_mass_loop.h"

static size_t count(const char* text, const char* part) {
  size_t n = 0;
  for (const char* at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
    n++;
  }
  return n;
}

static void check_svg(const yoke_text* svg) {
  assert_true(svg->status >= 0 && svg->n > 500);
  assert_int_equal(strncmp(svg->bytes, "<svg ", 5), 0);
  assert_string_equal(svg->bytes + svg->n - 7, "</svg>\n");
  assert_null(strstr(svg->bytes, "nan"));
  assert_null(strstr(svg->bytes, "inf"));
}

// For a look at the drawings: written where the environment says.
static void save(const char* name, const yoke_text* svg) {
  const char* folder = getenv("YOKE_FIGURES");
  char path[512];
  snprintf(path, sizeof path, "%s/%s.svg", folder == NULL ? "" : folder, name);
  FILE* file = folder == NULL ? NULL : fopen(path, "wb");
  if (file != NULL) {
    fwrite(svg->bytes, 1, svg->n, file);
    fclose(file);
  }
}

static void test_loop(void** state) {
  (void)state;
  static const loop_masses cases[] = {{10, 1, 1, 1, 0.5, 0.5, 50, 20},
                                      {1, 2, 1, 3, 0.01, 0.004, 60, 0.3}};
  static const char* const names[][2] = {{"nyquist", "bode"}, {"nyquist_light", "bode_light"}};
  for (size_t i = 0; i < 2; i++) {
    mass_loop matrices;
    yoke_text nyquist = {0}, bode = {0};
    const yoke_synth_loop loop = mass_loop_make(&cases[i], 0.05, &matrices);
    yoke_synth_loop_report report;
    check_ok(yoke__synth_loop_analyse(&loop, &report));
    check_ok(yoke__figure_loop(&loop, &report, "two masses, cut at the spring", &nyquist, &bode));
    check_svg(&nyquist);
    check_svg(&bode);
    check_contains(nyquist.bytes, ">+1</text>");
    check_contains(nyquist.bytes, "class=\"ring\"");
    // a curve and its mirror image; three curves in two panels; their names beside
    assert_int_equal(count(nyquist.bytes, "clip-path=\"url(#square)\" d="), 2);
    assert_int_equal(count(bode.bytes, "clip-path=\"url(#magnitude)\" d="), 3);
    assert_int_equal(count(bode.bytes, "clip-path=\"url(#phase)\" d="), 3);
    check_contains(bode.bytes, "distortion G");
    // thinned: some thousand frequencies stay a small file
    assert_true(nyquist.n < 100000 && bode.n < 200000);
    save(names[i][0], &nyquist);
    save(names[i][1], &bode);
    yoke__text_free(&nyquist);
    yoke__text_free(&bode);
  }
}

static void test_gaps(void** state) {
  (void)state;
  static const double x[] = {1, 2, 3, 4}, coherence[] = {1, 0.5, (double)NAN, 0};
  const double complex values[] = {1, (double)NAN, 1e300, 0};
  const yoke_curves curves = {
      "t<&>", "s", "frequency [Hz]", x, 4, {{"a", values, coherence, false}}, 1};
  yoke_text svg = {0};
  yoke__figure_bode(&curves, &svg);
  check_svg(&svg);
  check_contains(svg.bytes, "t&lt;&amp;&gt;");
  check_contains(svg.bytes, "url(#coherence)");
  yoke__text_clear(&svg);
  yoke__figure_nyquist(&curves, 0, &svg);
  check_svg(&svg);
  assert_null(strstr(svg.bytes, "class=\"ring\""));
  yoke__text_free(&svg);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loop),
      cmocka_unit_test(test_gaps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
