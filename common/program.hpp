/// @file
/// @brief What every program of this repository has in common: its options, its exit status, how it reports an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace lab {

/// The options that programs share, named as in the stock tools (ibv_rc_pingpong(1)).
struct Options {
  std::string ib_dev;              ///< -d: device name; empty: the first device with an active port
  int ib_port = 0;                 ///< -i: port number, from 1; 0: the first active port
  int gid_idx = -1;                ///< -g: index into the port's GID table; -1: chosen by rule
  std::uint16_t port = 18515;      ///< -p: TCP port of the address exchange
  std::uint64_t size = 4096;       ///< -s: message size in bytes
  unsigned iters = 1000;           ///< -n: number of exchanges
  unsigned mtu = 1024;             ///< -m: path MTU in bytes: 256, 512, 1024, 2048 or 4096
  unsigned rx_depth = 500;         ///< -r: receives to post at a time
  unsigned sl = 0;                 ///< -l: service level, 0 to 15
  bool chk = false;                ///< -c: verify the payload of every message
  unsigned deadline = 30;          ///< --deadline: seconds without progress after which the program gives up
  std::string server;              ///< the server's name or address; empty: be the server
  std::vector<std::string> words;  ///< what else stands on the command line: what the program works on
};

/// Names one option of Options, under the name that it has there.
enum class Opt { ib_dev, ib_port, gid_idx, port, size, iters, mtu, rx_depth, sl, chk, deadline, server, words };

/// Runs a program: parses the command line, calls `body`, and maps the outcome to the exit status.
/// @param argc    as main() got it
/// @param argv    as main() got it
/// @param about   first line of --help: "01-device-list: lists the RDMA devices"
/// @param allowed the options that this program has; `server` and `words` stand for the words that are no option
/// @param body    the program
/// @return the exit status: 0 when `body` returned and every destroy verb succeeded, or for --help; 1 when `body` threw
/// (the message goes to standard error), a destroy verb failed or the output could not be written; 2 when the command
/// line is wrong
int run(int argc, char** argv, const char* about, std::initializer_list<Opt> allowed, void (*body)(const Options&));

}  // namespace lab
