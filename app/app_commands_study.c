// Tables of the commands that run a system many times: sweep, tune, advise, analyse, synth, bench.
#include "app/app_commands.h"
#include "base/base_format.h"
#include "study/study_assess.h"
#include "study/study_linear.h"

// ---- sweep and tune

static const char vary_help[] =
    "A setting and its values. PATH=FROM:TO:N gives N evenly spaced numbers, PATH=FROM:TO:N:log N "
    "numbers evenly spaced in the logarithm, PATH=A,B,C these values (numbers, names, booleans). "
    "Paths are those of the system file. Several --vary make a grid. Numbers for netlists may have "
    "suffixes, units.rc.with.r=1k:10k:4.";
static const char limit_help[] =
    "Abort a run that violates this, for example 'max:rig.speed<=500', and mark the point as "
    "failed. Write a measure, one of <=, >=, < and >, and a number. Measures "
    "that only grow (max, maxabs, ter, rho and steps with <=) or only fall (min with >=) are "
    "checked after every macro step, others at the end.";
static const char reference_help[] =
    "The reference of the measures nrmse, error and roughness: a CSV file, "
    "an HDF5 file of yoke run, or a folder with "
    "one of them.";
static const char jobs_help[] =
    "Run N systems at once, each on one thread. The results do not depend on N. The default is the "
    "number of processors; a real machine is run by one job.";
static const char restart_help[] =
    "Delete the journal in the folder of results and run everything again. Without it finished "
    "runs are not repeated, and a journal of another study is refused.";

static const yoke_operand study_operands[] = {
    {"SYSTEM", false, YOKE_ARGUMENT_FILE, yoke__help_system},
};
static const char* const analyse_names[] = {"anova", "best", NULL};  // bits of app_study_analyse.c
static const yoke_option sweep_options[] = {
    {"vary", "PATH=VALUES", true, YOKE_ARGUMENT_TEXT, NULL, vary_help},
    {"measure", "LIST", true, YOKE_ARGUMENT_TEXT, NULL,
     "What to measure of each run: one or several, separated by commas. Energy of all bonds, or of "
     "one (ter:spring): ter, rter, dE, created, eps, rho. Value of a signal (end:left.x): end, "
     "max, min, maxabs, rms. Error of a signal against --reference: nrmse, error, roughness; error "
     "and roughness also without a name, for all signals together. Trust, by companion runs as in "
     "yoke run --trust both: verdict (0 trustworthy, 1 doubtful, 2 wrong), band:left.x (error band "
     "in the unit of the signal), relative:left.x (the same as a share of its movement). steps: "
     "number of macro steps. status: record only how each run ended."},
    {"limit", "LIMIT", true, YOKE_ARGUMENT_TEXT, NULL, limit_help},
    {"reference", "FILE", false, YOKE_ARGUMENT_FILE, NULL, reference_help},
    {"reference-set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL,
     "Instead of a file: the reference of every point is another run of the same system with this "
     "setting added, such as a small step. May be repeated."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, yoke__help_set},
    {"analyse", "LIST", true, YOKE_ARGUMENT_CHOICE, analyse_names,
     "How to analyse the measures. anova is an analysis of variance: on which axes, and on which "
     "pairs of axes, a measure depends (anova.csv). best sorts the runs, smallest value first, "
     "keeps those near the best, and prints their settings (best.csv). Finished runs are not "
     "repeated for it."},
    {"missing", "VALUE", false, YOKE_ARGUMENT_TEXT, NULL,
     "Runs without a value (refused, diverged, over a limit) count as VALUE in --analyse. Without "
     "it anova is refused when there are such runs, and best leaves them out."},
    {"clip", "VALUE", false, YOKE_ARGUMENT_TEXT, NULL,
     "Values above VALUE count as VALUE in --analyse, so that a few diverged runs do not dominate "
     "it."},
    {"best-within", "FRACTION", false, YOKE_ARGUMENT_TEXT, NULL,
     "--analyse best keeps runs whose value is above the best by at most this part. The default is "
     "0.1 (10 %)."},
    {"best-least", "N", false, YOKE_ARGUMENT_TEXT, NULL,
     "--analyse best keeps at least N runs, and all that equal the last of them. The default is "
     "1."},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write sweep.csv and the journal to DIR, which is made if it is missing. "
     "The default is results/, the name of the system file without its extension, and -sweep."},
    {"jobs", "N", false, YOKE_ARGUMENT_TEXT, NULL,
     "Run N systems at once, each on one thread. The results do not depend on N. The default is "
     "the number of processors; under mpirun N is per rank, and the default is 1."},
    {"figure", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Draw every measure to MEASURE.svg in the folder of results: a line over one axis, a map over "
     "two."},
    {"machine", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Allow a system with a real machine or a port; its points are run one after another. Without "
     "this option such a system is refused, because every point of the grid moves the machine."},
    {"restart", NULL, false, YOKE_ARGUMENT_TEXT, NULL, restart_help},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print all points, and the results of --analyse, as JSON."},
    {"quiet", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print no progress and no summary. Warnings and errors are still printed."},
};
static const yoke_exit sweep_exits[] = {
    {YOKE_EXIT_OK, "Every point has been run. Points that failed are marked in the table."},
    {YOKE_EXIT_FAILED, "No point ran to its end, or the output could not be written."},
    {YOKE_EXIT_USAGE, "The command line is wrong, an input file is missing or has errors, values "
                      "are missing for --analyse anova, or the ranks of mpirun do not match."},
    {YOKE_EXIT_INTERRUPTED,
     "Interrupted (Ctrl-C). The same command continues with the missing points."},
};
static const yoke_example sweep_examples[] = {
    {"yoke sweep crane.yaml --vary time.step=1e-4:1e-2:9:log --measure end:arm.s",
     "The end position for nine step sizes."},
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
    "measures, and what went wrong. Measures of a failed point are empty.\n\nEvery finished run is "
    "written to journal.csv at once. After a kill or an interrupt the same command runs only the "
    "missing points.\n\nStarted by mpirun the ranks share the points. Each of them reads the "
    "system file, and what it refers to, under the same path; the first one writes.",
    LIST(study_operands),
    LIST(sweep_options),
    LIST(sweep_exits),
    LIST(sweep_examples),
    yoke_cmd_sweep,
};

