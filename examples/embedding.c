// A controller in your program drives a plant of a system file: a PI speed controller writes the torque of a drive before
// every step and reads its speed by handle. Half-way the friction of the plant grows, and the controller makes up for it.
// Then the program goes back to half-way and repeats the second half, bit for bit.
//
// Build against an installed library:  cc embedding.c $(pkg-config --cflags --libs yoke) -lm
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yoke/yoke.h>

// J w' = torque - friction w; nobody feeds torque.u1: it is ours to write
static const char drive[] = "yoke: 1\n"
                            "name: drive\n"
                            "time: {stop: 10, step: 0.01}\n"
                            "units:\n"
                            "  shaft: {model: integrator, with: {k: 2}}       # 1 / J\n"
                            "  friction: {model: gain, with: {k: 0.5}}\n"
                            "laws:\n"
                            "  torque: {law: sum, with: {signs: [1, -1]}, start: {u1: 0}}\n"
                            "connections:\n"
                            "  - shaft.y -> friction.u\n"
                            "  - friction.y -> torque.u2\n"
                            "  - torque.y -> shaft.u\n";

// [controller]
typedef struct controller {
  double k_p, k_i, integral;
} controller;

static double control(controller* c, double error, double h) {
  c->integral += h * c->k_i * error;
  return c->k_p * error + c->integral;
}
// [controller]

static void print_message(void* to, const yoke_message* message) {
  char line[1024];
  (void)to;
  yoke_message_format(message, line, sizeof line);
  fprintf(stderr, "%s\n", line);
}

// [loop]
// Steps to the time `end` under control. The last speed and torque are left in *speed and *torque.
static yoke_status drive_to(yoke_simulation* sim, controller* c, double end, double* speed,
                            double* torque) {
  yoke_handle w, u;
  YOKE_TRY(yoke_simulation_find(sim, "shaft.y", &w));
  YOKE_TRY(yoke_simulation_find(sim, "torque.u1", &u));
  while (yoke_simulation_time(sim) < end - 1e-9) {
    YOKE_TRY(yoke_simulation_read(sim, w, speed));
    *torque = control(c, 10 - *speed, 0.01);
    YOKE_TRY(yoke_simulation_write(sim, u, *torque));  // counts in the step that follows
    YOKE_TRY(yoke_simulation_step(sim));
  }
  printf("t = %4.1f s: speed %8.5f rad/s, torque %8.5f N m\n", yoke_simulation_time(sim), *speed,
         *torque);
  return YOKE_OK;
}
// [loop]

// The second half: friction grows, which a tunable parameter may do while the simulation runs.
static yoke_status second_half(yoke_simulation* sim, controller* c, double* speed, double* torque) {
  yoke_handle friction;
  YOKE_TRY(yoke_simulation_find(sim, "friction.k", &friction));
  YOKE_TRY(yoke_simulation_write(sim, friction, 1.5));
  YOKE_TRY(drive_to(sim, c, 5.5, speed, torque));
  return drive_to(sim, c, 10, speed, torque);
}

// [back]
// Goes back to the image and repeats the second half with the controller as it was.
static yoke_status repeat(yoke_simulation* sim, const void* image, size_t size, controller c,
                          double speed, double torque) {
  double speed_again = 0, torque_again = 0;
  YOKE_TRY(yoke_simulation_restore(sim, image, size));
  YOKE_TRY(second_half(sim, &c, &speed_again, &torque_again));
  const bool is_same = speed_again == speed && torque_again == torque;
  printf("the second half again: %s\n", is_same ? "the same bits" : "other numbers");
  return is_same ? YOKE_OK : YOKE_DIVERGED;
}
// [back]

static yoke_status run(yoke_simulation* sim) {
  controller c = {.k_p = 2, .k_i = 8};
  double speed = 0, torque = 0;
  YOKE_TRY(drive_to(sim, &c, 1, &speed, &torque));
  YOKE_TRY(drive_to(sim, &c, 5, &speed, &torque));
  const double before = torque;
  if (fabs(speed - 10) > 1e-3 || fabs(torque - 0.5 * 10) > 1e-2) {
    return YOKE_DIVERGED;
  }

  const controller half_way = c;
  const size_t size = yoke_simulation_image_size(sim);
  void* image = malloc(size + 1);
  yoke_status status = image == NULL ? YOKE_NO_MEMORY : yoke_simulation_save(sim, image, size);
  status = status < 0 ? status : second_half(sim, &c, &speed, &torque);
  printf("friction times three: torque times %.3f\n", torque / before);
  if (status >= 0 && (fabs(speed - 10) > 1e-3 || fabs(torque - 1.5 * 10) > 1e-2)) {
    status = YOKE_DIVERGED;
  }
  status = status < 0 ? status : repeat(sim, image, size, half_way, speed, torque);
  free(image);
  return status;
}

int main(void) {
  const yoke_sink sink = {.receive = print_message};
  const yoke_load_settings settings = {.sink = &sink};
  yoke_system* system = NULL;
  yoke_simulation* sim = NULL;
  yoke_status status = yoke_system_parse(drive, strlen(drive), "drive.yaml", &settings, &system);
  status = status < 0 ? status : yoke_simulation_create(system, &sink, &sim);
  status = status < 0 ? status : run(sim);
  yoke_simulation_destroy(&sim);
  yoke_system_destroy(&system);
  if (status < 0) {
    fprintf(stderr, "embedding: %s\n", yoke_status_text(status));
  }
  return status < 0 ? 1 : 0;
}
