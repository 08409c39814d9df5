// Out of memory at every single allocation of the SSP reader: it says so, leaves nothing behind and does not crash.
#include "scenario/scenario.h"
#include "support/check.h"
#include "support/failing_heap.h"

#if HAS_OWN_MALLOC

// systems, a dictionary, units, bindings, a mapping and our annotation
static const char good[] =
    "<SystemStructureDescription version='1.0' name='n'><System name='s'>"
    "<Connectors><Connector name='p' kind='parameter'><Real unit='g'/></Connector></Connectors>"
    "<ParameterBindings><ParameterBinding prefix='in.'><ParameterValues><ParameterSet><Parameters>"
    "<Parameter name='k'><Real value='1 2' unit='g'/></Parameter></Parameters></ParameterSet>"
    "</ParameterValues><ParameterMapping><ParameterMapping><MappingEntry source='in.k' "
    "target='a.k'><LinearTransformation factor='2'/></MappingEntry><MappingEntry source='in.k' "
    "target='p'/></ParameterMapping></ParameterMapping></ParameterBinding></ParameterBindings>"
    "<Elements><Component name='a' source='r/../a.fmu'><Connectors><Connector name='k' "
    "kind='parameter'><Real unit='kg'/></Connector><Connector name='y' kind='output'/>"
    "</Connectors></Component><System name='t'><Elements><Component name='a' source='b.fmu'>"
    "<Connectors><Connector name='u' kind='input'/></Connectors></Component>"
    "<SignalDictionaryReference name='r' dictionary='d'><Connectors><Connector name='e' "
    "kind='inout'/></Connectors></SignalDictionaryReference></Elements><Connections><Connection "
    "startElement='r' startConnector='e' endElement='a' endConnector='u'/></Connections></System>"
    "<SignalDictionaryReference name='r' dictionary='d'><Connectors><Connector name='e' "
    "kind='inout'/></Connectors></SignalDictionaryReference></Elements><Connections><Connection "
    "startElement='a' startConnector='y' endElement='r' endConnector='e'/><Connection "
    "startConnector='p' endElement='a' endConnector='k'/></Connections><SignalDictionaries>"
    "<SignalDictionary name='d'><SignalDictionary><DictionaryEntry name='e'><Real/>"
    "</DictionaryEntry></SignalDictionary></SignalDictionary></SignalDictionaries></System><Units>"
    "<Unit name='kg'><BaseUnit kg='1'/></Unit><Unit name='g'><BaseUnit kg='1' factor='0.001'/>"
    "</Unit></Units><DefaultExperiment stopTime='1'/><Annotations><Annotation "
    "type='org.yoke.system'>\ntime: {step: 0.1}\nunits: {a: {step: 0.1}}\nconnections: [a.y -> "
    "t_a.u]\n</Annotation></Annotations></SystemStructureDescription>";

// Reads with a heap that fails at call n; true if it was never asked that often.
static bool read_with_failure(const char* text, yoke_status expected, long n, bool fails_onwards) {
  yoke_messages messages = {0};
  yoke_scenario* s = NULL;
  heap.n_requests = heap.n_blocks = 0;
  heap.fails_at = n;
  heap.fails_onwards = fails_onwards;
  heap.is_on = true;
  const yoke_status status =
      yoke__scenario_read(text, strlen(text), "m.ssd", NULL, 0, &messages, &s);
  const bool is_done = heap.n_requests <= n;
  const bool has_result = s != NULL;
  yoke__scenario_free(&s);
  yoke__messages_free(&messages);
  heap.is_on = false;
  if (heap.n_blocks != 0) {
    fail_msg("call %ld failed: %ld blocks are left over", n, heap.n_blocks);
  }
  const bool is_expected = status == expected && has_result == (status == YOKE_OK);
  const bool is_short = status == YOKE_NO_MEMORY && !has_result;
  if (!(is_done ? is_expected : is_short || is_expected)) {
    fail_msg("call %ld failed: status %d (%s)", n, (int)status, yoke_status_text(status));
  }
  return is_done;
}

static void try_all(const char* text, yoke_status expected) {
  for (int mode = 0; mode < 2; mode++) {
    long n = 0;
    while (!read_with_failure(text, expected, n, mode == 1)) {
      n++;
    }
    print_message("%ld allocations refused in turn\n", n);
    assert_true(n > 10);
  }
}

static void test_good(void** state) {
  (void)state;
  try_all(good, YOKE_OK);
}

static void test_bad(void** state) {
  (void)state;
  try_all("<SystemStructureDescription><System><Elements><Component name='a' source='no.ssd'/>"
          "<Component/></Elements></System></SystemStructureDescription>",
          YOKE_BAD_INPUT);
}

#else

static void test_skipped(void** state) {
  (void)state;
  skip();
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
#if HAS_OWN_MALLOC
    cmocka_unit_test(test_good),
    cmocka_unit_test(test_bad),
#else
    cmocka_unit_test(test_skipped),
#endif
  };
  return cmocka_run_group_tests_name("scenario_ssp_memory", tests, NULL, NULL);
}
