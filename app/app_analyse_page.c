// The analysis as a page: what the command prints, with its figures, which lie beside it.
#include <math.h>

#include "app/app_analyse.h"
#include "base/base_check.h"

#define TEXT(string_) yoke__text_add(to, "%s", (string_))

void yoke__app_analyse_escape(yoke_text* to, const char* text) {
  for (; *text != '\0'; text++) {
    switch (*text) {
    case '&':
      TEXT("&amp;");
      break;
    case '<':
      TEXT("&lt;");
      break;
    case '>':
      TEXT("&gt;");
      break;
    default:
      yoke__text_add(to, "%c", *text);
    }
  }
}

static void add_rows(const yoke_app_analysis* a, yoke_text* to) {
  TEXT("<table><tr><th>method</th><th>radius</th><th></th><th>first unstable step</th></tr>\n");
  for (size_t i = 0; i < a->n_rows; i++) {
    const yoke_app_analyse_row* row = &a->rows[i];
    yoke__text_add(to, "<tr><td>%s</td>", yoke__linear_method_names[row->method]);
    if (!row->is_known) {
      const char* why = a->loops->judges[row->method].why;
      TEXT("<td></td><td>unknown</td><td>");
      yoke__app_analyse_escape(to, why == NULL ? "the models form an algebraic loop" : why);
    } else {
      yoke__text_add(to, "<td>%.9g</td><td>%s</td><td>", row->radius,
                     row->is_stable ? "stable" : "unstable");
      if (yoke__is_finite(row->first)) {
        yoke__text_add(to, "%.6g s", row->first);
      } else {
        TEXT("none");
      }
    }
    TEXT("</td></tr>\n");
  }
  TEXT("</table>\n");
}

int yoke__app_analyse_page(const yoke_app_analyse* app, const yoke_app_analysis* a) {
  static const char* const names[] = {"analysis.html"};
  yoke_text text = {0}, *to = &text;
  TEXT("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
  yoke__app_analyse_escape(to, a->system.name);
  TEXT("</title>\n<style>body { font-family: sans-serif; max-width: 60em; margin: 2em auto; }\n"
       "th, td { text-align: left; padding: 0.1em 1em 0.1em 0; }\nimg { width: 100%; }</style>\n"
       "</head><body>\n<h1>");
  yoke__app_analyse_escape(to, a->system.name);
  TEXT("</h1>\n<p>");
  yoke__app_analyse_escape(to, a->advice);
  yoke__text_add(to,
                 "</p>\n<h2>Coupling methods at %.6g s</h2>\n<p>Coupling in the file: ", a->step);
  yoke__app_analyse_escape(to, a->loops->file.text);
  yoke__text_add(to, ". Linearised at %.6g s.</p>\n", a->at);
  add_rows(a, to);
  TEXT("<h2>Radius over the step</h2>\n<img src=\"radius.svg\" alt=\"radius over the step\">\n");
  if (a->cuts != NULL) {
    yoke__app_loops_page(a->cuts, to);
  }
  for (size_t i = 0; i < a->messages->n; i++) {
    TEXT("<p>Note: ");
    yoke__app_analyse_escape(to, a->messages->all[i].text);
    TEXT("</p>\n");
  }
  TEXT("</body></html>\n");
  return yoke__app_analyse_write(app, names, &text, 1);
}
