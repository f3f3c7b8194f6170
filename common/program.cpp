#include "common/program.hpp"

#include "common/errors.hpp"
#include "common/owned.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <new>
#include <set>

namespace lab {

namespace {

constexpr std::uint64_t largest_message = std::uint64_t{1} << 31U;  // InfiniBand's own limit for one message, 2 GiB

void add_option(CLI::App& app, Opt opt, Options& values) {
  switch (opt) {
    case Opt::ib_dev:
      app.add_option("-d,--ib-dev", values.ib_dev, "use this device (default: the first with an active port)");
      break;
    case Opt::ib_port:
      app.add_option("-i,--ib-port", values.ib_port, "use this port of the device (default: the first active one)")
          ->check(CLI::Range(1, 255));
      break;
    case Opt::gid_idx:
      app.add_option("-g,--gid-idx", values.gid_idx, "local index into the GID table (default: chosen by rule)")
          ->check(CLI::Range(0, 65535));
      break;
    case Opt::port:
      app.add_option("-p,--port", values.port, "TCP port of the address exchange (default: 18515)")
          ->check(CLI::Range(1, 65535));
      break;
    case Opt::size:
      app.add_option("-s,--size", values.size, "size in bytes (default: 4096)")
          ->check(CLI::Range(std::uint64_t{1}, largest_message));
      break;
    case Opt::iters:
      app.add_option("-n,--iters", values.iters, "number of exchanges (default: 1000)")
          ->check(CLI::Range(1U, 100'000'000U));
      break;
    case Opt::mtu:
      app.add_option("-m,--mtu", values.mtu, "path MTU in bytes (default: 1024)")
          ->check(CLI::IsMember(std::set<unsigned>{256, 512, 1024, 2048, 4096}))
          ->check(CLI::Range(256U, 4096U));  // IsMember alone takes an empty value for 0 and lets it pass
      break;
    case Opt::rx_depth:
      app.add_option("-r,--rx-depth", values.rx_depth, "receives to post at a time (default: 500)")
          ->check(CLI::Range(1U, 1U << 20U));
      break;
    case Opt::sl:
      app.add_option("-l,--sl", values.sl, "service level (default: 0)")->check(CLI::Range(0U, 15U));
      break;
    case Opt::chk:
      app.add_flag("-c,--chk", values.chk, "verify the payload of every message");
      break;
    case Opt::deadline:
      app.add_option("--deadline", values.deadline, "give up after this many seconds without progress (default: 30)")
          ->check(CLI::Range(1U, 3600U));
      break;
    case Opt::server:
      app.add_option("server", values.server, "name or address of the server (default: be the server)");
      break;
    case Opt::words:
      app.add_option("words", values.words, "what to work on");
      break;
  }
}

int run_body(const Options& options, void (*body)(const Options&)) {
  try {
    body(options);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "error: out of memory\n");
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  if (failed_destroys() > 0) {
    return 1;
  }
  // Output that never reached its file (a full disk, a closed pipe) is a failure too.
  if (std::fflush(stdout) != 0) {
    std::fprintf(stderr, "error: cannot write the output: %s\n", errno_text(errno).c_str());
    return 1;
  }
  if (std::ferror(stdout) != 0) {  // an earlier line; its errno is long gone
    std::fprintf(stderr, "error: some of the output could not be written\n");
    return 1;
  }
  return 0;
}

}  // namespace

int run(int argc, char** argv, const char* about, std::initializer_list<Opt> allowed, void (*body)(const Options&)) {
  // Whole lines at once, also into a pipe: somebody may be waiting for this one.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);

  Options options;
  CLI::App app{about};
  for (const Opt opt : allowed) {
    add_option(app, opt, options);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return run_body(options, body);
}

}  // namespace lab
