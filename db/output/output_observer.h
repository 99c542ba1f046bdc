// SPDX-License-Identifier: Apache-2.0
//
// OutputObserver hears of the tables and the parts of a job while it runs, from the thread that
// works on them: parts run beside each other. No lock is held.
#pragma once

#include "ashlar/status.h"
#include "util/keys/file_number.h"

namespace ashlar {

struct OutputResult;
struct OutputTable;

class OutputObserver {
 public:
  virtual ~OutputObserver() = default;
  // Each table that begins also ends; with an error it is not finished, and `finished` is null.
  virtual void OnTableBegun(FileNumber number) = 0;
  virtual void OnTableEnded(FileNumber number, const OutputTable* finished,
                            const Status& status) = 0;
  // Parts are counted from 0.
  virtual void OnPartBegun(int part) = 0;
  virtual void OnPartEnded(int part, const OutputResult& result, const Status& status) = 0;
};

}  // namespace ashlar
