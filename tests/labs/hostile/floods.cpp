// Prints without end.
// fails: fail
// seen: more than 256 KiB
#include <cstdio>

int main() {
  for (;;) {
    std::puts("passed passed passed passed passed passed passed passed passed passed passed passed passed passed");
  }
}