static const yoke_option tune_options[] = {
    {"vary", "PATH=VALUES", true, YOKE_ARGUMENT_TEXT, NULL, vary_help},
    {"minimise", "MEASURE", false, YOKE_ARGUMENT_TEXT, NULL,
     "The measure to minimise, as for yoke sweep, for example ter or end:meter.ter."},
    {"limit", "LIMIT", true, YOKE_ARGUMENT_TEXT, NULL, limit_help},
    {"current", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL,
     "The setting in use now, with which the best one is compared. The default is that of the "
     "system file."},
    {"seed", "PATH", false, YOKE_ARGUMENT_TEXT, NULL,
     "Repeat the best points and the current setting with this path set to 1, 2, ..., so that "
     "random noise does not decide."},
    {"repeat", "N", false, YOKE_ARGUMENT_TEXT, NULL,
     "Number of repetitions with --seed. The default is 5."},
    {"reference", "FILE", false, YOKE_ARGUMENT_FILE, NULL, reference_help},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, yoke__help_set},
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
    {YOKE_EXIT_FAILED,
     "No point ran to its end, the machine is in FAULT, or the output could not be written."},
    STATUS_USAGE,
    {YOKE_EXIT_INTERRUPTED,
     "Interrupted (Ctrl-C). The same command continues with the missing runs."},
};
static const yoke_example tune_examples[] = {
    {"yoke tune bench.yaml --vary units.rig.with.K_P=10:25:16 --vary "
     "units.rig.with.T_I=0.15:0.25:11 --minimise end:meter.ter",
     "The gains of a controller on a grid of 176 points."},
    {"yoke tune bench.yaml --vary units.rig.with.K_P=10:25:4 --minimise end:meter.ter --seed "
     "units.noise.with.seed --limit 'max:rig.speed<=500'",
     "With noise and repetitions; a limit aborts bad runs."},
};
const yoke_command yoke__command_tune = {
    "tune",
    "find the setting that makes a measure small",
    "Runs the system at every point of a grid, aborts runs that violate a limit, and ranks the "
    "rest by one measure. With --seed the best five points and the current setting are repeated, "
    "and a change is advised only if their means differ by more than two standard "
    "deviations.\n\nWrites tune.json, the map of all points as map.csv, and for one or two axes a "
    "drawing of it, map.svg. Every finished run is written to journal.csv at once; after a kill or "
    "an interrupt the same command runs only the missing points.\n\nA real machine, such as a unit "
    "behind a port, is run one point at a time. Every point begins in SAFE, and ends with the safe "
    "actions of the file, even if it is aborted.",
    LIST(study_operands),
    LIST(tune_options),
    LIST(tune_exits),
    LIST(tune_examples),
    yoke_cmd_tune,
};

