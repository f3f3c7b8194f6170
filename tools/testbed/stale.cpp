#include "stale.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

namespace {

using Paths = std::set<std::string>;

// What was stale once. The old version's name stays in use as long as a copy lies over it, when nobody runs it any
// more.
constexpr const char* known_file = "/run/lab/stale";

void read_known(Paths& paths) {
  FILE* file = fopen(known_file, "r");
  if (file == nullptr) return;
  char* path = nullptr;
  size_t size = 0;
  while (getdelim(&path, &size, '\0', file) > 0) paths.insert(path);
  free(path);
  fclose(file);
}

void add_known(const std::string& path) {
  const int file = open(known_file, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (write(file, path.c_str(), path.size() + 1) < 0) perror(known_file);
  close(file);
}

// The files below the checkout that the process has mapped.
void read_mapped(const std::string& process, const std::string& below, Paths& paths) {
  FILE* file = fopen(("/proc/" + process + "/maps").c_str(), "r");
  if (file == nullptr) return;
  char* line = nullptr;
  size_t size = 0;
  while (getline(&line, &size, file) > 0) {
    const char* path = strchr(line, '/');
    if (path == nullptr || strncmp(path, below.c_str(), below.size()) != 0) continue;
    paths.insert(std::string(path, strlen(path) - 1));
  }
  free(line);
  fclose(file);
}

Paths read_candidates(const char* checkout) {
  const std::string below = std::string(checkout) + "/";
  Paths paths;
  read_known(paths);
  DIR* processes = opendir("/proc");
  while (const dirent* process = processes != nullptr ? readdir(processes) : nullptr) {
    if (isdigit(static_cast<unsigned char>(process->d_name[0])) != 0) read_mapped(process->d_name, below, paths);
  }
  if (processes != nullptr) closedir(processes);
  return paths;
}

// The name leads to an old inode, whereas a folder is read anew each time: it tells which inode belongs to the name.
bool is_stale(const std::string& path) {
  struct stat cached {};
  if (stat(path.c_str(), &cached) != 0) return false;
  const size_t slash = path.rfind('/');
  DIR* folder = opendir(path.substr(0, slash + 1).c_str());
  if (folder == nullptr) return false;
  bool stale = false;
  while (const dirent* entry = readdir(folder)) {
    if (path.compare(slash + 1, std::string::npos, entry->d_name) == 0) stale = entry->d_ino != cached.st_ino;
  }
  closedir(folder);
  return stale;
}

bool copy(int from, int to) {
  static char buffer[256 * 1024];
  ssize_t got = 0;
  while ((got = read(from, buffer, sizeof buffer)) > 0) {
    for (ssize_t put = 0; put < got;) {
      const ssize_t part = write(to, buffer + put, static_cast<size_t>(got - put));
      if (part < 0) return false;
      put += part;
    }
  }
  return got == 0;
}

// Reading, other than running, asks the machine for the file of that name.
bool cover(const std::string& path) {
  char name[] = "/run/lab/copy.XXXXXX";
  struct stat mode {};
  const int from = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int to = mkostemp(name, O_CLOEXEC);
  bool good = from >= 0 && to >= 0 && fstat(from, &mode) == 0 && copy(from, to) && fchmod(to, mode.st_mode & 0777) == 0;
  if (from >= 0) close(from);
  if (to >= 0) close(to);  // before it is run: a file that is open for writing is not
  good = good && mount(name, path.c_str(), nullptr, MS_BIND, nullptr) == 0;
  const int error = errno;
  if (to >= 0) unlink(name);
  errno = error;
  return good;
}

}  // namespace

bool replace_stale(const char* checkout) {
  const Paths candidates = read_candidates(checkout);
  Paths known;
  read_known(known);
  bool own_namespace = false;
  for (const std::string& path : candidates) {
    if (!is_stale(path)) continue;
    if (!known.contains(path)) add_known(path);
    own_namespace =
        own_namespace || (unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
    if (own_namespace && cover(path)) continue;
    fprintf(
        stderr,
        "lab: %s was built anew while its old version runs here, and its copy cannot be made: %s. End what runs, for "
        "instance with: ./lab down\n",
        path.c_str(), strerror(errno));
    return false;
  }
  return true;
}
