// SPDX-License-Identifier: Apache-2.0
//
// Conditions holds the condition variables of the DB mutex and defines which event wakes which
// waiting threads.
//
//   condition   who waits                                     until
//   writers     WriteControl: writers that are stopped,       the debt of flushes and compactions
//               delayed, paced by a flush or locked out;      has fallen, LockWAL is over, and
//               threads that want to switch memtables         nothing switches memtables
//   flushes     Flush() and other calls that need memtables   the memtables in question have left
//               in tables (ManualFlushes, error recovery)     their families; level 0 has room
//   jobs        Scheduler: Stop, Pause, AwaitIdle, the        fewer jobs run, or none; a manual
//               retry of a failed job; manual                 compaction was taken, finished or
//               compactions, which wait for a thread, for     removed; its files or its family are
//               their end and for files that others claim;    free; level 0 has room
//               ingestions
//   purges      DisableFileDeletions()                        no thread deletes files
//
//   event            when                                             wakes
//   SwitchEnded      memtables were switched, or could not be         writers
//   WritesUnblocked  UnlockWAL                                        writers
//   StallChanged     the stall began, ended or became another one     writers
//   FlushProgressed  a flush has written some more                    writers
//   ManualChanged    a manual compaction was finished, removed or     jobs
//                    told to stop
//   JobEnded         a flush or compaction has taken effect or        all
//                    failed, or its thread is free again
//   WorkHeld         background work is paused or aborted             all
//   FamilyChanged    a family was dropped or has new options          all
//   AllStops         closing or cancelling began                      all
//   ErrorChanged     a background error was raised or cleared         all
//   PurgeEnded       a thread has deleted the files it had collected  purges
//
// ("all" are writers, flushes and jobs.)
//
// A waiting thread checks the state again each time it is woken. All functions need the mutex. An
// event is signalled after the state has changed and before the mutex is released.
#pragma once

#include "util/threads/mutex.h"

namespace ashlar {

class Conditions {
 public:
  explicit Conditions(DbMutex* mutex)
      : writers(mutex), flushes(mutex), jobs(mutex), purges(mutex) {}

  void SwitchEnded() REQUIRES(db_mutex) { writers.SignalAll(); }
  void WritesUnblocked() REQUIRES(db_mutex) { writers.SignalAll(); }
  void StallChanged() REQUIRES(db_mutex) { writers.SignalAll(); }
  void FlushProgressed() REQUIRES(db_mutex) { writers.SignalAll(); }
  void ManualChanged() REQUIRES(db_mutex) { jobs.SignalAll(); }
  void JobEnded() REQUIRES(db_mutex) { WakeAll(); }
  void WorkHeld() REQUIRES(db_mutex) { WakeAll(); }
  void FamilyChanged() REQUIRES(db_mutex) { WakeAll(); }
  void AllStops() REQUIRES(db_mutex) { WakeAll(); }
  void ErrorChanged() REQUIRES(db_mutex) { WakeAll(); }
  void PurgeEnded() REQUIRES(db_mutex) { purges.SignalAll(); }

  CondVar writers;
  CondVar flushes;
  CondVar jobs;
  CondVar purges;

 private:
  void WakeAll() REQUIRES(db_mutex) {
    writers.SignalAll();
    flushes.SignalAll();
    jobs.SignalAll();
  }
};

}  // namespace ashlar
