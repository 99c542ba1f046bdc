// SPDX-License-Identifier: Apache-2.0
//
// Checks the images of one recording. Each distinct image is opened once in the default recovery
// mode: its contents must be allowed (History), and then it must accept writes, a flush and another
// opening. Some are also opened in the other recovery modes, and in some the recovery itself
// crashes. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "tests/crash/recorder.h"

namespace ashlar {

struct CrashFigures {
  uint64_t traces = 0, sequences = 0, points = 0;
  uint64_t reused = 0;                             // logs that were written over older ones
  uint64_t mapped = 0;                             // traces and sequences with mapped logs
  uint64_t stores = 0;                             // into mapped logs
  std::set<uint64_t> images;                       // distinct contents, by hash
  std::map<std::string, uint64_t> first_policies;  // by the policy that made each of them first
  uint64_t opened = 0;                             // once for each run that made it
  uint64_t nested = 0;
  std::map<std::string, uint64_t> modes;  // openings by recovery mode and result
  uint64_t checkpoints = 0;

  // Counts one more trace or sequence; a run with mapped logs must have stored into them.
  void Count(const Recording& recording, uint64_t* which);
  std::string ToString() const;
};

// How many images get each check: one in this number; 0 is never.
struct ImageEffort {
  uint64_t nested = 4;
  uint64_t all_nested = 100;  // the recovery is cut at every call
  uint64_t modes = 4;
  uint64_t write = 1;
};

class ImageCheck {
 public:
  ImageCheck(const Recording& recording, const ImageEffort& effort, CrashFigures* figures)
      : recording_(recording),
        effort_(effort),
        figures_(figures),
        threads_(recording.seed, recording.has_own_threads) {}

  // Checks the image of a crash just before call `index`. Returns what is wrong.
  std::string Check(uint64_t index, CrashPolicy policy, uint64_t seed);

 private:
  struct Outcome {
    FamilyHashes state;
    std::string wrong;  // an error that does not depend on the crash point
  };

  std::shared_ptr<SimFS> NewSim(const SimImage& image) const;
  Outcome OpenAndUse(const SimImage& image, uint64_t seed);
  std::string WriteAndReopen(const Options& options, OpenedDb* opened, Contents expected);
  std::string CheckNested(const SimFS& image, const FamilyHashes& state, uint64_t calls,
                          uint64_t seed);
  std::string CheckNestedAt(const SimFS& image, const FamilyHashes& state, uint64_t index,
                            CrashPolicy policy, uint64_t seed);
  std::string CheckModes(const SimImage& image, const Contents& contents,
                         const std::string& report);
  std::string CheckMode(WALRecoveryMode mode, const SimImage& image, const Contents& contents,
                        const std::string& report);

  const Recording& recording_;
  const ImageEffort effort_;
  CrashFigures* const figures_;
  const RunThreads threads_;
  std::unordered_map<uint64_t, Outcome> outcomes_;  // by the image's hash
};

// The calls of the run before this one, for messages.
std::string LastCalls(const SimFS& sim, uint64_t index);

}  // namespace ashlar
