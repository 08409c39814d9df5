// XML: callbacks and tree see what is in the file, bombs and broken files are refused with line and column, what the
// writer wrote is read back, and every request for memory may fail.
#include "base/base_xml.h"

#include "base/base_check.h"
#include "base/base_number.h"
#include "support/check.h"
#include "support/failing_heap.h"

// ---------------------------------------------------------------------------------------------------------
// callbacks

typedef struct trace {
  char text[2048];
  int stop_at;  // callback number that answers with a failure, 0: none
  int n_calls;
} trace;

static yoke_status note(trace* t, const char* format, ...) YOKE_PRINTF(2, 3);

static yoke_status note(trace* t, const char* format, ...) {
  const size_t n = strlen(t->text);
  va_list args;
  va_start(args, format);
  vsnprintf(t->text + n, sizeof t->text - n, format, args);
  va_end(args);
  return ++t->n_calls == t->stop_at ? YOKE_INTERRUPTED : YOKE_OK;
}

static yoke_status trace_open(void* context, const char* name, const char* const* attributes,
                              int line) {
  char list[1024] = "";
  for (; *attributes != NULL; attributes += 2) {
    const size_t n = strlen(list);
    snprintf(list + n, sizeof list - n, " %s=%s", attributes[0], attributes[1]);
  }
  return note(context, "<%s@%d%s>", name, line, list);
}

static yoke_status trace_close(void* context, const char* name, int line) {
  return note(context, "</%s@%d>", name, line);
}

static yoke_status trace_text(void* context, const char* text, size_t n, int line) {
  (void)line;
  return note(context, "%.*s", (int)n, text);
}

static const yoke_xml_handler tracer = {trace_open, trace_close, trace_text};

// in a block of its own, so that a read behind the end is noticed
static yoke_status parse(const char* text, size_t n, const yoke_xml_handler* handler, void* context,
                         yoke_messages* messages) {
  char* bytes = malloc(n + (n == 0));
  assert_non_null(bytes);
  memcpy(bytes, text, n);
  const yoke_status status = yoke__xml_parse(bytes, n, "x.xml", handler, context, messages);
  free(bytes);
  return status;
}

static void check_trace(const char* text, size_t n, const char* want) {
  trace t = {{0}, 0, 0};
  yoke_messages messages = {0};
  const yoke_status status = parse(text, n, &tracer, &t, &messages);
  if (status < 0) {
    yoke__messages_print(&messages, stdout);
  }
  assert_int_equal(status, YOKE_OK);
  assert_int_equal(messages.n_errors, 0);
  assert_string_equal(t.text, want);
  yoke__messages_free(&messages);
}

static void callbacks_see_everything(void** state) {
  (void)state;
  static const char text[] = "<?xml version=\"1.0\"?>\n<!-- c -->\n<a x='1' y=\"2\">t&lt;&#65;\n"
                             "<b/><![CDATA[<&]]></a>\n";
  check_trace(text, strlen(text), "<a@3 x=1 y=2>t<A\n<b@4></b@4><&</a@4>");

  // without callbacks it is only checked
  static const yoke_xml_handler none = {NULL, NULL, NULL};
  yoke_messages messages = {0};
  check_ok(parse(text, strlen(text), &none, NULL, &messages));
  assert_int_equal(parse(text, strlen(text) - 5, &none, NULL, &messages), YOKE_BAD_INPUT);
  yoke__messages_free(&messages);
}

static void prefixes_are_cut_off(void** state) {
  (void)state;
  static const char text[] =
      "<ssd:System xmlns='u' xmlns:ssd='v' xsi:schemaLocation='w' ssd:name='n' xml:id='i' "
      "xmlnsy='z' xsix='k'/>";
  check_trace(text, strlen(text), "<System@1 name=n id=i xmlnsy=z xsix=k></System@1>");

  // of two with one name the plain one counts, wherever it stands
  static const char both[] = "<x a:n='1' n='2' b:n='3' a:m='4'/>";
  check_trace(both, strlen(both), "<x@1 n=2 m=4></x@1>");
}

