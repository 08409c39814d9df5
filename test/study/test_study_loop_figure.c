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

// The figures of docs/loop.md, written where the environment says (tools/make_figures).
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
    yoke__text_free(&nyquist);
    yoke__text_free(&bode);
  }
}

// The figures of docs/loop.md: one cut of 10 and 1 kg both ways.
static void test_both_causalities(void** state) {
  (void)state;
  static const char* const names[] = {"force to the light mass", "force to the heavy mass"};
  static double complex open[2][8000];
  yoke_synth_loop loops[2];
  mass_loop matrices[2];
  yoke_synth_loop_report reports[2];
  yoke_text nyquist = {0}, bode = {0}, both = {0};
  double* w = NULL;
  size_t n = 0;
  for (size_t i = 0; i < 2; i++) {
    const loop_masses m = {i == 0 ? 10 : 1, i == 0 ? 1 : 10, 1, 1, 0.5, 0.5, 200, 5};
    loops[i] = mass_loop_make(&m, 0.05, &matrices[i]);
    check_ok(yoke__synth_loop_analyse(&loops[i], &reports[i]));
  }
  check_ok(yoke__synth_loop_frequencies(&loops[0], &w, &n));
  assert_true(n <= 8000);
  yoke_curves curves = {.title = "10 kg and 1 kg, exchanged every 50 ms",
                        .subtitle = "sampled loop; red: distance of the first curve to +1",
                        .axis = "",
                        .x = w,
                        .n = n,
                        .n_curves = 2};
  for (size_t i = 0; i < 2; i++) {
    yoke_synth_loop_point* points = calloc(n, sizeof *points);
    assert_non_null(points);
    check_ok(yoke__synth_loop_sample(&loops[i], n, w, points));
    for (size_t k = 0; k < n; k++) {
      open[i][k] = points[k].open;
    }
    free(points);
    curves.of[i] = (yoke_curve){.name = names[i], .values = open[i]};
  }
  yoke__figure_nyquist(&curves, reports[0].margin.value, &both);
  check_ok(yoke__figure_loop(&loops[0], &reports[0], "force to the light mass", &nyquist, &bode));
  check_svg(&both);
  check_svg(&bode);
  assert_int_equal(count(both.bytes, "clip-path=\"url(#square)\" d="), 4);
  save("loop-nyquist", &both);
  save("loop-bode", &bode);
  yoke__text_free(&both);
  yoke__text_free(&nyquist);
  yoke__text_free(&bode);
  free(w);
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
      cmocka_unit_test(test_both_causalities),
      cmocka_unit_test(test_gaps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
