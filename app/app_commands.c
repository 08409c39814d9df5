// The commands: their arguments, options, exit statuses and examples. Parser, help, man page and
// completion all read these tables.
#include <string.h>

#include "app/app.h"
#include "base/base_check.h"
#include "base/base_format.h"
#include "study/study_assess.h"
#include "study/study_linear.h"

#define LIST(array) array, YOKE_COUNT(array)

#define STATUS_FAILED                                                                              \
  { YOKE_EXIT_FAILED, "The output could not be written." }
#define STATUS_USAGE                                                                               \
  { YOKE_EXIT_USAGE, "The command line is wrong, or an input file is missing or has errors." }

static const char system_help[] =
    "A system file (YAML), an SSP archive (car.ssp; another variant in it with car.ssp#Name.ssd), "
    "an "
    "SSD file, an FMU, which is run on its own with its default experiment, or a netlist (x.cir), "
    "run on its own with its .tran.";
static const char set_help[] =
    "Change one setting of the system file. For example --set units.left.with.k=20. Paths are "
    "those "
    "of the file, the change is made before the file is checked, and the messages are the same.";

// ---- run

static const yoke_operand run_operands[] = {
    {"SYSTEM", false, YOKE_ARGUMENT_FILE, system_help},
};
static const char* const trust_words[] = {"auto", "both", "half", "cheap", "none", NULL};
static const yoke_option run_options[] = {
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, set_help},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write the results to DIR, which is made if it is missing. "
     "The default is results/ and the name of the system file without its extension."},
    {"format", "LIST", true, YOKE_ARGUMENT_CHOICE, yoke__format_names,
     "Formats of the result file. One or several of csv, hdf5 and mat with commas between them. "
     "The default is what the system file asks for, else csv."},
    {"report", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Also write report.html: error bands, plots, the system as a graph, the energy of its bonds, "
     "step times and settings on one page that needs nothing else."},
    {"trust", "MODE", false, YOKE_ARGUMENT_CHOICE, trust_words,
     "What the result is compared with to find its error: both (half the steps, and another "
     "coupling method), half, cheap (both, the second with fewer steps), none, or auto: both, "
     "unless that would take more than 60 s of computing time. The results do not depend on it. "
     "The default is what the system file says, else auto."},
    {"within", "ERROR", true, YOKE_ARGUMENT_TEXT, NULL,
     "Look for settings first, as yoke advise does, and run the cheapest one whose error stays "
     "within this: a share of the movement of all signals such as 1%, or an error of one signal in "
     "its own unit such as arm.s=2e-3. If none does, the best one is run. May be given several "
     "times."},
    {"no-verdict", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Exit with status 0 also if the result is judged wrong."},
    {"threads", "N", false, YOKE_ARGUMENT_TEXT, NULL,
     "Step the units on N threads. 0 lets the program choose. "
     "The numbers do not depend on it: they are the same to the last bit."},
    {"strict", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Treat warnings about the system file and its FMUs as errors."},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print the contents of summary.json instead of the summary."},
    {"quiet", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print no progress and no summary. Warnings and errors are still printed."},
};
static const yoke_exit run_exits[] = {
    {YOKE_EXIT_OK, "The run is complete."},
    {YOKE_EXIT_FAILED,
     "The run failed: a unit failed, a value became NaN or infinite, or the output "
     "could not be written. Results up to that step are kept."},
    STATUS_USAGE,
    {YOKE_EXIT_QUALITY,
     "A quality limit that the system file gives was violated, or the result diverged or is judged "
     "wrong (unless --no-verdict or trust: {status: false} in the file). Results are complete; a "
     "stop limit ends the run early."},
    {YOKE_EXIT_INTERRUPTED,
     "The run was interrupted (Ctrl-C). Results up to the last step are complete."},
};
static const yoke_example run_examples[] = {
    {"yoke run crane.yaml", "Run the system and write results/crane/results.csv."},
    {"yoke run crane.yaml --set time.step=5e-4 --out results/fine",
     "The same with half the step, into a folder of its own."},
    {"yoke run crane.yaml --report", "The same, with results/crane/report.html to look at."},
    {"yoke run crane.yaml --format csv,hdf5 --quiet", "Two formats, nothing on the terminal."},
    {"yoke run engine.fmu --set time.stop=5 --set units.engine.with.mass=120",
     "An FMU on its own; the unit has the name of the file."},
    {"yoke run car.ssp --set time.step=1e-3", "A system of another tool."},
};
const yoke_command yoke__command_run = {
    "run",
    "run a system and write its results",
    "Reads the system file, connects its units, runs them together from the start to the stop time "
    "and writes the signals at every exchange point to results.csv, and what was run and how "
    "long it took to summary.json.\n\n"
    "The files get their final names at the end, also after a failed run. On a terminal a progress "
    "line is shown.",
    LIST(run_operands),
    LIST(run_options),
    LIST(run_exits),
    LIST(run_examples),
    yoke_cmd_run,
};

// ---- check

static const yoke_operand check_operands[] = {
    {"SYSTEM", false, YOKE_ARGUMENT_FILE, system_help},
};
static const yoke_option check_options[] = {
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print the resolved system as JSON."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, set_help},
    {"strict", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Treat warnings about the system file and its FMUs as errors."},
};
static const yoke_exit check_exits[] = {
    {YOKE_EXIT_OK, "The system can be run."},
    STATUS_FAILED,
    STATUS_USAGE,
};
static const yoke_example check_examples[] = {
    {"yoke check crane.yaml", "Print every unit, connection and bond with all defaults filled in."},
    {"yoke check crane.yaml --json | jq .units", "The same for a program."},
    {"yoke check car.ssp", "What Yoke makes of a system of another tool."},
};
const yoke_command yoke__command_check = {
    "check",
    "check a system file and print the resolved system",
    "Reads the system file, makes its units and connects them, and prints the system as it would "
    "run, with every default filled in. Nothing is stepped.\n\n"
    "All errors of a file are reported in one go, each with file, line and column.",
    LIST(check_operands),
    LIST(check_options),
    LIST(check_exits),
    LIST(check_examples),
    yoke_cmd_check,
};

// ---- info

static const yoke_operand info_operands[] = {
    {"FILE|MODEL|METHOD", true, YOKE_ARGUMENT_FILE,
     "A system file or SSP, an FMU (a .fmu file, or the folder of an unpacked one), a netlist, a "
     "shared library with units of your own (.so), or the name of a built-in model such as "
     "oscillator.force or of a coupling method such as mpsm. "
     "Without it the built-in models and the methods are listed."},
};
static const yoke_option info_options[] = {
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print it as JSON."},
    {"all", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Of an FMU, print all variables, internal ones too, with their whole descriptions. "
     "Otherwise a terminal shows 40 of each kind."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL,
     "Change one setting of the system file, as yoke run does; of a netlist a parameter, --set "
     "rload=4.7k."},
};
static const yoke_exit info_exits[] = {
    {YOKE_EXIT_OK, "Printed."},
    STATUS_FAILED,
    STATUS_USAGE,
};
static const yoke_example info_examples[] = {
    {"yoke info", "List the built-in models and the coupling methods."},
    {"yoke info oscillator.force", "Inputs, outputs, parameters and states of a model."},
    {"yoke info mpsm", "Settings of a coupling method, with defaults and ranges."},
    {"yoke info crane.yaml", "What a system file contains."},
    {"yoke info engine.fmu", "Platforms, capabilities, variables and feedthrough of an FMU."},
    {"yoke info ./my_unit.so", "Units and coupling methods of a shared library."},
    {"yoke info filter.cir", "Elements, sizes, inputs, outputs and faults of a netlist."},
};
const yoke_command yoke__command_info = {
    "info",
    "say what is in a file, an FMU, a netlist, a model or method",
    "Prints what a system file contains, the variables of a built-in model with their "
    "dimensions and start values, or the settings of a coupling method.\n\n"
    "Of an FMU it prints who made it, what it offers, what a run would use, its variables, "
    "which outputs depend directly on which inputs, and what is wrong with the file. The binary "
    "is looked at, not loaded.\n\n"
    "Of a shared library it prints its units with their variables and its coupling methods. The "
    "library is loaded for that, in a process of its own first.",
    LIST(info_operands),
    LIST(info_options),
    LIST(info_exits),
    LIST(info_examples),
    yoke_cmd_info,
};

// ---- circuit

static const yoke_operand circuit_operands[] = {
    {"NETLIST", false, YOKE_ARGUMENT_FILE,
     "A netlist in SPICE's language, with thermal elements, inputs and outputs beside it."},
};
static const yoke_option circuit_options[] = {
    {"method", "NAME", false, YOKE_ARGUMENT_CHOICE, yoke__circuit_method_names,
     "Integration formula. The default is what the netlist says, else trbdf2."},
    {"formulation", "NAME", false, YOKE_ARGUMENT_CHOICE, yoke__circuit_formulation_names,
     "Equations that are solved: nodal (the default), dae or ode. With ode, method rk4 is the "
     "default."},
    {"step", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Step of the solver, 1e-5 or 10u. The default is that of .yoke, else of .tran. Rows are "
     "written at the step of .tran, or at this one if it is larger. A step that does not divide "
     "the distance of the rows is shortened until it does: of 3u with rows every 10u, 2.5u is "
     "taken, and a note says so."},
    {"stop", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Stop time instead of that of .tran, 5e-3 or 5m. Where it falls between two rows, the run "
     "goes on to the next one."},
    {"iterations", "N", false, YOKE_ARGUMENT_TEXT, NULL,
     "Do exactly N iterations in every stage, so that all steps cost the same. "
     "Without it a circuit that is not linear is iterated until it converges."},
    {"set", "NAME=VALUE", true, YOKE_ARGUMENT_TEXT, NULL,
     "Change a parameter (.param) of the netlist. For example --set rload=4.7k. Names ignore "
     "case."},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write the results to DIR, which is made if it is missing. "
     "The default is results/ and the name of the netlist without its extension."},
    {"format", "LIST", true, YOKE_ARGUMENT_CHOICE, yoke__format_names,
     "Formats of the result file. One or several of csv, hdf5 and mat with commas between them. "
     "The default is csv."},
    {"report", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Also write report.html with plots, step times and settings."},
    {"strict", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Treat warnings about the netlist as errors."},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print the contents of summary.json instead of the summary."},
    {"verbose", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Also print notes on lines of the netlist, as yoke info does; -v is the same. For example on "
     "parts whose level only gmin decides."},
    {"quiet", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print no progress and no summary. Warnings and errors are still printed."},
};
static const yoke_exit circuit_exits[] = {
    {YOKE_EXIT_OK, "The run is complete."},
    {YOKE_EXIT_FAILED,
     "The run failed: no convergence, a value became NaN or infinite, or the output could not be "
     "written. Results up to that step are kept."},
    {YOKE_EXIT_USAGE,
     "The command line is wrong, or the netlist is missing, has errors or cannot be solved."},
    {YOKE_EXIT_INTERRUPTED,
     "The run was interrupted (Ctrl-C). Results up to the last step are complete."},
};
static const yoke_example circuit_examples[] = {
    {"yoke circuit rectifier.cir", "Run its .tran and write results/rectifier/results.csv."},
    {"yoke circuit rectifier.cir --method bdf2 --step 10u --iterations 5",
     "With a method, a step and a fixed number of iterations."},
    {"yoke circuit buck.cir --set duty=0.4 --report --out results/duty40",
     "With another parameter, and a page with plots."},
};
const yoke_command yoke__command_circuit = {
    "circuit",
    "run a netlist: circuits and thermal networks",
    "Reads a netlist, solves it with fixed steps from 0 to the stop time of its .tran, and writes "
    "what .print, .save, .probe and .output name to results.csv; every node voltage and element "
    "current if nothing is named. With uic it starts from the start values, otherwise from the "
    "operating point.\n\n"
    "Columns are v(out) and i(l1), rows stand at multiples of .tran's step from its start time "
    "on. Files and summary are those of yoke run.",
    LIST(circuit_operands),
    LIST(circuit_options),
    LIST(circuit_exits),
    LIST(circuit_examples),
    yoke_cmd_circuit,
};

// ---- compare

static const yoke_operand compare_operands[] = {
    {"RESULT", false, YOKE_ARGUMENT_FILE,
     "A CSV file whose first column is time, an HDF5 file of yoke run (results.h5), or a "
     "folder with one of them. MAT files are not read."},
    {"REFERENCE", false, YOKE_ARGUMENT_FILE, "What it is compared with, in the same form."},
};
// in the order of yoke_measure, then ter
static const char* const compare_measures[] = {"nrmse", "rmse",      "max", "end",
                                               "error", "roughness", "ter", NULL};
static const yoke_option compare_options[] = {
    {"signal", "NAME", true, YOKE_ARGUMENT_TEXT, NULL,
     "Compare this signal only. The name of a column, or a pattern with * and ?. "
     "The default is every column that both files have."},
    {"measure", "LIST", true, YOKE_ARGUMENT_CHOICE, compare_measures,
     "Print these measures. nrmse is the root mean square error divided by the range of the "
     "reference, "
     "rmse the same undivided, max the largest absolute difference and when it occurs, end the "
     "difference at the last common time; the default is these four. error is the mean absolute "
     "difference divided by the range of the reference, roughness the noise in the difference. ter "
     "judges the bonds of two "
     "runs: total energy residual, their ratio, and the error energy against the reference."},
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
     "Which of two couplings disagrees less about the energy."},
    {"yoke compare results/crane reference.csv", "All common signals, all measures."},
    {"yoke compare results/crane results/fine --signal 'boom.*' --measure nrmse,max",
     "Two runs, the signals of one unit."},
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
     "The column of the effort as its receiver got it, in SI units. Several with commas between "
     "them make a vector, and so does the name of an array."},
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
     "The signals are straight lines between the rows."},
    {"from", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL, "Leave out what lies before this time."},
    {"to", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL, "Leave out what lies behind this time."},
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
    "Does on recorded signals what a meter in the system does on line: the power on which the two "
    "ends of a bond disagree, its magnitude summed up (TER) and relative to the energy that "
    "passed, "
    "the shares of flow and effort, and the worst window. From the recorded inputs of a meter it "
    "gives the same bits.",
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
    {YOKE_EXIT_FAILED, "The page cannot be written, or memory is out."},
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

// ---- sweep and tune

static const char vary_help[] =
    "What changes from run to run. PATH=FROM:TO:N gives N evenly spaced numbers, "
    "PATH=FROM:TO:N:log as many evenly spaced in the logarithm, PATH=A,B,C these values (numbers, "
    "names, booleans). Paths are those of the system file. Several of them make a grid. Numbers "
    "for netlists may have suffixes, units.rc.with.r=1k:10k:4.";
static const char limit_help[] =
    "Abort a run that violates this, for example 'max:rig.speed<=500', and mark the point as "
    "failed. A measure, one of <=, >=, < and >, and a number. Looked at after every macro step "
    "where the measure only moves towards the limit (max, maxabs, ter, rho, steps with <=, min "
    "with "
    ">=), else at the end.";
static const char reference_help[] =
    "The reference of the measures nrmse, error and roughness: a CSV file, "
    "an HDF5 file of yoke run, or a folder with "
    "one of them.";
static const char jobs_help[] =
    "Run N systems at once, each on one thread. The numbers do not depend on it. "
    "The default is the number of processors.";
static const char restart_help[] =
    "Forget the runs of the journal in the folder of results and begin anew. Without it finished "
    "runs are not repeated, and a journal of another study is refused.";

static const yoke_operand study_operands[] = {
    {"SYSTEM", false, YOKE_ARGUMENT_FILE, system_help},
};
static const char* const analyse_names[] = {"anova", "best", NULL};  // bits of app_study_analyse.c
static const yoke_option sweep_options[] = {
    {"vary", "PATH=VALUES", true, YOKE_ARGUMENT_TEXT, NULL, vary_help},
    {"measure", "LIST", true, YOKE_ARGUMENT_TEXT, NULL,
     "What a run is judged by. One or several with commas between them. ter, rter, dE, created, "
     "eps "
     "and rho are of the energy of all bonds, or of one with its name behind a colon (ter:spring); "
     "end, max, min, maxabs and rms are of a signal (end:left.x); nrmse, error and roughness are "
     "of a signal "
     "(error and roughness also of all of them together) against "
     "--reference; steps is the number of macro steps; status asks for no number at all."},
    {"limit", "LIMIT", true, YOKE_ARGUMENT_TEXT, NULL, limit_help},
    {"reference", "FILE", false, YOKE_ARGUMENT_FILE, NULL, reference_help},
    {"reference-set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL,
     "Instead of a file: the reference of every point is the same system run with this setting on "
     "top, such as a small step, with all rows that its result file would have. May be repeated."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, set_help},
    {"analyse", "LIST", true, YOKE_ARGUMENT_CHOICE, analyse_names,
     "What to make of the values of every measure. anova is an analysis of variance: which axes, "
     "and which pairs of axes, the measure depends on (anova.csv). best sorts the runs, smallest "
     "value first, keeps those near the best, and says what settings they have (best.csv). The "
     "runs need not be repeated for it."},
    {"missing", "VALUE", false, YOKE_ARGUMENT_TEXT, NULL,
     "Runs without a value (refused, diverged, over a limit) count as VALUE in --analyse. Without "
     "it anova is refused when there are such runs, and best leaves them out."},
    {"clip", "VALUE", false, YOKE_ARGUMENT_TEXT, NULL,
     "Values above VALUE count as VALUE in --analyse: errors of runs that went wrong say no more "
     "than that."},
    {"best-within", "FRACTION", false, YOKE_ARGUMENT_TEXT, NULL,
     "--analyse best keeps runs up to this part above the best one. The default is 0.1."},
    {"best-least", "N", false, YOKE_ARGUMENT_TEXT, NULL,
     "--analyse best keeps at least N runs, and all that equal the last of them. The default is "
     "1."},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write sweep.csv and the journal to DIR, which is made if it is missing. "
     "The default is results/, the name of the system file without its extension, and -sweep."},
    {"jobs", "N", false, YOKE_ARGUMENT_TEXT, NULL,
     "Run N systems at once, each on one thread. The numbers do not depend on it. The default is "
     "the number of processors; under mpirun, where every rank has N, it is 1."},
    {"figure", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Draw every measure over one axis as a line, over two as a map: MEASURE.svg in the folder of "
     "results."},
    {"restart", NULL, false, YOKE_ARGUMENT_TEXT, NULL, restart_help},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print all points, and what --analyse made of them, as JSON."},
    {"quiet", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print no progress and no summary. Warnings and errors are still printed."},
};
static const yoke_exit sweep_exits[] = {
    {YOKE_EXIT_OK, "Every point has been run. Points that failed are marked in the table."},
    {YOKE_EXIT_FAILED, "No point could be run to its end, or the output could not be written."},
    {YOKE_EXIT_USAGE, "The command line is wrong, an input file is missing or has errors, values "
                      "are missing for --analyse anova, or ranks cannot work together."},
    {YOKE_EXIT_INTERRUPTED,
     "Interrupted (Ctrl-C). The same command goes on with the points that are missing."},
};
static const yoke_example sweep_examples[] = {
    {"yoke sweep crane.yaml --vary time.step=1e-4:1e-2:9:log --measure end:arm.s",
     "Nine step sizes, one position."},
    {"yoke sweep osc.yaml --vary scheme=jacobi,gauss-seidel --vary time.step=1e-3,2e-3 --measure "
     "ter,rter",
     "A grid of four points, judged by its energy."},
    {"yoke sweep loop.yaml --vary couplings.loop.ede=off,on --vary "
     "couplings.loop.learning=100,200,500 --measure nrmse:left.x --reference whole.csv --analyse "
     "anova,best --missing 1 --clip 1",
     "Which settings of a coupling method matter, and which are good."},
};
const yoke_command yoke__command_sweep = {
    "sweep",
    "run a system at every point of a grid",
    "Runs the system with every combination of the given values and writes one row per point to "
    "sweep.csv, in the order of the grid: the values, how the run ended, how far it got, the "
    "measures, and what went wrong. Measures of a failed point are empty.\n\n"
    "Every finished run is written to journal.csv at once. After a kill or an interrupt the same "
    "command does only what is missing.\n\n"
    "Started by mpirun the ranks share the points. Each of them reads the system file, and what it "
    "refers to, under the same path; the first one writes.",
    LIST(study_operands),
    LIST(sweep_options),
    LIST(sweep_exits),
    LIST(sweep_examples),
    yoke_cmd_sweep,
};

static const yoke_option tune_options[] = {
    {"vary", "PATH=VALUES", true, YOKE_ARGUMENT_TEXT, NULL, vary_help},
    {"minimise", "MEASURE", false, YOKE_ARGUMENT_TEXT, NULL,
     "What is to become small: a measure as for yoke sweep, for example ter or end:meter.ter."},
    {"limit", "LIMIT", true, YOKE_ARGUMENT_TEXT, NULL, limit_help},
    {"current", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL,
     "The setting in use now, with which the best one is compared. "
     "The default is what the system file says."},
    {"seed", "PATH", false, YOKE_ARGUMENT_TEXT, NULL,
     "Repeat the best points and the current setting with this path set to 1, 2, ..., "
     "so that chance does not decide."},
    {"repeat", "N", false, YOKE_ARGUMENT_TEXT, NULL,
     "Number of repetitions with --seed. The default is 5."},
    {"reference", "FILE", false, YOKE_ARGUMENT_FILE, NULL, reference_help},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, set_help},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write tune.json, map.csv, map.svg and the journal to DIR, which is made if it is missing. "
     "The default is results/, the name of the system file without its extension, and -tune."},
    {"jobs", "N", false, YOKE_ARGUMENT_TEXT, NULL, jobs_help},
    {"restart", NULL, false, YOKE_ARGUMENT_TEXT, NULL, restart_help},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print the contents of tune.json."},
    {"quiet", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print no progress and no report. Warnings and errors are still printed."},
};
static const yoke_exit tune_exits[] = {
    {YOKE_EXIT_OK, "The grid is complete, and the advice is to change or to keep the setting."},
    {YOKE_EXIT_FAILED, "No point could be run to its end, or the output could not be written."},
    STATUS_USAGE,
    {YOKE_EXIT_INTERRUPTED,
     "Interrupted (Ctrl-C). The same command goes on with the runs that are missing."},
};
static const yoke_example tune_examples[] = {
    {"yoke tune bench.yaml --vary units.rig.with.K_P=10:25:16 --vary "
     "units.rig.with.T_I=0.15:0.25:11 --minimise end:meter.ter",
     "The gains of a controller on a grid of 176 points."},
    {"yoke tune bench.yaml --vary units.rig.with.K_P=10:25:4 --minimise end:meter.ter --seed "
     "units.noise.with.seed --limit 'max:rig.speed<=500'",
     "With noise, repetitions, and a limit that ends a run."},
};
const yoke_command yoke__command_tune = {
    "tune",
    "find the setting that makes a measure small",
    "Runs the system at every point of a grid, aborts runs that violate a limit, and ranks the "
    "rest "
    "by one measure. With --seed the best five points and the current setting are repeated, and a "
    "change is advised only if their means differ by more than two standard deviations.\n\n"
    "Writes tune.json, the map of all points as map.csv, and for one or two axes a drawing of it, "
    "map.svg. Every finished run is written to journal.csv at once; after a kill or an interrupt "
    "the same command does only what is missing.",
    LIST(study_operands),
    LIST(tune_options),
    LIST(tune_exits),
    LIST(tune_examples),
    yoke_cmd_tune,
};

