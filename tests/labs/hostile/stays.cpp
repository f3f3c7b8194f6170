// Leaves a server running that has nothing to do with it any more: a session of its own, its streams closed.
// fails: fail
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

int main() {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      const int listener = socket(AF_INET, SOCK_STREAM, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(39999);
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        listen(listener, 1);
      }
      for (;;) {
        pause();
      }
    }
    _exit(0);
  }
  return 0;
}
