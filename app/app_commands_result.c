// Tables of the commands that read results: compare, meter, report.
#include "app/app_commands.h"

// ---- compare

static const yoke_operand compare_operands[] = {
    {"RESULT", false, YOKE_ARGUMENT_FILE,
     "A CSV file whose first column is time, an HDF5 file of yoke run (results.h5), or a "
     "folder with one of them. MAT files are not read."},
    {"REFERENCE", false, YOKE_ARGUMENT_FILE, "The reference, in the same form."},
};
// in the order of yoke_measure, then ter and frf
static const char* const compare_measures[] = {"nrmse",     "rmse", "max", "end", "error",
                                               "roughness", "ter",  "frf", NULL};
static const yoke_option compare_options[] = {
    {"signal", "NAME", true, YOKE_ARGUMENT_TEXT, NULL,
     "Compare this signal only. The name of a column, or a pattern with * and ?. "
     "The default is every column that both files have."},
    {"measure", "LIST", true, YOKE_ARGUMENT_CHOICE, compare_measures,
     "Print these measures. nrmse is the root mean square error divided by the range of the "
     "reference, rmse the same undivided, max the largest absolute difference and when it occurs, "
     "end the difference at the last common time; the default is these four. error is the mean "
     "absolute difference divided by the range of the reference, roughness the noise in the "
     "difference. ter compares the bonds of two runs: their total energy residuals (TER), the "
     "ratio of these, and the error energy against the reference. frf is the frequency response "
     "from --input to every --signal, with its coherence."},
    {"input", "NAME", false, YOKE_ARGUMENT_TEXT, NULL,
     "With frf: the signal that drives the system, a column of both files."},
    {"resolution", "HZ", false, YOKE_ARGUMENT_TEXT, NULL,
     "With frf: distance of the frequencies. A smaller one shows sharper resonances and averages "
     "less. The default gives 8 averages."},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "With frf: write all frequencies (frf.csv) and a drawing (frf.svg) into this folder."},
    {"limit", "MEASURE=VALUE", true, YOKE_ARGUMENT_TEXT, NULL,
     "End with status 3 if a signal exceeds VALUE in this measure. "
     "A result that is not a number exceeds every limit."},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print the measures as JSON."},
};
static const yoke_exit compare_exits[] = {
    {YOKE_EXIT_OK, "Compared, and no limit is exceeded."},
    STATUS_FAILED,
    STATUS_USAGE,
    {YOKE_EXIT_QUALITY, "Compared, and a limit is exceeded."},
};
static const yoke_example compare_examples[] = {
    {"yoke compare results/jacobi results/gauss-seidel --measure ter",
     "Which of two couplings has the smaller energy residual."},
    {"yoke compare results/crane reference.csv", "All common signals, all measures."},
    {"yoke compare results/crane results/fine --signal 'arm.*' --measure nrmse,max",
     "Two runs, the signals of one unit."},
    {"yoke compare results/coarse results/fine --measure frf --input steer.torque --signal "
     "car.yaw_rate",
     "The frequency response of two runs that were driven by a chirp."},
    {"yoke compare results/crane reference.csv --limit nrmse=0.01 --json",
     "For a script: status 3 if a signal is off by more than one percent."},
};
const yoke_command yoke__command_compare = {
    "compare",
    "measure how far a result is from a reference",
    "Compares signals of two result files that may have different time grids. The reference is "
    "interpolated linearly to the times of the result inside the interval that both cover.\n\n"
    "With --measure ter the bonds of two runs are compared instead. Runs of different duration, "
    "exchange or convention are refused, and a warning says where the smaller residual need not be "
    "the smaller error.",
    LIST(compare_operands),
    LIST(compare_options),
    LIST(compare_exits),
    LIST(compare_examples),
    yoke_cmd_compare,
};

// ---- meter