// ---- advise

static const yoke_operand advise_operands[] = {
    {"SYSTEM", false, YOKE_ARGUMENT_FILE, system_help},
};
static const yoke_option advise_options[] = {
    {"budget", "N", false, YOKE_ARGUMENT_TEXT, NULL,
     "Most that the search may cost: N runs of the given system, counted in calls of units, or a "
     "time such as 60s. The default is 24."},
    {"signals", "LIST", false, YOKE_ARGUMENT_TEXT, NULL,
     "Signals that count, with commas between them, such as arm.s,arm.theta1. The default is what "
     "the system file says under trust, else all exchanged signals."},
    {"limit", "UNIT.VARIABLE=VALUE", true, YOKE_ARGUMENT_TEXT, NULL,
     "Largest error that a signal may have, in its own unit, such as arm.s=2e-3. The default is 5 "
     "% of its movement."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, set_help},
    {"write", "OUT", false, YOKE_ARGUMENT_FILE, NULL,
     "Write a copy of the system file with the advised settings to OUT. Only lines that are added "
     "or changed differ."},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write advise.json to the folder advise in DIR. The default is results/ and the name of the "
     "system file without its extension. Results of runs are left alone."},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print the contents of advise.json."},
    {"quiet", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print no progress and no table. Warnings and errors are still printed."},
};
static const yoke_exit advise_exits[] = {
    {YOKE_EXIT_OK, "The search is complete, also if nothing better was found."},
    {YOKE_EXIT_FAILED,
     "Every setting that was tried diverges or fails, or the output could not be written."},
    STATUS_USAGE,
    {YOKE_EXIT_INTERRUPTED, "The search was interrupted (Ctrl-C)."},
};
static const yoke_example advise_examples[] = {
    {"yoke advise crane.yaml", "Try other methods and steps, and print the best with its command."},
    {"yoke advise crane.yaml --signals arm.s --limit arm.s=1e-3 --write good.yaml",
     "Only the piston counts, to a millimetre; the result is a system file of its own."},
    {"yoke advise crane.yaml --budget 60s", "As much as can be tried in a minute."},
};
const yoke_command yoke__command_advise = {
    "advise",
    "find settings that make a result more accurate",
    "Runs the system as it is and with other coupling methods, schemes and steps, compares each "
    "run with its companions and ranks them by the error band of the worst signal and by cost.\n\n"
    "Prints only settings that were run, and the command line that runs the best one.",
    LIST(advise_operands),
    LIST(advise_options),
    LIST(advise_exits),
    LIST(advise_examples),
    yoke_cmd_advise,
};

