// Never ends.
// fails: timeout
#include <unistd.h>

int main() {
  for (;;) {
    pause();
  }
}
