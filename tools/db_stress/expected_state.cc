// SPDX-License-Identifier: Apache-2.0
//
// A new file gets its magic number last: an empty file, or one that begins with zeros, was left
// incomplete and is created again. Any other file without the magic number is not an expected
// state.
#include "tools/db_stress/expected_state.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cassert>

#include <cerrno>
#include <cstring>

#include "util/text/str_cat.h"

namespace ashlar::stress {
namespace {

constexpr uint64_t kMagic = 0x31535352'54534c41;  // "ALSTRSS1"
constexpr uint64_t kHeadBytes = 4096;
// Words of the head.
constexpr size_t kMagicAt = 0, kFamiliesAt = 1, kKeysAt = 2, kFiguresAt = 8;

// `errno` must still be that of the failed call.
Status SystemError(const std::string& path, const char* what) {
  assert(what != nullptr);
  return Status::IOError(StrCat(path, ": ", what, ": ", std::strerror(errno)));
}

class Descriptor {
  // Closes the file when a function returns early.
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

// False if the file is incomplete. InvalidArgument if it is not an expected state.
Result<bool> IsComplete(int fd, const std::string& path) {
  uint64_t magic = 0;
  const ssize_t length = ::pread(fd, &magic, sizeof(magic), 0);
  if (length < 0) return SystemError(path, "pread");
  const bool has_word = length == sizeof(magic);
  if (has_word && magic == kMagic) return true;
  if (length == 0 || (has_word && magic == 0)) return false;
  return Status::InvalidArgument(StrCat(
      path,
      ": is not a file of expected states and is not changed; --expected=<file> uses another one"));
}

}  // namespace

// The file is mapped and shared, so the kernel keeps all changes if the process is killed.
Result<std::unique_ptr<ExpectedState>> ExpectedState::Open(const std::string& path, int families,
                                                           uint64_t keys, IfMissing if_missing) {
  assert(families > 0 && keys > 0);
  // One word for each key of each family, behind a head of one page.
  const uint64_t bytes = kHeadBytes + static_cast<uint64_t>(families) * keys * sizeof(Word);
  const bool creates = if_missing == IfMissing::kCreate;
  // The mapping below keeps the file open; the descriptor is closed at the end of the function.
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | (creates ? O_CREAT : 0), 0644));
  if (file.get() < 0 && errno == ENOENT && !creates) return Status::NotFound(path);
  if (file.get() < 0) return SystemError(path, "open");
  struct stat found = {};
  // fstat() follows the opening, so the size is that of the file which is open, whoever renames it.
  if (::fstat(file.get(), &found) != 0) return SystemError(path, "fstat");
  ASSIGN_OR_RETURN(const bool is_complete, IsComplete(file.get(), path));
  if (!is_complete && !creates) return Status::NotFound(path);
  if (is_complete && static_cast<uint64_t>(found.st_size) != bytes) {
    return Status::InvalidArgument(StrCat(path, ": has another number of families or keys; ",
                                          found.st_size, " bytes, but these need ", bytes));
  }
  // First to no bytes and then to the full size, so that everything reads as zero: a zero word is a
  // key that was never written.
  if (!is_complete && (::ftruncate(file.get(), 0) != 0 ||
                       ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)) {
    return SystemError(path, "ftruncate");
  }
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return SystemError(path, "mmap");
  std::unique_ptr<ExpectedState> state(new ExpectedState(memory, bytes, families, keys));
  Word* const head = state->memory_;
  if (!is_complete) {
    head[kFamiliesAt].store(static_cast<uint64_t>(families), std::memory_order_relaxed);
    head[kKeysAt].store(keys, std::memory_order_relaxed);
    // Last, see the head of this file.
    head[kMagicAt].store(kMagic, std::memory_order_release);
  }
  // A file of the right size may still have other dimensions with the same product.
  if (head[kFamiliesAt].load() != static_cast<uint64_t>(families) || head[kKeysAt].load() != keys) {
    return Status::InvalidArgument(StrCat(path, ": has ", head[kFamiliesAt].load(), " families of ",
                                          head[kKeysAt].load(), " keys"));
  }
  return state;
}

// Deletes only a file that is an expected state, so that a mistyped path does no harm.
Status ExpectedState::Remove(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 && errno == ENOENT) return Status::OK();
  if (file.get() < 0) return SystemError(path, "open");
  RETURN_IF_ERROR(IsComplete(file.get(), path).status());
  return ::unlink(path.c_str()) == 0 ? Status::OK() : SystemError(path, "unlink");
}

ExpectedState::~ExpectedState() { ::munmap(memory_, bytes_); }

ExpectedState::Word& ExpectedState::At(const KeyId& key) const {
  // The mapping begins at a page boundary and the head has a whole number of words, so every word
  // is aligned.
  assert(key.family >= 0 && key.family < families_ && key.number < keys_);
  return memory_[kHeadBytes / sizeof(Word) + static_cast<uint64_t>(key.family) * keys_ +
                 key.number];
}

ExpectedState::Word& ExpectedState::FigureAt(Figure figure) const {
  static_assert(kFiguresAt + static_cast<size_t>(Figure::kCount) <= kHeadBytes / sizeof(Word));
  return memory_[kFiguresAt + static_cast<size_t>(figure)];
}

std::string ExpectedState::FiguresText() const {
  return StrCat(Get(Figure::kRuns), " runs, ", Get(Figure::kCleanEnds), " of them completed, ",
                Get(Figure::kOperations), " operations, ", Get(Figure::kKeysVerified),
                " keys verified, ", Get(Figure::kPendingFound), " of them with a pending write");
}

}  // namespace ashlar::stress
