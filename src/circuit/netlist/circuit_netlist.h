// Reads a netlist: SPICE syntax plus thermal words, inputs and outputs. Grammar:
// docs/circuit_netlist.md.
#ifndef YOKE_CIRCUIT_NETLIST_H
#define YOKE_CIRCUIT_NETLIST_H

#include "circuit/network/circuit_network.h"

typedef struct yoke_netlist_parameter {
  const char* name;
  double value;
} yoke_netlist_parameter;

typedef struct yoke_netlist_settings {
  const char* path;  // for messages; `.include` starts in its folder
  const yoke_netlist_parameter*
      parameters;  // replace the values of top-level .param of these names
  size_t n_parameters;
  const yoke_network* known;  // read before with other parameters: its files are not opened again
  bool is_include_forbidden;  // no files are opened (fuzzing, text from the network)
  size_t max_elements;        // after expansion of subcircuits; 0: 4e6
} yoke_netlist_settings;

// Errors and warnings go to messages; all errors of a file in one go. Checks the network too. On
// failure *out is NULL.
yoke_status yoke__netlist_read_file(const yoke_netlist_settings* settings, yoke_messages* messages,
                                    yoke_network** out);
yoke_status yoke__netlist_read_text(const char* text, size_t n,
                                    const yoke_netlist_settings* settings, yoke_messages* messages,
                                    yoke_network** out);

// A netlist that was read, and what there was to say about it.
typedef struct yoke_netlist {
  yoke_network* network;
  yoke_messages messages;
} yoke_netlist;
// Reads the netlist as it stands. *out is NULL only without memory; its network is NULL if there were errors.
yoke_status yoke__netlist_open(const char* path, yoke_netlist** out);
void yoke__netlist_close(yoke_netlist** netlist);

#endif
