// Runs submissions on a host: box [WORKERS], that many at a time; one more than there are processors unless told.
//
// A line of JSON on standard input asks for something, a line on standard output answers; see box.hpp. What a
// submission prints comes back as text in its answer, so it cannot be taken for one. Where the box is root (on a host
// of the testbed) a submission runs as a user of its own who owns nothing; everywhere with limits on time, memory,
// output, files and processes. Whatever a submission leaves running is ended with it. The box ends with its standard
// input.

#include "tools/judge/box.hpp"

#include <nlohmann/json.hpp>

#include <elf.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <list>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr std::size_t output_limit = 256 * 1024;   // bytes of each stream
constexpr rlim_t file_limit = 16 * 1024 * 1024;    // bytes of each file, the trace is one
constexpr off_t most_to_copy = 24 * 1024 * 1024;   // bytes: the hosts of the testbed have 512 MiB for everything
constexpr rlim_t reserve = 256 * 1024;             // bytes: verbs-check writes less than that at a time
constexpr rlim_t process_limit = 32;               // of one submission
constexpr rlim_t locked_limit = 64 * 1024 * 1024;  // bytes of registered memory
constexpr rlim_t open_files_limit = 256;
constexpr uid_t first_user = 30000;  // numbers that no distribution gives to anybody

// How the supervisor says what became of its submission.
struct Report {
  int end;     // box::End
  int status;  // exit status or signal
  int left;    // processes that it left running
  std::int64_t nanoseconds;
};

struct Running {
  int id;
  pid_t supervisor;
  int report;
  std::array<int, 2> output;
  int trace;
  std::array<std::string, 2> text;
  bool too_much = false;
};

struct Listening {
  int id;
  int port;
  int run;
};

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "box: %s: %s\n", what, std::strerror(errno));
  _exit(125);
}

void limit(__rlimit_resource resource, rlim_t value) {
  const rlimit both{value, value};
  if (setrlimit(resource, &both) != 0) {
    give_up("setrlimit");
  }
}

// What it may write to is its own, limited, and gone with it.
void own_disks(uid_t user, const std::string& folder) {
  const std::string options = "size=24m,nr_inodes=4096,mode=1777,uid=" + std::to_string(user);
  if (unshare(CLONE_NEWNS) != 0) {
    give_up("unshare");
  }
  for (const std::string& place : {std::string{"/tmp"}, std::string{"/var/tmp"}, std::string{"/dev/shm"}, folder}) {
    if (access(place.c_str(), F_OK) == 0 &&
        mount("none", place.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
      give_up(place.c_str());
    }
  }
}

// The submission's own process, up to its first instruction.
[[noreturn]] void become(const json& request, uid_t user, const std::string& folder) {
  setsid();
  // A machine that runs out of memory ends this one first. Before it is another user's, who may not say so.
  std::ofstream{"/proc/self/oom_score_adj"} << 1000;
  if (user != 0) {
    own_disks(user, folder);
  }
  signal(SIGPIPE, SIG_DFL);  // NOLINT: what was ignored would stay so
  signal(SIGXFSZ, SIG_IGN);  // NOLINT: a trace that has no room left ends, and not the submission
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, file_limit);
  limit(RLIMIT_NOFILE, open_files_limit);
  if (const auto megabytes = request.value("memory_mb", 0U); megabytes > 0) {
    limit(RLIMIT_AS, rlim_t{megabytes} * 1024 * 1024);
  }
  if (user != 0) {
    limit(RLIMIT_MEMLOCK, locked_limit);
    limit(RLIMIT_NPROC, process_limit);
    if (setgroups(0, nullptr) != 0 || setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0) {
      give_up("setresuid");
    }
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
    give_up("prctl");
  }
  if (chdir(folder.c_str()) != 0) {
    give_up(folder.c_str());
  }
  const auto words = request.at("command").get<std::vector<std::string>>();
  std::vector<std::string> settings{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C.UTF-8",
                                    "HOME=" + folder};
  const json given = request.value("environment", json::object());
  for (const auto& [name, value] : given.items()) {
    settings.push_back(name + "=" + value.get<std::string>());
  }
  std::vector<char*> arguments;
  std::vector<char*> environment;
  for (const auto& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));  // NOLINT: what execvpe wants
  }
  for (const auto& setting : settings) {
    environment.push_back(const_cast<char*>(setting.c_str()));  // NOLINT
  }
  arguments.push_back(nullptr);
  environment.push_back(nullptr);
  execvpe(arguments[0], arguments.data(), environment.data());
  std::fprintf(stderr, "box: %s: %s\n", arguments[0], std::strerror(errno));
  _exit(127);
}

