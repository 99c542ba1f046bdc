// SPDX-License-Identifier: Apache-2.0
//
// The fsync and fdatasync of this program, watched: DurableFiles knows what they made durable, and
// so what a crash would leave in the strictest case. Nothing else counts as durable.
//
// Contents and names are durable independently of each other: a file's content by a sync of the
// file, its name by a sync of the directory. Any thread; a watched sync runs alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ashlar {

class DurableFiles {
 public:
  // From here on, the files of this directory; what is there already counts as never synced.
  static void Watch(const std::string& dir);

  // What a crash leaves of the directory, by name.
  static std::map<std::string, std::string> Image();

  // Successful calls since Watch(), on files or the directory, whose name ends so.
  static uint64_t Fsyncs(const std::string& name_end);
  static uint64_t Fdatasyncs(const std::string& name_end);
};

}  // namespace ashlar
