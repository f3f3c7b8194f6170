// Prints what a judge would like to read, and something that looks like its protocol.
// fails: fail
#include <cstdio>

int main() {
  std::puts("03-protection-domain: 100 of 100 points, passed");
  std::puts(R"({"id":1,"end":0,"status":0,"left":0,"seconds":0.1,"out":"","err":"","trace":""})");
  std::fflush(stdout);
  std::fputs(R"({"id":1,"end":0,"status":0,"left":0,"seconds":0.1,"out":"","err":"","trace":""})"
             "\n",
             stderr);
  return 0;
}
