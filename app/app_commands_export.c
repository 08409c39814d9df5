// Table of the command export.
#include "app/app_commands.h"

// ---- export

static const char* const fmi_choices[] = {"2", "3", NULL};
static const char* const hold_choices[] = {"zero", "first", NULL};

static const yoke_operand export_operands[] = {
    {"MODEL|NETLIST|SYSTEM", false, YOKE_ARGUMENT_MODEL,
     "The name of a native model (yoke info lists them), a netlist, or a system file (YAML or "
     "SSP)."},
};
static const yoke_option export_options[] = {
    {"fmi", "VERSION", false, YOKE_ARGUMENT_CHOICE, fmi_choices,
     "Write an FMU for co-simulation by FMI 2.0 or 3.0. With --ssp: the version of the FMUs in it; "
     "2 is the default there."},
    {"event-mode", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "With --fmi 3: offer event mode. It lets importers read outputs after new inputs without a "
     "step; 'exchange: fresh' needs it where outputs depend directly on inputs."},
    {"ssp", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Write the whole system as an SSP archive, every unit an FMU."},
    {"c", NULL, false, YOKE_ARGUMENT_TEXT, NULL,
     "Write a linear circuit or thermal network, or the filter of a linear twin, as two C files "
     "for a microcontroller: no heap, no library."},
    {"step", "SECONDS", false, YOKE_ARGUMENT_TEXT, NULL,
     "With --c: the length of a step, 1e-5 or 10u. With --fmi: the step of the solver inside the "
     "FMU of a circuit; every call must be a whole number of these steps. The default is that of "
     "the netlist."},
    {"reduce", "TOLERANCE", false, YOKE_ARGUMENT_TEXT, NULL,
     "With --c: drop states as long as the error bound of every output stays below TOLERANCE times "
     "its own gain. For example 1e-3."},
    {"order", "N", false, YOKE_ARGUMENT_TEXT, NULL, "With --c: drop all states but N."},
    {"hold", "ORDER", false, YOKE_ARGUMENT_CHOICE, hold_choices,
     "With --c: inputs during a step: zero-order hold (zero, the default) or linear interpolation "
     "to the next value (first)."},
    {"float", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "With --c: single precision."},
    {"unit", "NAME", false, YOKE_ARGUMENT_TEXT, NULL,
     "The unit or law of the system file to export, with its settings. Not needed if it has one."},
    {"with", "NAME=VALUE", true, YOKE_ARGUMENT_TEXT, NULL,
     "Set a parameter (for a netlist one of its .param lines) or a start value of a model. For "
     "example --with k=20 or --with \"A=[[0,1],[-1,0]]\". Values are those of system files; for a "
     "netlist also with suffixes, 4.7k."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, yoke__help_set},
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
    {"yoke export rig.yaml --unit twin --c -o src",
     "The filter of a twin for a microcontroller: src/twin.c and src/twin.h."},
};
const yoke_command yoke__command_export = {
    "export",
    "write a model, unit or circuit as an FMU or as C, a system as SSP",
    "Writes a native model, a netlist, or one unit or law of a system file, as a Functional "
    "Mock-up Unit that other tools can run; or a whole system as an SSP archive of such units; or "
    "a linear circuit as C for a microcontroller. No compiler is needed: the FMU contains a "
    "prebuilt binary for this kind of machine, and the C sources of the model for all "
    "others.\n\nThe same unit always gives the same file, byte by byte. Set SOURCE_DATE_EPOCH to "
    "write a date into it. The prebuilt binary is searched beside the program, in ../libexec/yoke "
    "and ../lib/yoke from there, or in the folder named by YOKE_FMU_RUNTIME.",
    LIST(export_operands),
    LIST(export_options),
    LIST(export_exits),
    LIST(export_examples),
    yoke_cmd_export,
};