// ---- advise

static const yoke_operand advise_operands[] = {
    {"SYSTEM", false, YOKE_ARGUMENT_FILE, yoke__help_system},
};
static const yoke_option advise_options[] = {
    {"budget", "N", false, YOKE_ARGUMENT_TEXT, NULL,
     "Cost limit of the search: N runs of the given system, counted in calls of units, or a time "
     "such as 60s. The default is 24, plus up to 96 for auto where it calls units often."},
    {"signals", "LIST", false, YOKE_ARGUMENT_TEXT, NULL,
     "Signals to judge, separated by commas, such as arm.s,arm.theta1. The default is that of the "
     "system file under trust, else all exchanged signals."},
    {"limit", "UNIT.VARIABLE=VALUE", true, YOKE_ARGUMENT_TEXT, NULL,
     "Largest error that a signal may have, in its own unit, such as arm.s=2e-3. The default is 5 "
     "% of its movement."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, yoke__help_set},
    {"write", "OUT", false, YOKE_ARGUMENT_FILE, NULL,
     "Write a copy of the system file with the advised settings to OUT. All other lines stay as "
     "they are."},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write advise.json to the folder advise in DIR. The default is results/ and the name of the "
     "system file without its extension. Results of runs are left alone."},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print the contents of advise.json."},
    {"quiet", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print no progress and no table. Warnings and errors are still printed."},
};
static const yoke_exit advise_exits[] = {
    {YOKE_EXIT_OK, "The search is complete, even if nothing better was found."},
    {YOKE_EXIT_FAILED,
     "Every setting that was tried diverges or fails, or the output could not be written."},
    STATUS_USAGE,
    {YOKE_EXIT_INTERRUPTED, "The search was interrupted (Ctrl-C)."},
};
static const yoke_example advise_examples[] = {
    {"yoke advise crane.yaml", "Try other methods and steps, and print the best with its command."},
    {"yoke advise crane.yaml --signals arm.s --limit arm.s=1e-3 --write good.yaml",
     "Judge only the piston, to a millimetre, and write a new system file."},
    {"yoke advise crane.yaml --budget 60s", "Search for one minute."},
};
const yoke_command yoke__command_advise = {
    "advise",
    "find settings that make a result more accurate",
    "Runs the system as it is and with other coupling methods, schemes and steps. Compares each "
    "run with its companions, and ranks the runs by the error band of the worst signal and by "
    "cost.\n\nPrints only settings that were run, and the command line that runs the best one.",
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
     "A system file, or anything else that yoke run takes. With --run it may be left out; the "
     "default is then the file named in summary.json of the result."},
};
static const yoke_option analyse_options[] = {
    {"step", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Analyse this exchange step instead of that of the file. Internal steps of the units' solvers "
     "stay as they are."},
    {"methods", "LIST", true, YOKE_ARGUMENT_CHOICE, yoke__linear_method_names,
     "Coupling methods to analyse, separated by commas: hold (zero-order hold), hold-1 and hold-2 "
     "(linear and quadratic extrapolation), mean (inputs: mean with hold), auto, nepce, mpsm (with "
     "exact models), mpsm-modified, mpsm-ede, mpsm-ramp, mbcorr, interpolate, energy, hinf, "
     "adaptive, and file (the coupling given in the system file). The default is all of them."},
    {"largest", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Search the first unstable step up to this one. The default is four times the present step."},
    {"resolution", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Distance of the analysed steps. The default is 1/240 of the largest; in a large system, or "
     "where the loops are simulated, 1/15, and 1/240 next to the first unstable one."},
    {"map", "PATH=VALUES", true, YOKE_ARGUMENT_TEXT, NULL,
     "Analyse every value of a setting: PATH=FROM:TO:N, PATH=FROM:TO:N:log or PATH=A,B,C. Paths "
     "are those of the system file. May be given twice. Needs --steps."},
    {"steps", "FROM:TO:N[:log]", false, YOKE_ARGUMENT_TEXT, NULL, "Exchange steps of the map [s]."},
    {"at", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Run the system up to this time and linearise it there. The default is its start."},
    {"cut", "BOND", true, YOKE_ARGUMENT_TEXT, NULL,
     "Cut the loops in two here: a bond, or connections such as a.f->b.f,b.v->a.v. Given once: "
     "analyse this loop. Given several times: compare the cuts, with everything else coupled "
     "exactly. The default is all connections, in loops of two units."},
    {"against", "SYSTEM", false, YOKE_ARGUMENT_FILE, NULL,
     "Compare with the same joint in the other causality, or with any other system of two units."},
    {"run", "RESULT", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Judge a recorded run with method mpsm: identify its models again and compute the Bohl "
     "exponents of its steps. Give the same --set as for the run. It needs form: published and "
     "level: end, and no held connections between members."},
    {"cluster", "NAME", false, YOKE_ARGUMENT_TEXT, NULL,
     "With --run: the coupling to analyse, if the file has several with mpsm."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, yoke__help_set},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write data and figures to DIR, which is made if it is missing: radius.csv, radius.svg, "
     "nyquist.svg and bode.svg of the loop, and all of them on one page, analysis.html. With "
     "--map: map.csv, limits.csv and map.svg. With --run: bohl.csv and steps.csv. Without --out no "
     "file is written."},
    {"expect", "WORD", false, YOKE_ARGUMENT_CHOICE, expect_names,
     "The only word is stable: status 3 if the file's coupling (or one that --methods names) is "
     "unstable."},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print it as JSON."},
    {"quiet", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print no progress and no table. Warnings and errors are still printed."},
};
static const yoke_exit analyse_exits[] = {
    {YOKE_EXIT_OK, "The analysis is complete, whether stable or not."},
    STATUS_FAILED,
    {YOKE_EXIT_USAGE, "The command line is wrong, an input file is missing or has errors, or a "
                      "unit in a loop has no linear model and none can be measured."},
    {YOKE_EXIT_QUALITY, "--expect stable was given, and a method is not stable."},
    {YOKE_EXIT_INTERRUPTED, "A map was interrupted (Ctrl-C). Nothing is written."},
};
static const yoke_example analyse_examples[] = {
    {"yoke analyse car.yaml", "Units, eigenvalues, and every method at the step of the file."},
    {"yoke analyse car.yaml --step 2e-3 --methods file,mpsm --expect stable",
     "For a script: status 3 if one of the two is unstable at 2 ms."},
    {"yoke analyse car.yaml --map units.axle.with.k=1e3:1e6:31:log --steps 1e-4:1e-2:40 --out map",
     "Stable or not over stiffness and step, with a figure."},
    {"yoke analyse car.yaml --cut joint --cut wheel", "Which of two bonds is the better cut."},
    {"yoke analyse --run results/car", "Was the run with identified models stable?"},
};
const yoke_command yoke__command_analyse = {
    "analyse",
    "how large the step may be, and whether a run is stable",
    "Linearises the units at the start of the run and connects them. For each coupling method it "
    "computes the factor by which one exchange step multiplies a deviation (the spectral radius): "
    "below 1 the coupling is stable. Prints the units, the eigenvalues of the coupled system, "
    "radius and first unstable step of every method, and advice.\n\nWith --map it does so over one "
    "or two settings of the file and the step. With --run it reads a recorded run with method "
    "mpsm, identifies the models of that run again, and prints whether the sequence of its steps "
    "is exponentially stable.",
    LIST(analyse_operands),
    LIST(analyse_options),
    LIST(analyse_exits),
    LIST(analyse_examples),
    yoke_cmd_analyse,
};

// ---- synth

static const char* const recipe_names[] = {"T", "L", "custom", "general", NULL};

static const yoke_operand synth_operands[] = {
    {"SYSTEM", false, YOKE_ARGUMENT_FILE, "A system file."},
};
static const yoke_option synth_options[] = {
    {"bond", "NAME", true, YOKE_ARGUMENT_TEXT, NULL,
     "Design for both directions of this bond. Several bonds get one element, if their times "
     "agree."},
    {"connection", "FROM->TO", true, YOKE_ARGUMENT_TEXT, NULL,
     "Design for this connection, for example 'left.f -> right.f'."},
    {"recipe", "NAME", false, YOKE_ARGUMENT_CHOICE, recipe_names,
     "T: robust, high gain, for loops with feedthrough. L: low gain, for noisy signals and delays. "
     "custom: --pole and --smoother are yours. general: the optimum, for loops without "
     "feedthrough. The default is L with a delay, else T."},
    {"band", "HZ", false, YOKE_ARGUMENT_TEXT, NULL,
     "Frequency up to which the error matters. The default is 0.15 / exchange interval; with "
     "recipe L it is 3 Hz."},
    {"pole", "RAD/S", false, YOKE_ARGUMENT_TEXT, NULL,
     "Recipe custom: the poles of the lead at the sender. Recipe general: all poles lie right of "
     "-RAD/S; the default is 0.5 over the step of the calls."},
    {"smoother", "HZ", false, YOKE_ARGUMENT_TEXT, NULL,
     "Recipe custom, general: the frequency of the smoother at the receiver."},
    {"order", "N", false, YOKE_ARGUMENT_TEXT, NULL,
     "Recipe custom: the order of the lead, 1 to 8. The default is 4. Recipe general: the states "
     "that are kept, 1 to 6. The default is all."},
    {"delay", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Design for this delay instead of that of the connection."},
    {"interval", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Design for this exchange interval instead of that of the connection."},
    {"step", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Design for calls of this length instead of those of the units."},
    {"output", "FILE", false, YOKE_ARGUMENT_FILE, NULL,
     "Write the element to FILE, also -o FILE. The default is SYSTEM-BOND.json beside the system "
     "file."},
    {"no-run", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Do not run the system for a comparison. Otherwise it is run up to 8 times in memory, with up "
     "to 50000 steps each."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, yoke__help_set},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write the errors over frequency to DIR, synth.csv and a figure, synth.svg. The element "
     "itself "
     "goes to --output."},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print it as JSON."},
};
static const yoke_exit synth_exits[] = {
    {YOKE_EXIT_OK, "The element is written, even if another coupling is better."},
    STATUS_FAILED,
    {YOKE_EXIT_USAGE,
     "The command line is wrong, the system file has errors, there is no such bond "
     "or connection, or no element can be designed for its times."},
};
static const yoke_example synth_examples[] = {
    {"yoke synth car.yaml --bond rack", "Design, compare, write car-rack.json."},
    {"yoke synth car.yaml --connection 'epas.v->chassis.v' --recipe L -o v.json",
     "One connection with little gain, to a file of this name."},
    {"yoke synth car.yaml --bond rack --no-run --out figures",
     "Without running the system; with a figure."},
};
const yoke_command yoke__command_synth = {
    "synth",
    "design a coupling element and compare it with hold",
    "Designs the filters of method hinf for a bond or for connections. Exchange interval, calls "
    "and delay are those of the system. Writes a file that the system file can name.\n\nFor the "
    "element, zero-order hold and linear extrapolation it prints the error of a sine over "
    "frequency, whether the loop is stable, and the error of a run; then which of them to use.",
    LIST(synth_operands),
    LIST(synth_options),
    LIST(synth_exits),
    LIST(synth_examples),
    yoke_cmd_synth,
};

// ---- bench

static const yoke_operand bench_operands[] = {
    {"GROUP", true, YOKE_ARGUMENT_TEXT, "What to benchmark (only circuits)."},
};
static const yoke_option bench_options[] = {
    {"problem", "NAME", true, YOKE_ARGUMENT_TEXT, NULL,
     "A built-in problem: rlc, ladder-N with any N (ladder-100), rectifier or pmsm. The default is "
     "rlc, ladder-2, rectifier and pmsm."},
    {"method", "LIST", true, YOKE_ARGUMENT_CHOICE, yoke__circuit_method_names,
     "Integration methods. The default is trbdf2, tr, bdf2, bdf3, esdirk3 and esdirk4, and for "
     "built-in problems also the published configurations."},
    {"formulation", "NAME", false, YOKE_ARGUMENT_CHOICE, yoke__circuit_formulation_names,
     "Formulation of the equations: nodal, dae or ode. The default is .yoke of your netlist, else "
     "nodal."},
    {"startup", "NAME", false, YOKE_ARGUMENT_CHOICE, yoke__circuit_startup_names,
     "How BDF begins. tr_xi, const or tr_xi_minus_1."},
    {"step", "SECONDS", true, YOKE_ARGUMENT_TEXT, NULL,
     "A step to try, 1e-5 or 10u. It must divide the distance of the reference's samples. The "
     "default is a series of steps. For a system it is the exchange interval."},
    {"iterations", "N", true, YOKE_ARGUMENT_TEXT, NULL,
     "Iterations in every stage of a step, as in real time. 0 iterates until converged. The "
     "default is 1 for linear circuits and 0 for others."},
    {"refactor", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Factor the matrix in every iteration, even if it is constant."},
    {"level", "LEVEL", false, YOKE_ARGUMENT_TEXT, NULL,
     "The precision wanted. low (1 mV, 1 mA, 0.1 K, 1 W), high (10 uV, 10 uA, 0.01 K, 0.1 W), or "
     "one error for all judged signals (all signals of your own file)."},
    {"find", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "For each method, search the cheapest step and number of iterations that reaches the level; "
     "with a ladder, also the largest one that runs in real time. With --netlist it needs --limit "
     "or --level ERROR."},
    {"netlist", "FILE", false, YOKE_ARGUMENT_FILE, NULL,
     "Benchmark this netlist instead. Needs --reference."},
    {"system", "FILE", false, YOKE_ARGUMENT_FILE, NULL,
     "Benchmark this system, run with several exchange intervals. Needs --reference."},
    {"fmu", "FILE", false, YOKE_ARGUMENT_FILE, NULL, "The same for an FMU on its own."},
    {"reference", "FILE", false, YOKE_ARGUMENT_FILE, NULL,
     "The reference solution: a CSV file with the column time and one column per signal, named "
     "v(out), i(l1), t(case) for netlists and UNIT.VARIABLE for systems; or a result of yoke run."},
    {"limit", "SIGNAL=ERROR", true, YOKE_ARGUMENT_TEXT, NULL,
     "Largest root mean square error allowed for this signal. Status 3 if no configuration keeps "
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
    {YOKE_EXIT_INTERRUPTED, "Interrupted (Ctrl-C). Results so far are printed."},
};
static const yoke_example bench_examples[] = {
    {"yoke bench circuits", "All problems, published configurations and own methods."},
    {"yoke bench circuits --problem rectifier --method bdf3,trbdf2 --step 1e-4 --iterations 9",
     "Two methods at one step."},
    {"yoke bench circuits --problem ladder-2 --find",
     "The cheapest configuration, and the largest ladder in real time."},
    {"yoke bench circuits --netlist filter.cir --reference filter.csv --limit 'v(out)=1e-3' --find",
     "Your own netlist."},
    {"yoke bench circuits --fmu engine.fmu --reference engine.csv --step 1e-3 --step 1e-2",
     "An FMU at two exchange intervals."},
};
const yoke_command yoke__command_bench = {
    "bench",
    "benchmark solvers and units: error, cost, real-time limit",
    "Runs methods and steps on problems whose solution is known. For each it prints the root mean "
    "square error of every signal, the precision level reached, the processor time per step, the "
    "real-time factor, the memory and the iterations; then how the cost of a step is made up. "
    "Published figures are shown beside ours where they exist.",
    LIST(bench_operands),
    LIST(bench_options),
    LIST(bench_exits),
    LIST(bench_examples),
    yoke_cmd_bench,
};

// ---- twin

static const yoke_operand twin_operands[] = {
    {"FILE", false, YOKE_ARGUMENT_FILE,
     "A system file with a twin: a unit with the key twin. Its other units are replaced by the "
     "data."},
};
static const yoke_option twin_options[] = {
    {"data", "DATA", false, YOKE_ARGUMENT_FILE, NULL,
     "The record: a CSV file with a column time [s], results.h5 of yoke run, or a folder with "
     "results. A connection from U.V to the twin reads the column U.V, or V where only one source "
     "has that name. Cells that are empty or nan are gaps."},
    {"unit", "NAME", false, YOKE_ARGUMENT_TEXT, NULL, "The twin, if the file has several."},
    {"tune", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "First estimate the constant unknowns (those without walk, such as resistances and "
     "capacities): by passes of the filter over the record, and by least squares from several "
     "starts. The run then uses these values."},
    {"write", "OUT", false, YOKE_ARGUMENT_FILE, NULL,
     "With --tune: write OUT, a copy of the system file with the tuned values as start and sd of "
     "the unknowns. All other lines stay as they are."},
    {"from", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Use rows from this time on. With --tune this applies to the tuning only; before it the model "
     "runs without correction. Steady readings determine resistances, transients determine "
     "capacities."},
    {"to", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL, "Use rows up to this time."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, yoke__help_set},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write the results to DIR, which is made if it is missing. "
     "The default is results/ and the name of the system file without its extension."},
    {"format", "LIST", true, YOKE_ARGUMENT_CHOICE, yoke__format_names,
     "Formats of the result file. One or several of csv, hdf5 and mat, separated by commas. The "
     "default is that of the system file, else csv."},
    {"report", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Also write report.html with plots, verdict and settings."},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print the contents of summary.json instead of the summary."},
    {"quiet", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print no progress and no summary. Warnings and errors are still printed."},
};
static const yoke_exit twin_exits[] = {
    {YOKE_EXIT_OK, "The estimates are consistent with the readings, or there are too few readings "
                   "for a verdict."},
    {YOKE_EXIT_FAILED,
     "The run or the tuning failed, or the output could not be written. Results up to that step "
     "are kept."},
    {YOKE_EXIT_USAGE, "The command line is wrong, or the system file or the data have errors."},
    {YOKE_EXIT_QUALITY,
     "The twin ended inconsistent or diverged (unless the file has trust: {status: false}). "
     "Results are complete."},
    {YOKE_EXIT_INTERRUPTED,
     "The run was interrupted (Ctrl-C). Results up to the last step are complete."},
};
static const yoke_example twin_examples[] = {
    {"yoke twin bench.yaml --data measured.csv",
     "Estimate temperatures without a sensor from a record."},
    {"yoke twin bench.yaml --data results/bench --report",
     "From the results of a run, with a page."},
    {"yoke twin bench.yaml --data test.csv --tune --write tuned.yaml",
     "First estimate resistances and capacities, and write them to a file."},
    {"yoke twin bench.yaml --data test.csv --tune --from 600",
     "The same from the readings after ten minutes."},
};
const yoke_command yoke__command_twin = {
    "twin",
    "estimate temperatures and parameters from a record",
    "Runs the twin of a system file over recorded readings and writes its estimates with their "
    "standard deviations to results.csv, as yoke run does. The step is that of the twin, else the "
    "median interval of the rows. A sensor is used where it has a new reading.\n\n"
    "At the end it prints the unknowns, temperatures and innovations, and whether they are "
    "consistent with the model and the noise of the sensors.",
    LIST(twin_operands),
    LIST(twin_options),
    LIST(twin_exits),
    LIST(twin_examples),
    yoke_cmd_twin,
};
