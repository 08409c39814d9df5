// What the files of estimate_innovation.h share.
#ifndef YOKE_ESTIMATE_INNOVATION_PART_H
#define YOKE_ESTIMATE_INNOVATION_PART_H

#include "estimate/estimate_innovation.h"

yoke_white_report yoke__white_report_of_sums(const yoke_white_sums* sums);
// Keeps the worse of what there is and a mean square of n variables; the limits are those of x = ln(2 / chance).
void yoke__white_judge_square(yoke_finding* worst, yoke_statistic statistic, double value, double n,
                              double x);

#endif