// Ends all processes that are left; they are this one's children, or become so when their parents end. Returns how
// many.
int end_children() {
  int count = 0;
  const std::string children = "/proc/self/task/" + std::to_string(getpid()) + "/children";
  for (;;) {
    std::ifstream list{children};
    pid_t child = 0;
    while (list >> child) {
      kill(child, SIGKILL);
    }
    const pid_t ended = waitpid(-1, nullptr, 0);
    if (ended == -1 && errno == ECHILD) {
      return count;
    }
    ++count;
  }
}

// One process for each submission: it is the one to whom orphans come, and watches the clock.
[[noreturn]] void supervise(const json& request, uid_t user, const std::string& folder, int report) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto start = Clock::now();
  const auto end = start + std::chrono::milliseconds{request.value("limit_ms", 10000)};
  const pid_t submission = fork();
  if (submission == -1) {
    give_up("fork");
  }
  if (submission == 0) {
    close(report);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    become(request, user, folder);
  }
  // Nothing of the submission's streams stays open here: their end is seen when its last process has ended.
  for (int number = 0; number < 256; ++number) {
    if (number != report) {
      close(number);
    }
  }
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigaddset(&awaited, SIGTERM);
  Report result{static_cast<int>(box::End::timeout), 0, 0, 0};
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended == submission) {
      result.end = static_cast<int>(WIFEXITED(status) ? box::End::exited : box::End::signalled);
      result.status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
      break;
    }
    if (ended > 0) {
      continue;
    }
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end - Clock::now()).count();
    if (left <= 0) {
      break;
    }
    const timespec wait{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
    if (sigtimedwait(&awaited, nullptr, &wait) == SIGTERM) {
      result.end = static_cast<int>(box::End::ended);
      break;
    }
  }
  result.nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
  result.left = end_children();
  if (result.end == static_cast<int>(box::End::timeout) || result.end == static_cast<int>(box::End::ended)) {
    result.left = 0;  // the submission itself was among them
  }
  _exit(write(report, &result, sizeof result) == sizeof result ? 0 : 1);
}

// How much of a program or library is loaded: up to the end of its last segment. What lies behind is for debuggers, and
// often most of it. Of anything else it is all.
off_t loaded_part(int file, off_t size) {
  Elf64_Ehdr head{};
  if (pread(file, &head, sizeof head, 0) != sizeof head || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) {
    return size;
  }
  std::vector<Elf64_Phdr> segments(head.e_phnum);
  const std::size_t bytes = segments.size() * sizeof(Elf64_Phdr);
  if (pread(file, segments.data(), bytes, static_cast<off_t>(head.e_phoff)) != static_cast<ssize_t>(bytes)) {
    return size;
  }
  Elf64_Off end = 0;
  for (const Elf64_Phdr& segment : segments) {
    end = std::max(end, segment.p_offset + segment.p_filesz);
  }
  return end == 0 ? size : std::min(size, static_cast<off_t>(end));
}

// Copies of a file what is loaded, for everyone to run; false when it cannot, or when that is too much.
bool copy_loaded(const std::string& from, const std::string& to) {
  const int source = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  const int target = open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  struct stat now {};
  bool good = source != -1 && target != -1 && fstat(source, &now) == 0 && fchmod(target, 0755) == 0;
  const off_t size = good ? loaded_part(source, now.st_size) : 0;
  good = good && size <= most_to_copy;
  for (off_t done = 0; good && done < size;) {
    good = sendfile(target, source, &done, static_cast<std::size_t>(size - done)) > 0;
  }
  close(source);
  close(target);
  return good;
}