// What is no prefix and name stays whole. Written and read again every name is the same.
static void names_come_back(void** state) {
  (void)state;
  static const struct {
    const char *written, *read;
  } cases[] = {
      {"n", "n"},
      {"_", "_"},
      {"a:n", "n"},
      {"a:_1", "_1"},
      {"\xc3\xa4:n", "n"},
      {"a:b:c", "a:b:c"},
      {"a:", "a:"},
      {":a", ":a"},
      {"a:1", "a:1"},
      {"a:-b", "a:-b"},
      {"a:.", "a:."},
      {"start:\xcc\x8cx", "start:\xcc\x8cx"},  // U+030C, a combining mark
      {"a:\xc2\xb7", "a:\xc2\xb7"},            // a middle dot
      {"a:\xc3\xa4", "a:\xc3\xa4"},
      {"a:xmlns", "a:xmlns"},
  };
  for (size_t i = 0; i < YOKE_COUNT(cases); i++) {
    char text[128], want[128];
    const char *name = cases[i].written, *read = cases[i].read;
    snprintf(text, sizeof text, "<%s %s='1'/>", name, name);
    snprintf(want, sizeof want, "<%s@1 %s=1></%s@1>", read, read, read);
    check_trace(text, strlen(text), want);
    yoke_xml_writer xml = {0};
    yoke__xml_open(&xml, read);
    yoke__xml_put(&xml, read, "1");
    yoke__xml_close(&xml, read);
    snprintf(want, sizeof want, "<%s@2 %s=1></%s@2>", read, read, read);
    check_trace(xml.text.bytes, xml.text.n, want);
    yoke__xml_free(&xml);
  }
}

static void encodings_are_converted(void** state) {
  (void)state;
  static const char latin[] = "<?xml version='1.0' encoding='ISO-8859-1'?><a n='\xe4'/>";
  check_trace(latin, strlen(latin), "<a@1 n=\xc3\xa4></a@1>");
  static const char windows[] =
      "<?xml version='1.0' encoding='Windows-1252'?><a n='\xe4\x80\x9f'/>";
  check_trace(windows, strlen(windows), "<a@1 n=\xc3\xa4\xe2\x82\xac\xc5\xb8></a@1>");
  static const char wide[] = "\xff\xfe<\0a\0 \0n\0=\0'\0\xe4\0'\0/\0>\0";
  check_trace(wide, sizeof wide - 1, "<a@1 n=\xc3\xa4></a@1>");
  static const char marked[] = "\xef\xbb\xbf<a/>";
  check_trace(marked, strlen(marked), "<a@1></a@1>");
}

static void callbacks_can_stop(void** state) {
  (void)state;
  static const char text[] = "<a>1<b/>2</a>";
  static const char* const seen[] = {"<a@1>", "<a@1>1", "<a@1>1<b@1>", "<a@1>1<b@1></b@1>"};
  for (int i = 1; i <= 4; i++) {
    trace t = {{0}, i, 0};
    yoke_messages messages = {0};
    assert_int_equal(parse(text, strlen(text), &tracer, &t, &messages), YOKE_INTERRUPTED);
    assert_string_equal(t.text, seen[i - 1]);
    assert_int_equal(messages.n_errors, 0);
  }
}

static void attributes_are_found(void** state) {
  (void)state;
  static const char* const list[] = {"a", "1", "b", "2", NULL};
  static const char* const none[] = {NULL};
  assert_string_equal(yoke__xml_attribute(list, "b"), "2");
  assert_null(yoke__xml_attribute(list, "1"));
  assert_null(yoke__xml_attribute(none, "a"));
}

// ---------------------------------------------------------------------------------------------------------
// refusals

static void check_refused(const char* text, size_t n, const char* part) {
  trace t = {{0}, 0, 0};
  yoke_messages messages = {0};
  char shown[1024];
  assert_int_equal(parse(text, n, &tracer, &t, &messages), YOKE_BAD_INPUT);
  yoke__messages_format(&messages, shown, sizeof shown);
  check_contains(shown, part);
  assert_int_equal(messages.n_errors, 1);
  yoke__messages_free(&messages);
}

