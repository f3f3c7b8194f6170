// Writes verdicts wherever it may write, and lines of a trace to every descriptor that it has inherited.
// fails: fail
// seen: a line of another hand
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

int main() {
  const std::string verdict = R"({"lab":"03","points":100,"max_points":100,"passed":true,"checks":[]})";
  const std::string call =
      R"({"verb":"ibv_alloc_pd","object":"PD #1","result":0,"where":"main, lab.cpp:1","args":{},"uses":[]})";
  for (const std::string& folder : {std::string{LAB_SOURCE} + "/.lab/labs", std::string{LAB_SOURCE} + "/build/labs",
                                    std::string{LAB_SOURCE}, std::string{"/tmp"}, std::string{"."}}) {
    for (const char* const name : {"03-protection-domain.json", "03-protection-domain.state", "forged.json"}) {
      if (std::FILE* const file = std::fopen((folder + "/" + name).c_str(), "w")) {
        std::fputs(verdict.c_str(), file);
        std::fclose(file);
        if (folder.starts_with(LAB_SOURCE)) {
          std::fprintf(stderr, "could write %s/%s\n", folder.c_str(), name);
        }
      }
    }
  }
  for (int descriptor = 3; descriptor < 256; ++descriptor) {
    for (int time = 0; time < 3; ++time) {
      dprintf(descriptor, "%s\n", call.c_str());
    }
  }
  return 0;
}