static const yoke_operand meter_operands[] = {
    {"RESULT", false, YOKE_ARGUMENT_FILE,
     "A CSV file whose first column is time, an HDF5 file of yoke run (results.h5), or a "
     "folder with one of them. MAT files are not read."},
};
static const yoke_option meter_options[] = {
    {"effort-in", "NAMES", false, YOKE_ARGUMENT_TEXT, NULL,
     "The column of the effort as its receiver got it, in SI units. Several, separated by commas, "
     "make a vector, and so does the name of an array."},
    {"effort-out", "NAMES", false, YOKE_ARGUMENT_TEXT, NULL, "The effort as its sender gave it."},
    {"flow-in", "NAMES", false, YOKE_ARGUMENT_TEXT, NULL, "The flow as its receiver got it."},
    {"flow-out", "NAMES", false, YOKE_ARGUMENT_TEXT, NULL, "The flow as its sender gave it."},
    {"bond", "NAME", false, YOKE_ARGUMENT_TEXT, NULL,
     "Take the four signals of this bond, and which step they belong to, from summary.json."},
    {"window", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Length of the moving window whose worst value is printed. The default is 1."},
    {"hold", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "A row is valid until the next one, as the meter unit takes it. This is the default."},
    {"linear", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Interpolate the signals linearly between the rows."},
    {"from", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL, "Ignore rows before this time."},
    {"to", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL, "Ignore rows after this time."},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write the running values to DIR/meter.csv. The folder is made if it is missing."},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print the values as JSON."},
};
static const yoke_exit meter_exits[] = {
    {YOKE_EXIT_OK, "Measured."},
    STATUS_FAILED,
    STATUS_USAGE,
};
static const yoke_example meter_examples[] = {
    {"yoke meter bench.csv --effort-in tau_sim --effort-out tau_meas --flow-in omega_meas "
     "--flow-out omega_ref",
     "Four measured signals of a test bench."},
    {"yoke meter results/jacobi --bond joint", "A bond of a run that recorded its inputs."},
};
const yoke_command yoke__command_meter = {
    "meter",
    "measure the total energy residual of recorded signals",
    "Computes from recorded signals what a meter in the system computes during a run: the power "
    "mismatch between the two ends of a bond. It prints the accumulated magnitude of that mismatch "
    "(TER), TER relative to the transferred energy, the shares of flow and effort, and the worst "
    "window. From the inputs that a meter unit recorded it gives that unit's values, bit by bit.",
    LIST(meter_operands),
    LIST(meter_options),
    LIST(meter_exits),
    LIST(meter_examples),
    yoke_cmd_meter,
};

// ---- report

static const yoke_operand report_operands[] = {
    {"RESULT", false, YOKE_ARGUMENT_FOLDER,
     "The folder of a result of yoke run or yoke circuit: summary.json, and results.csv or "
     "results.h5. The system file is not needed any more."},
};
static const yoke_option report_options[] = {
    {"reference", "RESULT2", false, YOKE_ARGUMENT_FILE, NULL,
     "Draw the signals that RESULT2 shares with the result as thin lines beside the curves, and "
     "print the largest difference of each next to its error band. A CSV file, an HDF5 file of "
     "yoke run, or a folder with one of them."},
    {"before", "RESULT3", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Add the page of another result, for example that of the settings before, as a second tab."},
};
static const yoke_exit report_exits[] = {
    {YOKE_EXIT_OK, "The page is written."},
    {YOKE_EXIT_FAILED, "The page cannot be written, or memory ran out."},
    {YOKE_EXIT_USAGE,
     "The command line is wrong, a result is missing or damaged, or the reference has no signal in "
     "common with the result."},
};
static const yoke_example report_examples[] = {
    {"yoke report results/crane", "Write results/crane/report.html."},
    {"yoke report results/crane --reference scenarios/hydraulic-crane/reference.csv",
     "The same with the solution of the undivided system beside the curves."},
    {"yoke report results/fine --before results/coarse", "Two runs on one page, a tab each."},
};
const yoke_command yoke__command_report = {
    "report",
    "make the page about a run from its result",
    "Writes RESULT/report.html and prints its name: how far the signals can be off, their curves "
    "with error bands, graph of the system, energy of the bonds, step times, messages and settings "
    "on one page that loads nothing. Without options it is the page that --report of yoke run and "
    "yoke circuit writes, byte by byte.",
    LIST(report_operands),
    LIST(report_options),
    LIST(report_exits),
    LIST(report_examples),
    yoke_cmd_report,
};
