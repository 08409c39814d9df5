// The command `rig`: arguments, options, exit statuses and examples.
#include "app/app_commands.h"

static const yoke_operand rig_operands[] = {
    {"SYSTEM", false, YOKE_ARGUMENT_FILE,
     "The same system file that yoke run gets. One of its units has port: udp or port: shm."},
};
static const yoke_option rig_options[] = {
    {"unit", "NAME", false, YOKE_ARGUMENT_TEXT, NULL, "The unit to play, if several have a port."},
    {"bind", "ADDRESS", false, YOKE_ARGUMENT_TEXT, NULL,
     "Where to listen, such as 127.0.0.1:47001, or /yoke-rig with port: shm. Without it: the "
     "`peer` of the "
     "file."},
    {"set", "PATH=VALUE", true, YOKE_ARGUMENT_TEXT, NULL, yoke__help_set},
    {"realtime", "[=FACTOR]", false, YOKE_ARGUMENT_TEXT, NULL,
     "With clock: paced, seconds of the unit per second of the clock: the same factor as for yoke "
     "run. The default is time.pace of the file, else 1."},
    {"out", "DIR", false, YOKE_ARGUMENT_FOLDER, NULL,
     "Record the unit to DIR, including signals that the other end does not receive. Every run "
     "replaces the one before it. Without it nothing is recorded."},
    {"once", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "End after the first run."},
    {"quiet", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Print nothing but errors."},
};
static const yoke_exit rig_exits[] = {
    {YOKE_EXIT_OK, "Ended by a signal, or by --once."},
    {YOKE_EXIT_FAILED,
     "The address cannot be used, the recording could not be written, or memory ran out."},
    STATUS_USAGE,
};
static const yoke_example rig_examples[] = {
    {"yoke rig loop.yaml", "Play the unit of loop.yaml that has a port, run after run."},
    {"yoke rig loop.yaml --once", "The same for one run."},
    {"yoke rig loop.yaml --set units.bench.clock=paced --out truth",
     "The unit follows the clock by itself; record its signals."},
};
const yoke_command yoke__command_rig = {
    "rig",
    "play the unit behind a port, as a process of its own",
    "Takes the unit with a port from a system file and runs it at the other end of that port, with "
    "the settings of the file. It makes one step for each datagram of yoke run, and the numbers "
    "are those of a run in one process; with clock: paced it steps by the clock instead. Every run "
    "begins with the unit as the file starts it. It prints the address at which it listens and "
    "runs until it gets SIGINT or SIGTERM.",
    LIST(rig_operands),
    LIST(rig_options),
    LIST(rig_exits),
    LIST(rig_examples),
    yoke_cmd_rig,
};