class Box {
public:
  explicit Box(std::size_t workers) : workers_{workers} {
    // The folder of all files. Root's is not where a submission may write.
    std::string pattern =
        (getuid() == 0 ? std::string{"/run"} : std::filesystem::temp_directory_path().string()) + "/box.XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr || chmod(pattern.c_str(), 0711) != 0) {
      give_up("mkdtemp");
    }
    folder_ = pattern;
    if (getuid() == 0) {
      // Of this box alone, as long as there are fewer than 100 of them.
      base_user_ = first_user + static_cast<uid_t>(getpid() % 300) * 100;
      if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
        give_up("mount namespace");
      }
      show_build();
    }
  }
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;
  ~Box() {
    // Before its place is emptied, and not without.
    if (!build_.empty() && umount2((folder_ + "/build").c_str(), MNT_DETACH) != 0) {
      return;
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void serve() {
    std::vector<std::string> devices;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator{"/sys/class/infiniband", none}) {
      devices.push_back(entry.path().filename().string());
    }
    std::ranges::sort(devices);
    print({{"id", 0}, {"devices", devices}});
    std::string input;
    bool open = true;
    while (open || !running_.empty()) {
      std::vector<pollfd> watched{{STDIN_FILENO, static_cast<short>(open ? POLLIN : 0), 0}};
      for (const Running& run : running_) {
        for (const int stream : run.output) {
          watched.push_back({stream, POLLIN, 0});  // poll() passes over a negative one
        }
      }
      // Whether somebody listens on a port nobody tells: it is looked at again and again.
      if (poll(watched.data(), watched.size(), listening_.empty() ? -1 : 50) == -1 && errno != EINTR) {
        give_up("poll");
      }
      if (stop_requested != 0) {
        open = false;
      } else if (open && watched[0].revents != 0) {
        open = read_requests(input);
      }
      if (!open) {
        waiting_.clear();
        listening_.clear();
        for (const Running& run : running_) {
          kill(run.supervisor, SIGTERM);
        }
      }
      std::size_t at = 1;
      for (auto run = running_.begin(); run != running_.end();) {
        for (std::size_t stream = 0; stream < 2; ++stream, ++at) {
          if (at < watched.size() && watched[at].revents != 0) {
            read_output(*run, stream);
          }
        }
        const bool ended = run->output[0] == -1 && run->output[1] == -1;
        if (ended) {
          answer(*run);
        }
        run = ended ? running_.erase(run) : std::next(run);
      }
      look_for_listeners();
      while (!waiting_.empty() && running_.size() < workers_) {
        begin(waiting_.front());
        waiting_.pop_front();
      }
    }
  }

  static inline volatile std::sig_atomic_t stop_requested = 0;

private:
  // The checkout may lie below a folder that only its owner may enter, and a submission is not the owner.
  void show_build() {
    const char* const checkout = getenv("LAB_ROOT");
    const std::string to = folder_ + "/build";
    if (checkout == nullptr) {
      return;
    }
    build_ = std::string{checkout} + "/build/";
    if (mkdir(to.c_str(), 0755) != 0 || mount(build_.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) != 0 ||
        mount(nullptr, to.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
      give_up("mount");
    }
  }

  // Returns whether there may be more.
  bool read_requests(std::string& input) {
    std::array<char, 65536> bytes;
    const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count <= 0) {
      return count == -1 && errno == EINTR;
    }
    input.append(bytes.data(), static_cast<std::size_t>(count));
    std::size_t end = 0;
    while ((end = input.find('\n')) != std::string::npos) {
      handle(json::parse(input.substr(0, end)));
      input.erase(0, end + 1);
    }
    return true;
  }

  void handle(const json& request) {
    const std::string what = request.at("do");
    if (what == "run") {
      waiting_.push_back(request);
    } else if (what == "end") {
      for (const Running& run : running_) {
        if (run.id == request.at("run")) {
          kill(run.supervisor, SIGTERM);
        }
      }
    } else if (what == "listening") {
      listening_.push_back({request.at("id"), request.at("port"), request.at("run")});
    }
  }

  void begin(const json& request) {
    Running run{.id = request.at("id"), .supervisor = -1, .report = -1, .output = {-1, -1}, .trace = -1, .text = {}};
    const std::string folder = folder_ + "/" + std::to_string(run.id);
    const uid_t user = base_user_ == 0 ? 0 : base_user_ + static_cast<uid_t>(run.id % 100);
    if (mkdir(folder.c_str(), 0700) != 0 || (user != 0 && chown(folder.c_str(), user, user) != 0)) {
      give_up("mkdir");
    }
    json with_trace = request;
    if (user != 0) {
      with_trace["command"][0] = reachable(request.at("command")[0]);
      if (request.contains("environment") && request["environment"].contains("LD_PRELOAD")) {
        with_trace["environment"]["LD_PRELOAD"] = all_reachable(request["environment"]["LD_PRELOAD"]);
      }
    }
    // The submission may append to its trace, which it inherits open. It is not its file: it cannot open, and so not
    // read, it.
    int trace_end = -1;
    if (request.contains("trace_key")) {
      const std::string name = folder_ + "/trace." + std::to_string(run.id);
      trace_end = open(name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      run.trace = open(name.c_str(), O_RDONLY | O_CLOEXEC);
      if (trace_end == -1 || run.trace == -1) {
        give_up("trace");
      }
      unlink(name.c_str());
      with_trace["environment"]["VERBS_CHECK_TRACE_FD"] = std::to_string(box::trace_descriptor);
      with_trace["environment"]["VERBS_CHECK_TRACE_KEY"] = request.at("trace_key");
    }
    const std::string input_name = folder_ + "/input." + std::to_string(run.id);
    std::ofstream{input_name} << request.value("input", "");
    const int input = open(input_name.c_str(), O_RDONLY | O_CLOEXEC);
    unlink(input_name.c_str());
    std::array<std::array<int, 2>, 3> pipes{};
    for (auto& ends : pipes) {
      if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        give_up("pipe");
      }
    }
    // The supervisor waits for these by name, from its first moment on.
    sigset_t awaited;
    sigset_t before;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGTERM);
    sigprocmask(SIG_BLOCK, &awaited, &before);
    run.supervisor = fork();
    if (run.supervisor == -1) {
      give_up("fork");
    }
    if (run.supervisor == 0) {
      const int report = dup(pipes[2][1]);
      fcntl(report, F_SETFD, FD_CLOEXEC);
      dup2(input, STDIN_FILENO);
      dup2(pipes[0][1], STDOUT_FILENO);
      dup2(pipes[1][1], STDERR_FILENO);
      if (trace_end != -1) {
        dup2(trace_end, box::trace_descriptor);
      }
      supervise(with_trace, user, folder, report);
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
    for (auto& ends : pipes) {
      close(ends[1]);
    }
    close(input);
    if (trace_end != -1) {
      close(trace_end);
    }
    run.output = {pipes[0][0], pipes[1][0]};
    run.report = pipes[2][0];
    running_.push_back(std::move(run));
  }

  // The same for several, with colons between.
  [[nodiscard]] std::string all_reachable(const std::string& paths) {
    std::string result;
    std::istringstream each{paths};
    for (std::string path; std::getline(each, path, ':');) {
      result += (result.empty() ? "" : ":") + reachable(path);
    }
    return result;
  }

  // The path of a file of the build under which the submission finds it. A copy in memory: through the file system that
  // the machine shares with the host, each start would read it anew.
  [[nodiscard]] std::string reachable(const std::string& path) {
    if (build_.empty() || !path.starts_with(build_)) {
      return path;
    }
    struct stat now {};
    const bool is_there = stat(path.c_str(), &now) == 0;
    Copy& copy = copies_[path];
    if (copy.path.empty() || !is_there || copy.size != now.st_size || copy.changed.tv_sec != now.st_mtim.tv_sec ||
        copy.changed.tv_nsec != now.st_mtim.tv_nsec) {
      std::error_code failed;
      if (!copy.path.empty()) {
        std::filesystem::remove(copy.path, failed);
      }
      // Its name stays: addresses of calls are given with it.
      const std::string folder = folder_ + "/copy." + std::to_string(next_copy_++);
      copy = {folder + "/" + std::filesystem::path{path}.filename().string(), now.st_size, now.st_mtim};
      std::filesystem::create_directory(folder, failed);
      if (!copy_loaded(path, copy.path)) {
        copies_.erase(path);
        return folder_ + "/build/" + path.substr(build_.size());
      }
    }
    return copy.path;
  }

  static void read_output(Running& run, std::size_t stream) {
    std::array<char, 65536> bytes;
    const ssize_t count = read(run.output[stream], bytes.data(), bytes.size());
    if (count == -1 && errno == EINTR) {
      return;
    }
    if (count <= 0) {
      close(run.output[stream]);
      run.output[stream] = -1;
      return;
    }
    const auto room = output_limit - run.text[stream].size();
    run.text[stream].append(bytes.data(), std::min(room, static_cast<std::size_t>(count)));
    if (static_cast<std::size_t>(count) > room && !run.too_much) {
      run.too_much = true;
      kill(run.supervisor, SIGTERM);
    }
  }

  static std::string read_all(int descriptor) {
    std::string text;
    std::array<char, 65536> bytes;
    ssize_t count = 0;
    while ((count = read(descriptor, bytes.data(), bytes.size())) > 0) {
      text.append(bytes.data(), static_cast<std::size_t>(count));
    }
    close(descriptor);
    return text;
  }

  void answer(Running& run) {
    Report report{static_cast<int>(box::End::signalled), SIGKILL, 0,
                  0};  // what holds if the supervisor itself was ended
    const ssize_t count = read(run.report, &report, sizeof report);
    close(run.report);
    waitpid(run.supervisor, nullptr, 0);
    if (count != sizeof report) {
      report = {static_cast<int>(box::End::signalled), SIGKILL, 0, 0};
    }
    json line{{"id", run.id},
              {"end", run.too_much ? static_cast<int>(box::End::output) : report.end},
              {"status", report.status},
              {"left", report.left},
              {"seconds", static_cast<double>(report.nanoseconds) / 1e9},
              {"out", run.text[0]},
              {"err", run.text[1]}};
    if (run.trace != -1) {
      line["trace"] = read_all(run.trace);
      line["cut"] = line["trace"].get_ref<const std::string&>().size() >= file_limit - reserve || is_disk_full();
    }
    print(line);
    std::error_code ignored;
    std::filesystem::remove_all(folder_ + "/" + std::to_string(run.id), ignored);
  }

  // Where the traces are.
  [[nodiscard]] bool is_disk_full() const {
    struct statvfs disk {};
    return statvfs(folder_.c_str(), &disk) == 0 && disk.f_bavail * disk.f_frsize < reserve;
  }

  void look_for_listeners() {
    for (auto wanted = listening_.begin(); wanted != listening_.end();) {
      const bool runs = std::ranges::any_of(running_, [&](const Running& run) { return run.id == wanted->run; }) ||
                        std::ranges::any_of(waiting_, [&](const json& run) { return run.at("id") == wanted->run; });
      const bool listens = runs && someone_listens(wanted->port);
      if (listens || !runs) {
        print({{"id", wanted->id}, {"listening", listens}});
        wanted = listening_.erase(wanted);
      } else {
        ++wanted;
      }
    }
  }

  static bool someone_listens(int port) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), ":%04X", static_cast<unsigned>(port));
    for (const char* const table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
      std::ifstream file{table};
      std::string line;
      while (std::getline(file, line)) {
        if (line.find(std::string{text.data()} + " 00000000") != std::string::npos &&
            line.find(" 0A ") != std::string::npos) {
          return true;
        }
      }
    }
    return false;
  }

  static void print(const json& line) {
    std::cout << line.dump(-1, ' ', true, json::error_handler_t::replace) << '\n' << std::flush;
  }

  std::size_t workers_;
  uid_t base_user_ = 0;
  std::string folder_;
  // A file of the build, as it was when it was copied.
  struct Copy {
    std::string path;
    off_t size = 0;
    timespec changed{};
  };
  std::map<std::string, Copy> copies_;
  unsigned next_copy_ = 1;
  std::string build_;  // the folder of the build, with a slash; empty: submissions use it as it is
  std::deque<json> waiting_;
  std::list<Running> running_;
  std::vector<Listening> listening_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::span<char*> words{argv, static_cast<std::size_t>(argc)};
    const auto workers = words.size() > 1 ? std::stoul(words[1]) : std::thread::hardware_concurrency() + 1;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction action {};
      action.sa_handler = [](int) { Box::stop_requested = 1; };
      sigaction(signal, &action, nullptr);
    }
    signal(SIGPIPE, SIG_IGN);  // NOLINT: as simple as it gets
    Box{workers}.serve();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "box: %s\n", error.what());
    return 1;
  }
}
