// SPDX-License-Identifier: Apache-2.0
//
// fsync and fdatasync of the program itself come before those of the C library. They note what they
// are asked to make durable before they ask the kernel: what is stored meanwhile may miss the call.
#include "tests/real_files/durable_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <tuple>

namespace ashlar {
namespace {

// A number is used again when a file is gone; the time of birth tells the two apart.
using FileKey = std::tuple<uint64_t, int64_t, uint32_t>;

struct Watched {
  std::mutex mutex;
  std::string dir;
  std::map<FileKey, std::string> contents;
  std::map<std::string, FileKey> names;
  std::map<std::string, uint64_t> fsyncs, fdatasyncs;  // by path
};
Watched* Files() {
  static Watched files;
  return &files;
}

FileKey KeyOf(const std::string& path) {
  struct statx info = {};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &info) != 0) return {};
  return {info.stx_ino, info.stx_btime.tv_sec, info.stx_btime.tv_nsec};
}

std::string LinkOf(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

std::string PathOf(int fd) {
  std::error_code ignored;
  return std::filesystem::read_symlink(LinkOf(fd), ignored).string();
}

// Also of files that were opened for writing only.
std::string ContentOf(int fd) {
  std::ifstream file(LinkOf(fd), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::map<std::string, FileKey> NamesIn(const std::string& dir) {
  std::map<std::string, FileKey> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    names[entry.path().filename().string()] = KeyOf(entry.path().string());
  }
  return names;
}

int SyncWatched(int fd, long number) {
  Watched* const files = Files();
  const std::string path = PathOf(fd);
  std::lock_guard<std::mutex> lock(files->mutex);
  const bool is_dir = path == files->dir;
  if (files->dir.empty() || (!is_dir && !path.starts_with(files->dir + "/"))) {
    return static_cast<int>(syscall(number, fd));
  }
  std::string content;
  std::map<std::string, FileKey> names;
  if (is_dir) {
    names = NamesIn(path);
  } else {
    content = ContentOf(fd);
  }
  const int result = static_cast<int>(syscall(number, fd));
  if (result != 0) return result;
  ++(number == SYS_fsync ? files->fsyncs : files->fdatasyncs)[path];
  if (is_dir) {
    files->names = std::move(names);
  } else {
    files->contents[KeyOf(LinkOf(fd))] = std::move(content);
  }
  return result;
}

uint64_t SumOf(const std::map<std::string, uint64_t>& counts, const std::string& name_end) {
  uint64_t sum = 0;
  for (const auto& [path, count] : counts) sum += path.ends_with(name_end) ? count : 0;
  return sum;
}

}  // namespace

void DurableFiles::Watch(const std::string& dir) {
  Watched* const files = Files();
  std::lock_guard<std::mutex> lock(files->mutex);
  files->dir = std::filesystem::canonical(dir).string();
  files->contents.clear();
  files->names.clear();
  files->fsyncs.clear();
  files->fdatasyncs.clear();
}

std::map<std::string, std::string> DurableFiles::Image() {
  Watched* const files = Files();
  std::lock_guard<std::mutex> lock(files->mutex);
  std::map<std::string, std::string> image;
  for (const auto& [name, key] : files->names) {
    const auto content = files->contents.find(key);
    image[name] = content == files->contents.end() ? "" : content->second;
  }
  return image;
}

uint64_t DurableFiles::Fsyncs(const std::string& name_end) {
  std::lock_guard<std::mutex> lock(Files()->mutex);
  return SumOf(Files()->fsyncs, name_end);
}

uint64_t DurableFiles::Fdatasyncs(const std::string& name_end) {
  std::lock_guard<std::mutex> lock(Files()->mutex);
  return SumOf(Files()->fdatasyncs, name_end);
}

}  // namespace ashlar

extern "C" int fsync(int fd) { return ashlar::SyncWatched(fd, SYS_fsync); }
extern "C" int fdatasync(int fd) { return ashlar::SyncWatched(fd, SYS_fdatasync); }