// ---- analyse

static const char* const expect_names[] = {"stable", NULL};

static const yoke_operand analyse_operands[] = {
    {"SYSTEM", true, YOKE_ARGUMENT_FILE,
     "A system file, or anything else that yoke run takes. With --run it may be left out: then it "
     "is the file that summary.json of the result names."},
};
static const yoke_option analyse_options[] = {
    {"step", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Look at this exchange step instead of the file's. Internal steps of the units' solvers stay "
     "as they are."},
    {"methods", "LIST", true, YOKE_ARGUMENT_CHOICE, yoke__linear_method_names,
     "Coupling methods to look at, with commas between them: hold (held signals), hold-1 and "
     "hold-2 (straight lines, parabolas), nepce, mpsm (with exact models), mpsm-modified, "
     "mpsm-ede, mpsm-ramp, mbcorr, and file, which is what the file uses as its units are called "
     "(unknown for mpsm with form: memory or level: mean). The default is all of them."},
    {"largest", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Search the first unstable step up to this one. The default is four times the present step."},
    {"resolution", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Distance of the steps that are looked at. The default is a 240th of the largest; in a large "
     "system a 15th, and a 240th next to the first unstable one."},
    {"map", "PATH=VALUES", true, YOKE_ARGUMENT_TEXT, NULL,
     "Look at every value of a setting, once or twice: PATH=FROM:TO:N, PATH=FROM:TO:N:log or "
     "PATH=A,B,C. Paths are those of the system file. Needs --steps."},
    {"steps", "FROM:TO:N[:log]", false, YOKE_ARGUMENT_TEXT, NULL, "Exchange steps of the map [s]."},
    {"run", "RESULT", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Judge a recorded run with method mpsm: identify its models again and compute the Bohl "
     "exponents of its steps. Give the same --set as for the run. Runs with form: memory or level: "
     "mean, and with held connections between members, are not treated."},
    {"cluster", "NAME", false, YOKE_ARGUMENT_TEXT, NULL,
     "With --run: the coupling to look at, if the file has several with mpsm."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, set_help},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write data and a figure to DIR, which is made if it is missing: radius.csv and radius.svg, "
     "with --map map.csv, limits.csv and map.svg, with --run bohl.csv and steps.csv. Without it "
     "nothing is written."},
    {"expect", "WORD", false, YOKE_ARGUMENT_CHOICE, expect_names,
     "stable: end with status 3 if the file's coupling (or one that --methods names) is not."},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print it as JSON."},
    {"quiet", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print no progress and no table. Warnings and errors are still printed."},
};
static const yoke_exit analyse_exits[] = {
    {YOKE_EXIT_OK, "Done, whether stable or not."},
    STATUS_FAILED,
    {YOKE_EXIT_USAGE, "The command line is wrong, an input file is missing or has errors, or a "
                      "unit in a loop has no linear model."},
    {YOKE_EXIT_QUALITY, "--expect stable was given, and something is not."},
    {YOKE_EXIT_INTERRUPTED, "A map was interrupted (Ctrl-C). Nothing is written."},
};
static const yoke_example analyse_examples[] = {
    {"yoke analyse car.yaml", "Units, eigenvalues, and every method at the step of the file."},
    {"yoke analyse car.yaml --step 2e-3 --methods file,mpsm --expect stable",
     "For a script: status 3 if one of the two is unstable at 2 ms."},
    {"yoke analyse car.yaml --map units.axle.with.k=1e3:1e6:31:log --steps 1e-4:1e-2:40 --out map",
     "Stable or not over stiffness and step, with a figure."},
    {"yoke analyse --run results/car", "Was the run with identified models stable?"},
};
const yoke_command yoke__command_analyse = {
    "analyse",
    "how large the step may be, and whether a run is stable",
    "Linearises the units at the start of the run, joins them by the connections, and computes by "
    "which factor one exchange step multiplies a deviation (its spectral radius) under each "
    "coupling method: below 1 the coupling is stable. Prints the units, the eigenvalues of the "
    "coupled system, radius and first unstable step of every method, and advice.\n\n"
    "With --map it does so over one or two settings of the file and the step. With --run it takes "
    "a recorded run with method mpsm, identifies the models again that it used, and says whether "
    "the sequence of its steps is exponentially stable.",
    LIST(analyse_operands),
    LIST(analyse_options),
    LIST(analyse_exits),
    LIST(analyse_examples),
    yoke_cmd_analyse,
};

// ---- bench

static const yoke_operand bench_operands[] = {
    {"GROUP", true, YOKE_ARGUMENT_TEXT, "What is assessed. The one group there is: circuits."},
};
static const yoke_option bench_options[] = {
    {"problem", "NAME", true, YOKE_ARGUMENT_TEXT, NULL,
     "A problem that comes with the program. rlc, ladder-N with any N (ladder-100), rectifier or "
     "pmsm. The default is rlc, ladder-2, rectifier and pmsm."},
    {"method", "LIST", true, YOKE_ARGUMENT_CHOICE, yoke__circuit_method_names,
     "Integration methods. The default is trbdf2, tr, bdf2, bdf3, esdirk3 and esdirk4, and for "
     "problems of the program also the published configurations."},
    {"formulation", "NAME", false, YOKE_ARGUMENT_CHOICE, yoke__circuit_formulation_names,
     "How the equations are written: nodal, dae or ode. The default is what the netlist of one's "
     "own says with .yoke, else nodal."},
    {"startup", "NAME", false, YOKE_ARGUMENT_CHOICE, yoke__circuit_startup_names,
     "How BDF begins. tr_xi, const or tr_xi_minus_1."},
    {"step", "SECONDS", true, YOKE_ARGUMENT_TEXT, NULL,
     "A step to try, 1e-5 or 10u. It must divide the distance of the reference's samples. "
     "The default is a series of them. Of a system it is the exchange interval."},
    {"iterations", "N", true, YOKE_ARGUMENT_TEXT, NULL,
     "Iterations in every stage of a step, as in real time. 0 iterates until converged. The "
     "default is 1 for linear circuits and 0 for others."},
    {"refactor", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Factor the matrix in every iteration, also where it is constant."},
    {"level", "LEVEL", false, YOKE_ARGUMENT_TEXT, NULL,
     "The precision wanted. low (1 mV, 1 mA, 0.1 K, 1 W), high (10 uV, 10 uA, 0.01 K, 0.1 W), or "
     "one error for all judged signals (all signals of a file of one's own)."},
    {"find", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Look for the cheapest step and number of iterations that reaches the level, per method, and "
     "with a ladder for the largest one that runs in real time. With --netlist it needs --limit or "
     "--level ERROR."},
    {"netlist", "FILE", false, YOKE_ARGUMENT_FILE, NULL,
     "Assess this netlist instead. Needs --reference."},
    {"system", "FILE", false, YOKE_ARGUMENT_FILE, NULL,
     "Assess this system, run with several exchange intervals. Needs --reference."},
    {"fmu", "FILE", false, YOKE_ARGUMENT_FILE, NULL, "The same for an FMU on its own."},
    {"reference", "FILE", false, YOKE_ARGUMENT_FILE, NULL,
     "What is right. A CSV file with the column time and one column per signal, named v(out), "
     "i(l1), t(case) for netlists and UNIT.VARIABLE for systems; or a result of yoke run."},
    {"limit", "SIGNAL=ERROR", true, YOKE_ARGUMENT_TEXT, NULL,
     "The root mean square error that this signal may have. Status 3 if no configuration keeps "
     "all limits."},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print everything as JSON."},
    {"figure", "FILE", false, YOKE_ARGUMENT_FILE, NULL,
     "Draw time over error to FILE, an SVG file or an HTML page."},
    {"quick", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Fewer repetitions, and no run of more than 40000 steps."},
};
static const yoke_exit bench_exits[] = {
    {YOKE_EXIT_OK, "Assessed."},
    {YOKE_EXIT_FAILED, "No configuration could be run, or the output could not be written."},
    STATUS_USAGE,
    {YOKE_EXIT_QUALITY, "No configuration keeps the errors below the level or the limits."},
    {YOKE_EXIT_INTERRUPTED, "Interrupted (Ctrl-C). What was found so far is printed."},
};
static const yoke_example bench_examples[] = {
    {"yoke bench circuits", "All problems, published configurations and own methods."},
    {"yoke bench circuits --problem rectifier --method bdf3,trbdf2 --step 1e-4 --iterations 9",
     "Two methods at one step."},
    {"yoke bench circuits --problem ladder-2 --find",
     "What is cheapest, and how far real time goes."},
    {"yoke bench circuits --netlist filter.cir --reference filter.csv --limit 'v(out)=1e-3' --find",
     "A netlist of one's own."},
    {"yoke bench circuits --fmu engine.fmu --reference engine.csv --step 1e-3 --step 1e-2",
     "An FMU at two exchange intervals."},
};
const yoke_command yoke__command_bench = {
    "bench",
    "assess solvers and units in real time: error, cost, reach",
    "Runs methods and steps on problems whose solution is known, and prints for each the root mean "
    "square error of every signal, the precision level that it reaches, the processor time per "
    "step, how many times faster than real time that is, the memory, and the iterations; then how "
    "the cost of a step is made up. Published figures stand beside ours where there are any.",
    LIST(bench_operands),
    LIST(bench_options),
    LIST(bench_exits),
    LIST(bench_examples),
    yoke_cmd_bench,
};

// ---- export

static const char* const fmi_choices[] = {"2", "3", NULL};
static const char* const hold_choices[] = {"zero", "first", NULL};

static const yoke_operand export_operands[] = {
    {"MODEL|NETLIST|SYSTEM", false, YOKE_ARGUMENT_FILE,
     "The name of a native model (yoke info lists them), a netlist, or a system file (YAML or "
     "SSP)."},
};
static const yoke_option export_options[] = {
    {"fmi", "VERSION", false, YOKE_ARGUMENT_CHOICE, fmi_choices,
     "Write an FMU for co-simulation by FMI 2.0 or 3.0. With --ssp: the version of the FMUs in it; "
     "2 is the default there."},
    {"ssp", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Write the whole system as an SSP archive, every unit an FMU."},
    {"c", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Write a linear circuit or thermal network as two C files for a microcontroller: no heap, no "
     "library."},
    {"step", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "With --c: the length of a step, 1e-5 or 10u. With --fmi: the step of the solver inside the "
     "FMU of a circuit, of which every call must be a whole number. The default is that of the "
     "netlist."},
    {"reduce", "TOLERANCE", false, YOKE_ARGUMENT_TEXT, NULL,
     "With --c: drop states as long as the error bound of every output stays below TOLERANCE times "
     "its own gain. For example 1e-3."},
    {"order", "N", false, YOKE_ARGUMENT_TEXT, NULL, "With --c: drop all states but N."},
    {"hold", "ORDER", false, YOKE_ARGUMENT_CHOICE, hold_choices,
     "With --c: what inputs do during a step: they keep their value (zero, the default) or go "
     "straight to the next one (first)."},
    {"float", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "With --c: single precision."},
    {"unit", "NAME", false, YOKE_ARGUMENT_TEXT, NULL,
     "The unit or law of the system file to export, with its settings. Not needed if it has one."},
    {"with", "NAME=VALUE", true, YOKE_ARGUMENT_TEXT, NULL,
     "Set a parameter (of a netlist: one of its .param lines) or, of a model, also a start value. "
     "For example --with k=20 or --with \"A=[[0,1],[-1,0]]\". Values are those of system files; "
     "for a netlist also with suffixes, 4.7k."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, set_help},
    {"out", "FILE", false, YOKE_ARGUMENT_FILE, NULL,
     "Write to FILE; -o is the same. The default is the name of the model or unit and .fmu, or "
     "that of the system and .ssp, in the working directory. With --c it is a folder, and the "
     "working directory is the default."},
};
static const yoke_exit export_exits[] = {
    {YOKE_EXIT_OK, "The file is written."},
    {YOKE_EXIT_FAILED, "The file could not be written, or a part of the installation is missing."},
    {YOKE_EXIT_USAGE,
     "The command line is wrong, the system file has errors, or the unit cannot be exported."},
};
static const yoke_example export_examples[] = {
    {"yoke export oscillator.force --fmi 2 --with kc=50 -o left.fmu",
     "A native model with one parameter changed."},
    {"yoke export crane.yaml --fmi 3 --unit arm", "A unit as the system file sets it up: arm.fmu."},
    {"yoke export crane.yaml --ssp -o crane.ssp", "The whole system."},
    {"yoke export state_space --fmi 3 --with \"A=[[0,1],[-4,0]]\" --with \"B=[0,1]\" -o mass.fmu",
     "A linear system from its matrices."},
    {"yoke export filter.cir --fmi 3 -o filter.fmu", "A circuit."},
    {"yoke export motor.cir --c --step 0.1 --reduce 1e-3 --float -o src",
     "A thermal network for a microcontroller: src/motor.c and src/motor.h."},
};
const yoke_command yoke__command_export = {
    "export",
    "write a model, unit or circuit as an FMU or as C, a system as SSP",
    "Writes a native model, a netlist, or one unit or law of a system file, as a Functional "
    "Mock-up "
    "Unit that other tools can run; or a whole system as an SSP archive of such units; or a linear "
    "circuit as C for a microcontroller. No compiler is "
    "needed: the FMU contains a prebuilt binary for this kind "
    "of machine, and the C sources of the model for all others.\n\n"
    "The same unit always gives the same file, byte by byte. Set SOURCE_DATE_EPOCH to have a date "
    "in it. The prebuilt binary is looked for beside the program, in ../libexec/yoke and "
    "../lib/yoke from there, or where YOKE_FMU_RUNTIME says.",
    LIST(export_operands),
    LIST(export_options),
    LIST(export_exits),
    LIST(export_examples),
    yoke_cmd_export,
};

// ---- help

static const yoke_operand help_operands[] = {
    {"COMMAND", true, YOKE_ARGUMENT_COMMAND, "The command to explain."},
};
static const yoke_exit help_exits[] = {
    {YOKE_EXIT_OK, "Printed."},
    STATUS_FAILED,
    {YOKE_EXIT_USAGE, "There is no such command."},
};
static const yoke_example help_examples[] = {
    {"yoke help compare", "The same as yoke compare --help."},
};
const yoke_command yoke__command_help = {
    "help",
    "explain a command",
    "Prints what a command does, its arguments, options and exit statuses. Without a command it "
    "lists all commands.",
    LIST(help_operands),
    NULL,
    0,
    LIST(help_exits),
    LIST(help_examples),
    yoke_cmd_help,
};

// ---- all

const yoke_command* const yoke__commands[] = {
    &yoke__command_run,     &yoke__command_check,  &yoke__command_info,    &yoke__command_circuit,
    &yoke__command_compare, &yoke__command_meter,  &yoke__command_report,  &yoke__command_sweep,
    &yoke__command_tune,    &yoke__command_advise, &yoke__command_analyse, &yoke__command_bench,
    &yoke__command_export,  &yoke__command_help,
};
const size_t yoke__n_commands = YOKE_COUNT(yoke__commands);

const yoke_option yoke__global_options[] = {
    {"help", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print help, also behind a command."},
    {"version", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print version, commit and build."},
};
const size_t yoke__n_global_options = YOKE_COUNT(yoke__global_options);

const yoke_command* yoke__command_find(const char* name) {
  for (size_t i = 0; i < YOKE_COUNT(yoke__commands); i++) {
    if (strcmp(yoke__commands[i]->name, name) == 0) {
      return yoke__commands[i];
    }
  }
  return NULL;
}

void yoke__command_unknown(const char* name) {
  const char* names[YOKE_COUNT(yoke__commands)];
  for (size_t i = 0; i < YOKE_COUNT(yoke__commands); i++) {
    names[i] = yoke__commands[i]->name;
  }
  char hint[YOKE_HINT_SIZE];
  yoke__app_hint(name, names, YOKE_COUNT(names), "", hint);
  yoke__app_error(NULL, "unknown command '%.80s'%s", name,
                  hint[0] != '\0' ? hint : "; see 'yoke --help'");
}
