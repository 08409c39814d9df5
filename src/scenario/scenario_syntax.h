// What libyaml says about a broken file, in our words.
#ifndef YOKE_SCENARIO_SYNTAX_H
#define YOKE_SCENARIO_SYNTAX_H

#include <yaml.h>

#include "base/base_message.h"

// Reports the error at which parser stopped. bytes: the text it was given. origin: see
// yoke__tree_read.
void yoke__syntax_report(const yaml_parser_t* parser, const char* bytes, size_t n,
                         yoke_place origin, yoke_messages* messages);

#endif
