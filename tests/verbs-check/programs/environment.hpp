// Surroundings in which a verb fails, made for this process alone: nobody else sees them.
#pragma once

#include "common/errors.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

// An empty folder in place of this one.
inline void hide(const char* folder, unsigned long flags = 0) {
  lab::check_minus_one(unshare(CLONE_NEWNS), "unshare");
  lab::check_minus_one(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "mount", "/");
  lab::check_minus_one(mount("none", folder, "tmpfs", flags, nullptr), "mount", folder);
}

// Device files that nobody may open, in place of those of this folder.
inline void forbid(const char* folder) {
  std::map<std::filesystem::path, dev_t> files;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    struct stat file {};
    lab::check_minus_one(stat(entry.path().c_str(), &file), "stat", entry.path().native());
    files[entry.path()] = file.st_rdev;
  }
  hide(folder, MS_NODEV);
  for (const auto& [path, device] : files) {
    lab::check_minus_one(mknod(path.c_str(), S_IFCHR | 0666, device), "mknod", path.native());
  }
}
