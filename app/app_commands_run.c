// Tables of the commands that read and run something: run, check, info, circuit.
#include "app/app_commands.h"
#include "base/base_format.h"
#include "study/study_assess.h"

// ---- run

static const yoke_operand run_operands[] = {
    {"SYSTEM", false, YOKE_ARGUMENT_FILE, yoke__help_system},
};
static const char* const trust_words[] = {"auto", "both", "half", "cheap", "none", NULL};
static const yoke_option run_options[] = {
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, yoke__help_set},
    {"realtime", "[=FACTOR]", false, YOKE_ARGUMENT_TEXT, NULL,
     "Run by the clock: FACTOR simulated seconds per second, 1 if it is left out. time.pace in the "
     "system file sets what happens when a step ends late; without it every step is computed and "
     "late ones are counted."},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write the results to DIR, which is made if it is missing. "
     "The default is results/ and the name of the system file without its extension."},
    {"format", "LIST", true, YOKE_ARGUMENT_CHOICE, yoke__format_names,
     "Formats of the result file. One or several of csv, hdf5 and mat, separated by commas. The "
     "default is that of the system file, else csv."},
    {"report", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Also write report.html: error bands, plots, the system as a graph, the energy of its bonds, "
     "step times and settings on one page that loads nothing."},
    {"trust", "MODE", false, YOKE_ARGUMENT_CHOICE, trust_words,
     "How the error of the result is found. both: compare with two more runs, one with half the "
     "steps and one with another coupling method. half: compare with the first only. cheap: as "
     "both, the second with fewer steps. none: estimate the error from the run itself, which needs "
     "units called at least four times per exchange. auto: both, unless that would take more than "
     "60 s of computing time. The results themselves do not change. The default is that of the "
     "system file, else auto."},
    {"within", "ERROR", true, YOKE_ARGUMENT_TEXT, NULL,
     "First search for settings, as yoke advise does, then run the cheapest one whose error stays "
     "within this limit: a share of the movement of all signals such as 1%, or an error of one "
     "signal in its own unit such as arm.s=2e-3. The movement of a signal is its standard "
     "deviation, or a quarter of its range if that is larger. If none does, run the best one. May "
     "be given "
     "several times."},
    {"pin", "OUT", false, YOKE_ARGUMENT_FILE, NULL,
     "Also write OUT, a copy of the system file with the choices of this run: its --set options, "
     "and the number of calls of each unit with calls: auto. All other lines stay as they are. A "
     "run of the copy gives the same results to the last bit."},
    {"no-verdict", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Exit with status 0 even if the result is judged wrong."},
    {"threads", "N", false, YOKE_ARGUMENT_TEXT, NULL,
     "Step the units on N threads. 0 lets the program choose. The results are the same to the last "
     "bit for any N."},
    {"strict", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Treat warnings about the system file and its FMUs as errors."},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print the contents of summary.json instead of the summary."},
    {"quiet", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print no progress and no summary. Warnings and errors are still printed."},
};
static const yoke_exit run_exits[] = {
    {YOKE_EXIT_OK, "The run is complete."},
    {YOKE_EXIT_FAILED, "The run failed: a unit failed, crashed or called exit, a value became NaN "
                       "or infinite, or the "
                       "output could not be written. Results up to that step are kept."},
    STATUS_USAGE,
    {YOKE_EXIT_QUALITY,
     "A quality limit that the system file gives was violated, or the result diverged or is judged "
     "wrong (unless --no-verdict or trust: {status: false} in the file). Results are complete; a "
     "stop limit ends the run early."},
    {YOKE_EXIT_LATE, "A run by the clock missed deadlines beyond its limit, or lost rows of the "
                     "results. This status takes precedence over 3."},
    {YOKE_EXIT_INTERRUPTED,
     "The run was interrupted (Ctrl-C). Results up to the last step are complete. A second signal "
     "ends a run that hangs in a unit."},
};
static const yoke_example run_examples[] = {
    {"yoke run crane.yaml", "Run the system and write results/crane/results.csv."},
    {"yoke run crane.yaml --set time.step=5e-4 --out results/fine",
     "The same with half the step, into a folder of its own."},
    {"yoke run crane.yaml --report", "The same, with results/crane/report.html to look at."},
    {"yoke run crane.yaml --pin fixed.yaml",
     "The same, with a system file that keeps what was chosen."},
    {"yoke run crane.yaml --format csv,hdf5 --quiet", "Two formats, no output on the terminal."},
    {"yoke run crane.yaml --realtime", "One simulated second per second of the clock."},
    {"yoke run engine.fmu --set time.stop=5 --set units.engine.with.mass=120",
     "An FMU on its own; the unit has the name of the file."},
    {"yoke run car.ssp --set time.step=1e-3", "A system of another tool."},
};
const yoke_command yoke__command_run = {
    "run",
    "run a system and write its results",
    "Reads the system file, connects its units, runs them together from the start to the stop time "
    "and writes the signals at every exchange point to results.csv, and settings, version and "
    "computing times to summary.json.\n\nThe files get their final names at the end, even after a "
    "failed run. On a terminal a progress line is shown.",
    LIST(run_operands),
    LIST(run_options),
    LIST(run_exits),
    LIST(run_examples),
    yoke_cmd_run,
};

// ---- check

static const yoke_operand check_operands[] = {
    {"SYSTEM", false, YOKE_ARGUMENT_FILE, yoke__help_system},
};
static const yoke_option check_options[] = {
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print the resolved system as JSON."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, yoke__help_set},
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
    {"yoke check car.ssp", "How Yoke reads a system of another tool."},
};
const yoke_command yoke__command_check = {
    "check",
    "check a system file and print the resolved system",
    "Reads the system file, makes its units and connects them, and prints the system as it would "
    "run, with every default filled in. Nothing is stepped, and the other end of a port is not "
    "called.\n\nAll errors of a file are reported at once, each with file, line and column.",
    LIST(check_operands),
    LIST(check_options),
    LIST(check_exits),
    LIST(check_examples),
    yoke_cmd_check,
};

// ---- info

static const yoke_operand info_operands[] = {
    {"FILE|MODEL|METHOD", true, YOKE_ARGUMENT_NAME,
     "A system file or SSP, an FMU (a .fmu file, or the folder of an unpacked one), a netlist, a "
     "shared library with units of your own (.so), or the name of a built-in model such as "
     "oscillator.force or of a coupling method such as mpsm. "
     "Without it the built-in models and the methods are listed."},
};
static const yoke_option info_options[] = {
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print it as JSON."},
    {"all", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "For an FMU, print all variables, including internal ones, with full descriptions. Otherwise "
     "a terminal shows 40 of each kind."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL,
     "Change one setting of the system file, as yoke run does, or a parameter of a netlist, such "
     "as --set rload=4.7k."},
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
    "show what is in a file, an FMU, a netlist, a model or method",
    "Prints what a system file contains, the variables of a built-in model with their dimensions "
    "and start values, or the settings of a coupling method.\n\nFor an FMU it prints the tool that "
    "made it, its capabilities, what a run would use, its variables, which outputs depend directly "
    "on which inputs, and what is wrong with the file. The binary is read but not loaded.\n\nFor a "
    "shared library it prints its units with their variables and its coupling methods. The library "
    "is loaded for that, first in a separate process.",
    LIST(info_operands),
    LIST(info_options),
    LIST(info_exits),
    LIST(info_examples),
    yoke_cmd_info,
};

// ---- circuit

static const yoke_operand circuit_operands[] = {
    {"NETLIST", false, YOKE_ARGUMENT_FILE,
     "A netlist in the language of SPICE, extended by thermal elements, inputs and outputs."},
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
     "the distance of the rows is shortened until it does: with rows every 10u, 3u becomes 2.5u. A "
     "note reports it."},
    {"stop", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Stop time instead of that of .tran, 5e-3 or 5m. If it falls between two rows, the run "
     "continues to the next one."},
    {"iterations", "N", false, YOKE_ARGUMENT_TEXT, NULL,
     "Do exactly N iterations in every stage, so that all steps cost the same. The default is to "
     "iterate a nonlinear circuit until it converges."},
    {"set", "NAME=VALUE", true, YOKE_ARGUMENT_TEXT, NULL,
     "Change a parameter (.param) of the netlist. For example --set rload=4.7k. Names ignore "
     "case."},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write the results to DIR, which is made if it is missing. "
     "The default is results/ and the name of the netlist without its extension."},
    {"format", "LIST", true, YOKE_ARGUMENT_CHOICE, yoke__format_names,
     "Formats of the result file. One or several of csv, hdf5 and mat, separated by commas. The "
     "default is csv."},
    {"report", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Also write report.html with plots, step times and settings."},
    {"strict", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Treat warnings about the netlist as errors."},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print the contents of summary.json instead of the summary."},
    {"verbose", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Also print notes on lines of the netlist, as yoke info does; -v is the same. An example is a "
     "part whose potential is fixed by gmin alone."},
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
    "the signals named by .print, .save, .probe and .output to results.csv, or every node voltage "
    "and element current if none is named. With uic it starts from the start values, otherwise "
    "from the operating point.\n\nColumns are v(out) and i(l1), rows stand at multiples of .tran's "
    "step from its start time on. Files and summary are those of yoke run.",
    LIST(circuit_operands),
    LIST(circuit_options),
    LIST(circuit_exits),
    LIST(circuit_examples),
    yoke_cmd_circuit,
};
