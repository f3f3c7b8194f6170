// Is ended by SIGSEGV.
// fails: fail
// seen: SIGSEGV
#include <csignal>

int main() { return raise(SIGSEGV); }