static void broken_files_are_refused(void** state) {
  (void)state;
  static const struct {
    const char *text, *part;
  } cases[] = {
      {"", "x.xml:1:1: error: not well-formed XML: no element found"},
      {"  \n", "no element found"},
      {"text", "x.xml:1:1: error: not well-formed XML: syntax error"},
      {"<a>\n  <b></a>", "x.xml:2:8: error: not well-formed XML: mismatched tag"},
      {"<a x='1'\n x='2'/>", "x.xml:2:2: error: not well-formed XML: duplicate attribute"},
      {"<a>", "no element found"},
      {"<a", "unclosed token"},
      {"<a/><b/>", "x.xml:1:5: error: not well-formed XML: junk after document element"},
      {"<a>&nbsp;</a>", "undefined entity"},
      {"<a x='<'/>", "not well-formed (invalid token)"},
      {"<a>\xff</a>", "x.xml:1:4: error: not well-formed XML: not well-formed (invalid token)"},
      {"<a>\x01</a>", "invalid token"},
      {"<a>&#0;</a>", "invalid character"},
      {"<?xml version='1.0' encoding='klingon'?><a/>", "unknown encoding"},
      {"<?xml version='1.0' encoding='windows-12520'?><a/>", "unknown encoding"},
      {"<?xml version='1.0' encoding='windows-1252'?><a n='\x81'/>", "not well-formed"},
      {"<?xml version='1.0' encoding='UTF-16'?><a/>", "encoding"},
  };
  for (size_t i = 0; i < YOKE_COUNT(cases); i++) {
    check_refused(cases[i].text, strlen(cases[i].text), cases[i].part);
  }
  check_refused("<a>\0</a>", 8, "invalid token");
}

static void entities_are_refused(void** state) {
  (void)state;
  // ten to the ninth laughs
  char text[2048];
  size_t n = (size_t)snprintf(text, sizeof text, "<!DOCTYPE l [<!ENTITY l0 \"lol\">");
  for (int i = 1; i < 10; i++) {
    n += (size_t)snprintf(text + n, sizeof text - n, "<!ENTITY l%d \"", i);
    for (int k = 0; k < 10; k++) {
      n += (size_t)snprintf(text + n, sizeof text - n, "&l%d;", i - 1);
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "\">");
  }
  n += (size_t)snprintf(text + n, sizeof text - n, "]><l>&l9;</l>");
  assert_true(n < sizeof text);
  check_refused(text, strlen(text), "x.xml:1:");
  check_refused(text, strlen(text), "DOCTYPE with declarations (entities and the like)");
  static const char* const others[] = {
      "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>",
      "<!DOCTYPE a [<!ENTITY % x SYSTEM 'http://127.0.0.1/x'> %x;]><a/>",
      "<!DOCTYPE a [<!ATTLIST a b CDATA 'much'>]><a/>",
      "<!DOCTYPE a SYSTEM 'x.dtd' [<!ENTITY y 'z'>]><a>&y;</a>",
      "<!DOCTYPE a []><a/>",
  };
  for (size_t i = 0; i < YOKE_COUNT(others); i++) {
    check_refused(others[i], strlen(others[i]), "DOCTYPE with declarations");
  }

  // a plain one does no harm; the file it names is not read
  static const char plain[] = "<!DOCTYPE a SYSTEM '/etc/passwd'><a/>";
  check_trace(plain, strlen(plain), "<a@1></a@1>");
}

// before, n times text, behind
static char* repeat(const char* text, size_t n, const char* before, const char* behind) {
  const size_t size = strlen(before) + n * strlen(text) + strlen(behind) + 1;
  char* all = malloc(size);
  assert_non_null(all);
  size_t at = (size_t)snprintf(all, size, "%s", before);
  for (size_t i = 0; i < n; i++) {
    at += (size_t)snprintf(all + at, size - at, "%s", text);
  }
  snprintf(all + at, size - at, "%s", behind);
  return all;
}

