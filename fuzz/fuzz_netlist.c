// Fuzz target: any bytes as a netlist. What comes out must be whole: every index in range, every
// law can be evaluated.
//
// Input: a netlist. Files are not included, and expansion is bounded tightly so that a small input
// cannot cost seconds.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "circuit/netlist/circuit_netlist.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);

static void require(int is_true) {
  if (!is_true) {
    abort();
  }
}

static void use_law(const yoke_network* network, const yoke_expression* law) {
  double live[YOKE_EXPRESSION_MAX_LIVE], gradient[YOKE_EXPRESSION_MAX_LIVE];
  if (law == NULL) {
    return;
  }
  require(law->n_live <= YOKE_EXPRESSION_MAX_LIVE && law->n_operations > 0);
  for (uint32_t i = 0; i < law->n_live; i++) {
    const yoke_live* l = &law->live[i];
    require(l->kind == YOKE_LIVE_TIME ||
            (l->kind == YOKE_LIVE_INPUT && l->index < network->n_inputs) ||
            (l->kind == YOKE_LIVE_VOLTAGE && l->index < network->n_nodes) ||
            (l->kind == YOKE_LIVE_CURRENT && l->index < network->n_elements));
    live[i] = 0.5 + i;
  }

  // the value alone and the value with its derivatives are the same number
  const double value = yoke__expression_evaluate(law, live, NULL);
  const double again = yoke__expression_evaluate(law, live, gradient);
  require(value == again || (isnan(value) && isnan(again)));
}

static void use_elements(const yoke_network* network) {
  for (uint32_t i = 0; i < network->n_elements; i++) {
    const yoke_element* e = &network->elements[i];
    require(e->kind < YOKE_ELEMENT_N_KINDS && e->name != NULL);
    require(e->a < network->n_nodes && e->b < network->n_nodes);
    require(e->c < network->n_nodes && e->d < network->n_nodes);
    require(e->control == YOKE_NO_INDEX || e->control < network->n_elements);
    require((e->kind == YOKE_JUNCTION) == (e->junction != NULL));
    require((e->kind == YOKE_SWITCH) == (e->switching != NULL));
    use_law(network, e->value.law);
    use_law(network, e->condition);
    if (e->value.wave != NULL) {
      (void)yoke__wave_value(e->value.wave, 0.1);
      (void)yoke__wave_slope(e->value.wave, 0.1);
    }
  }
}

static void use_probes(const yoke_network* network, const yoke_probe* probes, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    require(probes[i].name != NULL && probes[i].dim != NULL);
    require((probes[i].kind == YOKE_PROBE_LAW) == (probes[i].law != NULL));
    use_law(network, probes[i].law);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n) {
  const yoke_netlist_settings settings = {
      .path = "fuzz.cir", .is_include_forbidden = true, .max_elements = 2000};
  yoke_messages messages = {0};
  yoke_network* network = NULL;
  const char* text = n == 0 ? "" : (const char*)bytes;
  const yoke_status status = yoke__netlist_read_text(text, n, &settings, &messages, &network);
  require((status == YOKE_OK) == (network != NULL));
  require((status == YOKE_BAD_INPUT) == (messages.n_errors > 0));
  if (network != NULL) {
    require(network->n_elements > 0 && network->n_nodes > 0);
    use_elements(network);
    use_probes(network, network->saves, network->n_saves);
    use_probes(network, network->outputs, network->n_outputs);
    for (uint32_t i = 0; i < network->n_parameters; i++) {
      require(network->parameters[i].name[0] != '\0' && network->parameters[i].text[0] != '\0');
    }
    for (uint32_t i = 0; i < network->n_nodes; i++) {
      use_law(network, network->nodes[i].fixed.law);
    }
  }
  char out[4096];
  yoke__messages_format(&messages, out, sizeof out);
  yoke__network_destroy(&network);
  yoke__messages_free(&messages);
  return 0;
}
