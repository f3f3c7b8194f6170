// What lab 01 is held against: see README.md, "What is checked".
#include "tools/judge/lab.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace judge {

namespace {

struct Device {
  std::string name;
  std::string guid;  // "5054:00ff:fe00:0201"
};

const Run listing{.name = "there are no words", .exit_status = any_status, .here = true};
const Run truth{.name = "ibv_devices runs in the place of the program", .tool = {"ibv_devices"}};
const Run second_word{.name = "the second word is a device", .arguments = {"absent0", "{device}"}};
const Run stranger{.name = "the only word is absent0", .arguments = {"absent0"}, .exit_status = 1, .here = true};

// What there is, from ibv_devices: two lines of titles, then a name and 16 digits on each line.
std::vector<Device> devices(const Outcomes& outcomes) {
  std::vector<Device> result;
  for (const std::string& line : outcomes.at(truth.name).lines()) {
    std::istringstream words{line};
    std::string name;
    std::string digits;
    words >> name >> digits;
    if (digits.size() == 16 && digits.find_first_not_of("0123456789abcdef") == std::string::npos) {
      result.push_back({name, digits.substr(0, 4) + ":" + digits.substr(4, 4) + ":" + digits.substr(8, 4) + ":" +
                                  digits.substr(12)});
    }
  }
  return result;
}

// The words of a line that stand at this place, of all lines, in alphabetical order: the order of the list is nobody's
// promise.
std::vector<std::string> column(const Outcome& outcome, std::size_t at) {
  std::vector<std::string> result;
  for (const std::string& line : outcome.lines()) {
    std::istringstream words{line};
    std::string word;
    for (std::size_t number = 0; number <= at; ++number) {
      word.clear();
      words >> word;
    }
    result.push_back(word);
  }
  std::ranges::sort(result);
  return result;
}

std::vector<std::string> sorted(const std::vector<Device>& all, std::string Device::*member) {
  std::vector<std::string> result;
  for (const Device& device : all) {
    result.push_back(device.*member);
  }
  std::ranges::sort(result);
  return result;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

Judgement lists_names(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(listing.name);
  if (outcome.succeeded("ibv_get_device_list").empty()) {
    return Failure{"ibv_get_device_list when " + listing.name,
                   seen_calls(outcome.of("ibv_get_device_list"), "ibv_get_device_list"),
                   "step 1 does not ask for the list yet"};
  }
  const auto names = sorted(devices(outcomes), &Device::name);
  if (outcome.status != 0 || column(outcome, 0) != names) {
    return Failure{"a line for each device, which begins with its name: " + joined(names),
                   "exit status " + std::to_string(outcome.status) + "; on standard output: " + excerpt(outcome.out),
                   "the list has as many devices as ibv_get_device_list wrote to its argument"};
  }
  return {};
}

Judgement lists_guids(const Outcomes& outcomes) {
  for (const Device& device : devices(outcomes)) {
    if (!outcomes.at(listing.name).prints(device.name + " " + device.guid)) {
      std::string swapped;
      std::string digits = device.guid;
      std::erase(digits, ':');
      for (std::size_t at = digits.size(); at > 0; at -= 2) {
        swapped += (swapped.size() % 5 == 4 ? ":" : "") + digits.substr(at - 2, 2);
      }
      const bool is_swapped = outcomes.at(listing.name).out.find(swapped) != std::string::npos;
      return Failure{"the line '" + device.name + " " + device.guid + "', as ibv_devices says too",
                     "on standard output: " + excerpt(outcomes.at(listing.name).out),
                     is_swapped ? "ibv_get_device_guid answers in network byte order: be64toh"
                                : "each group has four digits, zeros in front included"};
    }
  }
  return {};
}

// A run for each way of naming a device, and the device that it has to open.
std::vector<std::pair<Run, Device>> choices(const Outcomes& outcomes) {
  const auto all = devices(outcomes);
  std::vector<std::pair<Run, Device>> result;
  for (std::size_t at = 0; at < std::min<std::size_t>(all.size(), 2); ++at) {
    const Device& device = all[at];
    const Device& other = all[all.size() - 1 - at];  // this one itself where there is no other
    result.emplace_back(Run{.name = "the words are absent0 " + device.name + " " + other.guid,
                            .arguments = {"absent0", device.name, other.guid},
                            .here = true},
                        device);
    result.emplace_back(Run{.name = "the words are " + device.guid + " " + other.name,
                            .arguments = {device.guid, other.name},
                            .here = true},
                        device);
    result.emplace_back(Run{.name = "the only word is " + device.guid, .arguments = {device.guid}, .here = true},
                        device);
  }
  return result;
}

std::vector<Run> choosing(const Outcomes& outcomes) {
  std::vector<Run> runs;
  for (const auto& [run, device] : choices(outcomes)) {
    runs.push_back(run);
  }
  return runs;
}

Judgement opens_the_first_named(const Outcomes& outcomes) {
  for (const auto& [run, device] : choices(outcomes)) {
    const Outcome& outcome = outcomes.at(run.name);
    const auto opened = outcome.succeeded("ibv_open_device");
    if (opened.size() != 1 || opened.front().arguments.value("device", "") != device.name) {
      return Failure{"ibv_open_device once, for " + device.name + ", when " + run.name,
                     opened.size() == 1 ? "ibv_open_device for " + opened.front().arguments.value("device", "") +
                                              ", in " + opened.front().where
                                        : seen_calls(opened, "ibv_open_device"),
                     "each word is held against the names and the GUIDs of all devices before the next word is"};
    }
    if (!outcome.prints("opened " + device.name)) {
      return Failure{"the line 'opened " + device.name + "' when " + run.name,
                     "on standard output: " + excerpt(outcome.out)};
    }
  }
  return {};
}

// Words that are nearly the name or the GUID of a device, all at once.
std::vector<Run> nearly(const Outcomes& outcomes) {
  const auto all = devices(outcomes);
  Run run{.name = "the words are only near to names and GUIDs", .exit_status = 1, .here = true};
  for (const Device& device : all) {
    std::string guid = device.guid;
    guid.back() = guid.back() == '0' ? '1' : '0';
    for (const std::string& word :
         {device.name + "0", device.name.substr(0, device.name.size() - 1), guid, device.guid.substr(5)}) {
      const auto names_one = [&](const Device& other) { return word == other.name || word == other.guid; };
      if (!word.empty() && std::ranges::none_of(all, names_one)) {
        run.arguments.push_back(word);
      }
    }
  }
  return {run};
}

Judgement says_what_there_is(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(stranger.name);
  for (const Device& device : devices(outcomes)) {
    if (outcome.err.find(device.name) == std::string::npos) {
      return Failure{"a message that says what there is, so " + device.name + " too, when " + stranger.name,
                     "on standard error: " + excerpt(outcome.err)};
    }
  }
  for (const Run& run : {stranger, nearly(outcomes).front()}) {
    const auto opened = outcomes.at(run.name).of("ibv_open_device");
    if (!opened.empty()) {
      return Failure{"no device is opened when " + run.name, seen_calls(opened, "ibv_open_device"),
                     "what nobody has asked for is taken in the place of what is not there"};
    }
  }
  return {};
}

}  // namespace

Lab lab() {
  Run listing_well = listing;
  listing_well.exit_status = 0;
  return {.name = "01-device-list",
          .title = "The device that a configuration names",
          .checks = {
              {.id = "listed",
               .points = 15,
               .title = "without words each device is listed by its name",
               .read = "01 The verbs",
               .step = 1,
               .runs = {listing, truth},
               .judge = lists_names},
              {.id = "guids",
               .points = 15,
               .title = "the node GUIDs are those of the devices",
               .read = "01 Questions",
               .step = 2,
               .needs = {"listed"},
               .runs = {listing, truth},
               .judge = lists_guids},
              {.id = "chosen",
               .points = 20,
               .title = "the first word that names a device decides which one is opened",
               .read = "01 The code",
               .step = 3,
               .needs = {"guids"},
               .runs = {listing, truth},
               .judge = opens_the_first_named,
               .more = choosing},
              {.id = "refusals",
               .points = 15,
               .title = "what is not there is an error that says what there is",
               .read = "01 The code",
               .step = 3,
               .needs = {"chosen"},
               .runs = {stranger, truth},
               .judge = says_what_there_is,
               .more = nearly},
              clean(10, {listing_well, second_word, stranger}, {"refusals"}),
              sanitized(10, {listing_well, second_word}, {"clean"}, 2),
              faults(10, second_word, {"sanitized"}, 4),
          }};
}

}  // namespace judge