static void depth_is_bounded(void** state) {
  (void)state;
  char* bomb = repeat("<a>", 1000000, "", "");
  check_refused(bomb, strlen(bomb), "x.xml:1:193: error: elements are nested deeper than 64");
  free(bomb);

  // 64 are fine
  char* closing = repeat("</a>", 64, "", "");
  char* fine = repeat("<a>", 64, "", closing);
  static const yoke_xml_handler none = {NULL, NULL, NULL};
  yoke_messages messages = {0};
  check_ok(parse(fine, strlen(fine), &none, NULL, &messages));
  yoke_arena arena = {0};
  yoke_xml_node* root = NULL;
  check_ok(yoke__xml_tree(fine, strlen(fine), "x.xml", &arena, &messages, &root));
  int depth = 0;
  for (const yoke_xml_node* node = root; node != NULL; node = node->first) {
    depth++;
  }
  assert_int_equal(depth, 64);
  yoke__arena_free(&arena);
  free(closing);
  free(fine);
}

static void attributes_are_bounded(void** state) {
  (void)state;
  static char many[1u << 16];
  static const yoke_xml_handler none = {NULL, NULL, NULL};
  for (int n = 1000; n <= 1001; n++) {
    size_t length = (size_t)snprintf(many, sizeof many, "<a");
    for (int i = 0; i < n; i++) {
      length += (size_t)snprintf(many + length, sizeof many - length, " p:a%d=''", i);
    }
    length += (size_t)snprintf(many + length, sizeof many - length, "/>");
    assert_true(length < sizeof many);
    yoke_messages messages = {0};
    if (n == 1000) {
      check_ok(parse(many, length, &none, NULL, &messages));
    } else {
      check_refused(many, length, "an element has more than 1000 attributes");
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// tree

static void tree_is_complete(void** state) {
  (void)state;
  static const char text[] = "<?xml version='1.0'?>\n"
                             "<r:root v='1'>\n one <a n='x'/>two<b> <c/> </b>\n"
                             "<a n='y' m='&quot;'> inner\n text </a> three </r:root>";
  yoke_arena arena = {0};
  yoke_messages messages = {0};
  yoke_xml_node* root = NULL;
  check_ok(yoke__xml_tree(text, strlen(text), "x.xml", &arena, &messages, &root));
  assert_string_equal(root->name, "root");
  assert_int_equal(root->line, 2);
  assert_null(root->parent);
  assert_null(root->next);
  assert_string_equal(root->text, "one two\n three");
  assert_string_equal(yoke__xml_get(root, "v"), "1");
  assert_null(yoke__xml_get(root, "w"));
  const yoke_xml_node* a = yoke__xml_child(root, "a");
  assert_ptr_equal(a, root->first);
  assert_ptr_equal(a->parent, root);
  assert_string_equal(a->text, "");
  assert_string_equal(yoke__xml_get(a, "n"), "x");
  assert_string_equal(a->next->name, "b");
  assert_string_equal(a->next->text, "");
  assert_non_null(yoke__xml_child(a->next, "c"));
  a = yoke__xml_next(a);
  assert_string_equal(yoke__xml_get(a, "n"), "y");
  assert_string_equal(yoke__xml_get(a, "m"), "\"");
  assert_string_equal(a->text, "inner\n text");
  assert_int_equal(a->line, 4);
  assert_null(yoke__xml_next(a));
  assert_null(a->next);
  assert_null(yoke__xml_child(root, "none"));

  // nothing of nothing
  assert_null(yoke__xml_child(NULL, "a"));
  assert_null(yoke__xml_next(NULL));
  assert_null(yoke__xml_get(NULL, "a"));

  // a broken file gives no tree
  assert_int_equal(yoke__xml_tree(text, 60, "x.xml", &arena, &messages, &root), YOKE_BAD_INPUT);
  assert_null(root);
  yoke__arena_free(&arena);
  yoke__messages_free(&messages);
}

// ---------------------------------------------------------------------------------------------------------
// writer

static void writer_gives_this_text(void** state) {
  (void)state;
  yoke_xml_writer xml = {0};
  yoke__xml_open(&xml, "a");
  yoke__xml_put(&xml, "z", "1 < 2 & \"3\" > '4'");
  yoke__xml_put(&xml, "b", "\t\n\r\x01\x1f\x7f");
  yoke__xml_put_number(&xml, "x", 0.1);
  yoke__xml_put_number(&xml, "y", -1e300);
  yoke__xml_put_number(&xml, "n", (double)NAN);
  yoke__xml_put_number(&xml, "i", HUGE_VAL);
  yoke__xml_put_number(&xml, "j", -HUGE_VAL);
  yoke__xml_put_integer(&xml, "k", INT64_MIN);
  yoke__xml_open(&xml, "b");
  yoke__xml_close(&xml, "b");
  yoke__xml_open(&xml, "c");
  yoke__xml_put_text(&xml, "x < y & \"z\"\n\r\x02");
  yoke__xml_put_text(&xml, "more");
  yoke__xml_close(&xml, "c");
  yoke__xml_open(&xml, "d");
  yoke__xml_open(&xml, "e");
  yoke__xml_close(&xml, "e");
  yoke__xml_close(&xml, "d");
  yoke__xml_close(&xml, "a");
  assert_int_equal(xml.text.status, YOKE_OK);
  assert_int_equal(xml.text.n, strlen(xml.text.bytes));
  assert_string_equal(
      xml.text.bytes,
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<a z=\"1 &lt; 2 &amp; &quot;3&quot; &gt; '4'\" b=\"&#9;&#10;&#13;??\x7f\" x=\"0.1\" "
      "y=\"-1e300\" n=\"NaN\" i=\"INF\" j=\"-INF\" k=\"-9223372036854775808\">\n"
      "  <b/>\n"
      "  <c>x &lt; y &amp; \"z\"\n&#13;?more</c>\n"
      "  <d>\n"
      "    <e/>\n"
      "  </d>\n"
      "</a>\n");
  yoke__xml_free(&xml);
  assert_null(xml.text.bytes);
}

// every character that XML allows comes back; everything else becomes '?', byte by byte
static void texts_come_back(void** state) {
  (void)state;
  static const struct {
    const char *written, *read;
  } cases[] = {
      {"", ""},
      {"a b", "a b"},
      {" lead\ttab\nline\r\nend ", " lead\ttab\nline\r\nend "},
      {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
      {"\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbd\xf4\x8f\xbf\xbf",
       "\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbd\xf4\x8f\xbf\xbf"},
      {"]]>", "]]>"},
      {"a\xff"
       "b",
       "a?b"},
      {"\xc0\x80", "??"},            // overlong
      {"\xe0\x9f\xbf", "???"},       // overlong
      {"\xed\xa0\x80", "???"},       // surrogate
      {"\xef\xbf\xbe", "???"},       // U+FFFE
      {"\xef\xbf\xbf", "???"},       // U+FFFF
      {"\xf4\x90\x80\x80", "????"},  // beyond U+10FFFF
      {"\xf8\x88\x80\x80\x80", "?????"},
      {"\xe2\x82", "??"},  // cut off
      {"\xf0\x9f\x98", "???"},
  };
  for (size_t i = 0; i < YOKE_COUNT(cases); i++) {
    yoke_xml_writer xml = {0};
    yoke__xml_open(&xml, "a");
    yoke__xml_put(&xml, "v", cases[i].written);
    yoke__xml_put_text(&xml, "[");
    yoke__xml_put_text(&xml, cases[i].written);
    yoke__xml_put_text(&xml, "]");
    yoke__xml_close(&xml, "a");
    yoke_arena arena = {0};
    yoke_messages messages = {0};
    yoke_xml_node* root = NULL;
    char want[64];
    if (yoke__xml_tree(xml.text.bytes, xml.text.n, "x.xml", &arena, &messages, &root) < 0) {
      yoke__messages_print(&messages, stdout);
      fail_msg("case %zu: %s", i, xml.text.bytes);
    }
    assert_string_equal(yoke__xml_get(root, "v"), cases[i].read);
    snprintf(want, sizeof want, "[%s]", cases[i].read);
    assert_string_equal(root->text, want);
    yoke__arena_free(&arena);
    yoke__xml_free(&xml);
  }
}

static void numbers_come_back(void** state) {
  (void)state;
  static const double values[] = {0,    -0.0,     0.1, 1.0 / 3, 1e-320, 1.7976931348623157e308,
                                  1e22, 123456789};
  for (size_t i = 0; i < YOKE_COUNT(values); i++) {
    yoke_xml_writer xml = {0};
    yoke__xml_open(&xml, "a");
    yoke__xml_put_number(&xml, "v", values[i]);
    yoke__xml_close(&xml, "a");
    yoke_arena arena = {0};
    yoke_messages messages = {0};
    yoke_xml_node* root = NULL;
    check_ok(yoke__xml_tree(xml.text.bytes, xml.text.n, "x.xml", &arena, &messages, &root));
    double back = 1;
    assert_true(yoke__number_parse(yoke__xml_get(root, "v"), &back));
    assert_memory_equal(&back, &values[i], sizeof back);
    yoke__arena_free(&arena);
    yoke__xml_free(&xml);
  }
}

static void misuse_is_noticed(void** state) {
  (void)state;
  yoke_xml_writer xml = {0};
  yoke__xml_close(&xml, "a");
  assert_int_equal(xml.text.status, YOKE_BAD_ARG);
  yoke__xml_free(&xml);
  yoke__xml_put_text(&xml, "a");
  assert_int_equal(xml.text.status, YOKE_BAD_ARG);
  yoke__xml_free(&xml);
  yoke__xml_open(&xml, "a");
  yoke__xml_put_text(&xml, "t");
  yoke__xml_put(&xml, "late", "1");
  assert_int_equal(xml.text.status, YOKE_BAD_ARG);
  yoke__xml_free(&xml);
}

// ---------------------------------------------------------------------------------------------------------
// out of memory

static void memory_may_run_out(void** state) {
  (void)state;
#if HAS_OWN_MALLOC
  char* text = repeat("<b n='value'>some text</b>", 2000, "<a>", "</a>");
  const size_t n = strlen(text);
  long n_failures = 0;
  for (bool is_over = false; !is_over; n_failures++) {
    yoke_arena arena = {0};
    yoke_messages messages = {0};
    yoke_xml_node* root = NULL;
    heap = (failing_heap){.is_on = true, .fails_at = n_failures};
    const yoke_status status = yoke__xml_tree(text, n, "x.xml", &arena, &messages, &root);
    yoke__arena_free(&arena);
    yoke__messages_free(&messages);
    heap.is_on = false;
    is_over = heap.n_requests <= n_failures;
    assert_true(status >= 0 || !is_over);
    assert_true(status == YOKE_NO_MEMORY || status == YOKE_OK);
    assert_true((root == NULL) == (status < 0));
    assert_int_equal(heap.n_blocks, 0);
  }
  check_between((double)n_failures, 10, 1000);  // the loop met requests

  n_failures = 0;
  for (bool is_over = false; !is_over; n_failures++) {
    yoke_xml_writer xml = {0};
    heap = (failing_heap){.is_on = true, .fails_at = n_failures};
    yoke__xml_open(&xml, "a");
    for (int i = 0; i < 1000; i++) {
      yoke__xml_open(&xml, "b");
      yoke__xml_put(&xml, "n", "value");
      yoke__xml_close(&xml, "b");
    }
    yoke__xml_close(&xml, "a");
    is_over = heap.n_requests <= n_failures;
    assert_int_equal(xml.text.status, is_over ? YOKE_OK : YOKE_NO_MEMORY);
    yoke__xml_free(&xml);
    heap.is_on = false;
    assert_int_equal(heap.n_blocks, 0);
  }
  check_between((double)n_failures, 3, 100);
  free(text);
#else
  skip();
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(callbacks_see_everything), cmocka_unit_test(prefixes_are_cut_off),
      cmocka_unit_test(names_come_back),          cmocka_unit_test(encodings_are_converted),
      cmocka_unit_test(callbacks_can_stop),       cmocka_unit_test(attributes_are_found),
      cmocka_unit_test(broken_files_are_refused), cmocka_unit_test(entities_are_refused),
      cmocka_unit_test(depth_is_bounded),         cmocka_unit_test(attributes_are_bounded),
      cmocka_unit_test(tree_is_complete),         cmocka_unit_test(writer_gives_this_text),
      cmocka_unit_test(texts_come_back),          cmocka_unit_test(numbers_come_back),
      cmocka_unit_test(misuse_is_noticed),        cmocka_unit_test(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
