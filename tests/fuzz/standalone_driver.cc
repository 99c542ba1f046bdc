// SPDX-License-Identifier: Apache-2.0
//
// Runs a fuzz entry point without a fuzzer, so that every build replays the recorded inputs.
//
//   <name>_fuzz_replay [--runs=N] [--seconds=S] [--seed=N] [file or folder]...
//
// First every recorded input is run unchanged, then inputs derived from them by a seeded mutator,
// until N runs or S seconds are over. An input that crashes, or that runs longer than kHangSeconds,
// is written to ./crash-<target> before the process ends. Single thread.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr unsigned kHangSeconds = 30;
constexpr size_t kLargestInputBytes = 64 * 1024;

struct Settings {
  uint64_t runs = 200000;
  double seconds = 5;
  uint64_t seed = 1;
  std::vector<std::string> paths;
};

// The current input, for the signal handler, which may only use async-signal-safe calls.
const char* current_data = nullptr;
size_t current_size = 0;
char crash_path[256] = "crash-input";

void SaveInputAndDie(int signal_number) {
  const int fd = ::open(crash_path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
  if (fd >= 0) {
    if (::write(fd, current_data, current_size) < 0) ::_exit(2);
    ::close(fd);
  }
  constexpr char kNote[] = "the failing input is saved as ./crash-<target>\n";
  if (::write(STDERR_FILENO, kNote, sizeof(kNote) - 1) < 0) ::_exit(2);
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

void CatchCrashes(const char* program) {
  const std::string name = std::filesystem::path(program).filename();
  std::snprintf(crash_path, sizeof(crash_path), "crash-%s", name.c_str());
  for (int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) {
    ::signal(number, SaveInputAndDie);
  }
}

void RunOne(const std::string& input) {
  current_data = input.data();
  current_size = input.size();
  ::alarm(kHangSeconds);
  // A heap copy of exactly this size, so that the address sanitizer detects reads after its end.
  const std::vector<uint8_t> copy(input.begin(), input.end());
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
  ::alarm(0);
}

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  // A mutation of one of `pool`: one to eight small changes.
  std::string Derive(const std::vector<std::string>& pool) {
    std::string input = pool[Below(pool.size())];
    const size_t changes = 1 + Below(8);
    for (size_t i = 0; i < changes; i++) Change(&input, pool);
    if (input.size() > kLargestInputBytes) input.resize(kLargestInputBytes);
    return input;
  }

 private:
  size_t Below(size_t n) { return random_() % n; }

  void Change(std::string* input, const std::vector<std::string>& pool) {
    const size_t at = Below(input->size() + 1);
    switch (Below(8)) {
      case 0:  // flip a bit
        if (at < input->size()) (*input)[at] ^= static_cast<char>(1u << Below(8));
        return;
      case 1:  // any byte
        if (at < input->size()) (*input)[at] = static_cast<char>(Below(256));
        return;
      case 2:  // an interesting byte: the borders of varints, types and lengths
        if (at < input->size()) (*input)[at] = "\x00\x01\x7f\x80\xff\xfe\x10\x20"[Below(8)];
        return;
      case 3: input->insert(at, 1 + Below(8), static_cast<char>(Below(256))); return;
      case 4: input->erase(at, 1 + Below(16)); return;
      case 5: input->resize(at); return;
      case 6:  // repeat a piece
        input->insert(at, input->substr(Below(input->size() + 1), 1 + Below(32)));
        return;
      default: {  // copies a piece of another input
        const std::string& other = pool[Below(pool.size())];
        input->insert(at, other.substr(Below(other.size() + 1), 1 + Below(64)));
      }
    }
  }

  std::mt19937_64 random_;
};

std::vector<std::string> ReadInputs(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    if (fs::is_regular_file(path)) files.emplace_back(path);
    if (!fs::is_directory(path)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const fs::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return inputs;
}

Settings ParseArguments(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; i++) {
    const char* argument = argv[i];
    if (std::strncmp(argument, "--runs=", 7) == 0) {
      settings.runs = std::strtoull(argument + 7, nullptr, 10);
    } else if (std::strncmp(argument, "--seconds=", 10) == 0) {
      settings.seconds = std::strtod(argument + 10, nullptr);
    } else if (std::strncmp(argument, "--seed=", 7) == 0) {
      settings.seed = std::strtoull(argument + 7, nullptr, 10);
    } else {
      settings.paths.emplace_back(argument);
    }
  }
  return settings;
}

uint64_t RunMutations(const Settings& settings, std::vector<std::string> pool) {
  using Clock = std::chrono::steady_clock;
  pool.emplace_back();
  Mutator mutator(settings.seed);
  const auto end = Clock::now() + std::chrono::duration<double>(settings.seconds);
  uint64_t runs = 0;
  for (; runs < settings.runs && Clock::now() < end; runs++) RunOne(mutator.Derive(pool));
  return runs;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = ParseArguments(argc, argv);
  CatchCrashes(argv[0]);
  const std::vector<std::string> inputs = ReadInputs(settings.paths);
  for (const std::string& input : inputs) RunOne(input);
  const uint64_t mutations = RunMutations(settings, inputs);
  std::printf("replayed %zu recorded and %llu mutated inputs (seed %llu) without a failure\n",
              inputs.size(), static_cast<unsigned long long>(mutations),
              static_cast<unsigned long long>(settings.seed));
  return 0;
}
