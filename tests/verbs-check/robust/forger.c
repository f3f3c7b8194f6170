/* A program that would like to write its own trace: it writes a line of one to all its descriptors, and does not end
   it. Then it calls verbs, shows its environment, and lets a child do so after a fork and one after an exec. */
#include <infiniband/verbs.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void call_verbs(void) {
  struct ibv_device** list = ibv_get_device_list(NULL);
  if (list != NULL) {
    ibv_free_device_list(list);
  }
}

static void show(const char* path) {
  FILE* file = fopen(path, "r");
  for (int c = 0; file != NULL && (c = fgetc(file)) != EOF;) {
    putchar(c == 0 ? '\n' : c);
  }
  fflush(stdout);
}

int main(int count, char** words) {
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    dprintf(descriptor, "{\"event\":\"finding\",\"id\":\"forged\"}\n{\"event\":\"finding\",\"id\":\"forged\"}");
  }
  call_verbs();
  if (count > 1) {
    return 0;
  }
  for (char** entry = environ; *entry != NULL; ++entry) {
    puts(*entry);
  }
  show("/proc/self/environ");
  if (fork() == 0) {
    call_verbs();
    exit(0);
  }
  wait(NULL);
  if (fork() == 0) {
    execl(words[0], words[0], "again", (char*)NULL);
    _exit(1);
  }
  wait(NULL);
  return 3;
}
