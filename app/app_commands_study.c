// Tables of the commands that run a system many times: sweep, tune, advise, analyse, synth, bench.
#include "app/app_commands.h"
#include "base/base_format.h"
#include "study/study_assess.h"
#include "study/study_linear.h"

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
    "The default is the number of processors; a real machine is run by one job.";
static const char restart_help[] =
    "Forget the runs of the journal in the folder of results and begin anew. Without it finished "
    "runs are not repeated, and a journal of another study is refused.";

static const yoke_operand study_operands[] = {
    {"SYSTEM", false, YOKE_ARGUMENT_FILE, yoke__help_system},
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
     "--reference; verdict (0 trustworthy, 1 doubtful, 2 wrong), band:left.x (how far it may be "
     "off, in its unit) and relative:left.x (the same of its movement) compare every run with its "
     "companions, as yoke run --trust both does; "
     "steps is the number of macro steps; status asks for no number at all."},
    {"limit", "LIMIT", true, YOKE_ARGUMENT_TEXT, NULL, limit_help},
    {"reference", "FILE", false, YOKE_ARGUMENT_FILE, NULL, reference_help},
    {"reference-set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL,
     "Instead of a file: the reference of every point is the same system run with this setting on "
     "top, such as a small step, with all rows that its result file would have. May be repeated."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, yoke__help_set},
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
    {"machine", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Run a system with a real machine or a port at every point, one after another. Without it "
     "such "
     "a system is refused: a grid moves a machine as often as it has points."},
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
     "No point could be run to its end, the machine is in FAULT, or the output could not be "
     "written."},
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
    "the same command does only what is missing.\n\n"
    "A real machine, such as a unit behind a port, is run one point at a time. Every point begins "
    "in SAFE, and the safe actions of the file are done before it counts as ended, also if it is "
    "aborted.",
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
     "Most that the search may cost: N runs of the given system, counted in calls of units, or a "
     "time such as 60s. The default is 24, and up to 96 more for auto where it calls units often."},
    {"signals", "LIST", false, YOKE_ARGUMENT_TEXT, NULL,
     "Signals that count, with commas between them, such as arm.s,arm.theta1. The default is what "
     "the system file says under trust, else all exchanged signals."},
    {"limit", "UNIT.VARIABLE=VALUE", true, YOKE_ARGUMENT_TEXT, NULL,
     "Largest error that a signal may have, in its own unit, such as arm.s=2e-3. The default is 5 "
     "% of its movement."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, yoke__help_set},
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
     "hold-2 (straight lines, parabolas), mean (held, feedthrough up to date), auto, nepce, mpsm "
     "(with exact models), mpsm-modified, mpsm-ede, mpsm-ramp, mbcorr, interpolate, energy, hinf, "
     "adaptive, "
     "and file, which is what the file uses as its units are called. The default is all of them."},
    {"largest", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Search the first unstable step up to this one. The default is four times the present step."},
    {"resolution", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Distance of the steps that are looked at. The default is a 240th of the largest; in a large "
     "system, or where the loops are run, a 15th, and a 240th next to the first unstable one."},
    {"map", "PATH=VALUES", true, YOKE_ARGUMENT_TEXT, NULL,
     "Look at every value of a setting, once or twice: PATH=FROM:TO:N, PATH=FROM:TO:N:log or "
     "PATH=A,B,C. Paths are those of the system file. Needs --steps."},
    {"steps", "FROM:TO:N[:log]", false, YOKE_ARGUMENT_TEXT, NULL, "Exchange steps of the map [s]."},
    {"at", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Run the system up to this time and linearise it there. The default is its start."},
    {"cut", "BOND", true, YOKE_ARGUMENT_TEXT, NULL,
     "Where the loops may be cut in two: a bond, or connections as a.f->b.f,b.v->a.v. Once: look "
     "at "
     "this loop. Several times: compare them, everything else coupled without error. The default "
     "is all connections, in loops of two units."},
    {"against", "SYSTEM", false, YOKE_ARGUMENT_FILE, NULL,
     "Compare with the same joint the other way round (causality), or with any other system of two "
     "units."},
    {"run", "RESULT", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Judge a recorded run with method mpsm: identify its models again and compute the Bohl "
     "exponents of its steps. Give the same --set as for the run. It needs form: published and "
     "level: end, and no held connections between members."},
    {"cluster", "NAME", false, YOKE_ARGUMENT_TEXT, NULL,
     "With --run: the coupling to look at, if the file has several with mpsm."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, yoke__help_set},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write data and figures to DIR, which is made if it is missing: radius.csv and radius.svg, "
     "nyquist.svg and bode.svg of the loop, all on one page, analysis.html; with --map map.csv, "
     "limits.csv and map.svg, with --run "
     "bohl.csv and steps.csv. Without it "
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
                      "unit in a loop has no linear model and cannot be tried."},
    {YOKE_EXIT_QUALITY, "--expect stable was given, and something is not."},
    {YOKE_EXIT_INTERRUPTED, "A map was interrupted (Ctrl-C). Nothing is written."},
};
static const yoke_example analyse_examples[] = {
    {"yoke analyse car.yaml", "Units, eigenvalues, and every method at the step of the file."},
    {"yoke analyse car.yaml --step 2e-3 --methods file,mpsm --expect stable",
     "For a script: status 3 if one of the two is unstable at 2 ms."},
    {"yoke analyse car.yaml --map units.axle.with.k=1e3:1e6:31:log --steps 1e-4:1e-2:40 --out map",
     "Stable or not over stiffness and step, with a figure."},
    {"yoke analyse car.yaml --cut joint --cut wheel", "At which of two bonds to cut the loop."},
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

// ---- synth

static const char* const recipe_names[] = {"T", "L", "custom", "general", NULL};

static const yoke_operand synth_operands[] = {
    {"SYSTEM", false, YOKE_ARGUMENT_FILE, "A system file."},
};
static const yoke_option synth_options[] = {
    {"bond", "NAME", true, YOKE_ARGUMENT_TEXT, NULL,
     "Design for both ways of this bond. Several get one element, if their times agree."},
    {"connection", "FROM->TO", true, YOKE_ARGUMENT_TEXT, NULL,
     "Design for this connection, for example 'left.f -> right.f'."},
    {"recipe", "NAME", false, YOKE_ARGUMENT_CHOICE, recipe_names,
     "T: robust, with much gain, for loops with feedthrough. L: low gain, for noisy signals and "
     "delays. custom: with --pole and --smoother of your own. general: the optimum, for loops "
     "without feedthrough. The default is L with a delay, else T."},
    {"band", "HZ", false, YOKE_ARGUMENT_TEXT, NULL,
     "Frequency up to which the error matters. The default is 0.15 over the exchange interval, of "
     "recipe L 3 Hz."},
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
     "Do not run the system to compare. Without it it is run up to 8 times in memory, each time up "
     "to 50000 steps."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, yoke__help_set},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write the errors over frequency to DIR: synth.csv and a figure, synth.svg."},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print it as JSON."},
};
static const yoke_exit synth_exits[] = {
    {YOKE_EXIT_OK, "The element is written, also where something else is better."},
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
    "Designs the filters of method hinf for a bond or for connections: exchange interval, calls "
    "and "
    "delay are those of the system. Writes a file that the system file can name.\n\n"
    "Prints what the element, held signals and straight lines leave of a sine over frequency, "
    "whether the loop is stable with each, and how far a run is off with each; then which of them "
    "to "
    "use.",
    LIST(synth_operands),
    LIST(synth_options),
    LIST(synth_exits),
    LIST(synth_examples),
    yoke_cmd_synth,
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

// ---- twin

static const yoke_operand twin_operands[] = {
    {"FILE", false, YOKE_ARGUMENT_FILE,
     "A system file with a twin: a unit with the key twin. Its other units are replaced by the "
     "data."},
};
static const yoke_option twin_options[] = {
    {"data", "DATA", false, YOKE_ARGUMENT_FILE, NULL,
     "The record: a CSV file with a column time [s], results.h5 of yoke run, or a folder with "
     "results. What the file connects to the twin from U.V is read from the column U.V, or V "
     "where only one source has that name. Cells that are empty or say nan are gaps."},
    {"unit", "NAME", false, YOKE_ARGUMENT_TEXT, NULL, "The twin, if the file has several."},
    {"tune", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "First find the unknowns that have no walk, such as resistances and capacities, by passes of "
     "the filter over the record and by least squares from several starts. The run then uses "
     "them."},
    {"write", "OUT", false, YOKE_ARGUMENT_FILE, NULL,
     "With --tune: write OUT, a copy of the system file with the tuned values as start and sd of "
     "the unknowns. Only lines that are added or changed differ."},
    {"from", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Use rows from this time on. With --tune only the tuning does: before it the model runs "
     "without correction. Steady readings tell resistances, transients tell capacities."},
    {"to", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL, "Use rows up to this time."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, yoke__help_set},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Write the results to DIR, which is made if it is missing. "
     "The default is results/ and the name of the system file without its extension."},
    {"format", "LIST", true, YOKE_ARGUMENT_CHOICE, yoke__format_names,
     "Formats of the result file. One or several of csv, hdf5 and mat with commas between them. "
     "The default is what the system file asks for, else csv."},
    {"report", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Also write report.html with plots, verdict and settings."},
    {"json", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print the contents of summary.json instead of the summary."},
    {"quiet", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Print no progress and no summary. Warnings and errors are still printed."},
};
static const yoke_exit twin_exits[] = {
    {YOKE_EXIT_OK, "The estimates are consistent with the readings, or there are too few to say."},
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
     "Temperatures that no sensor reaches, from a record."},
    {"yoke twin bench.yaml --data results/bench --report",
     "From the results of a run, with a page."},
    {"yoke twin bench.yaml --data test.csv --tune --write tuned.yaml",
     "Resistances and capacities first, and a file that keeps them."},
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
