// Start values of a loaded system.
#include "app/app_start.h"

yoke_state* yoke__app_start(yoke_system* system, const yoke_app_words* words, int* status) {
  yoke_messages messages = {0};
  yoke_state* state = NULL;
  yoke_app_voice voice = {.words = words, .is_quiet = true};
  const yoke_sink sink = yoke__app_voice_sink(&voice);
  const yoke_status created = yoke__master_create(system, &messages, &state);
  yoke__system_report(system, &sink);
  voice.is_quiet = false;
  if (yoke__messages_send(&messages, &sink) == 0 && created < 0) {
    yoke__app_error(NULL, "%s", yoke_status_text(created));
  }
  yoke__messages_free(&messages);
  *status = yoke__app_start_status(created);
  return state;
}
