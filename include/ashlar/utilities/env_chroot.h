// SPDX-License-Identifier: Apache-2.0
//
// Files below one directory: every path "/x" means the file "x" of that directory. RocksDB has
// these functions in its library and no public header for them.
//
//   std::unique_ptr<Env> env(NewChrootEnv(Env::Default(), "/var/lib/tenant7"));
//   options.env = env.get();  // DB::Open(options, "/db", ...) opens /var/lib/tenant7/db
#pragma once

#include <memory>
#include <string>

#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/file_system.h"

namespace ashlar {

// Paths must be absolute; others are InvalidArgument. ".." stays within the directory. A symbolic
// link in the directory is followed, also to a place outside: this separates databases, it is no
// protection against programs that can make links there. WALs are written without a memory mapping.
//
// Null if the directory does not exist or is no directory.
ASHLAR_EXPORT std::shared_ptr<FileSystem> NewChrootFileSystem(
    const std::shared_ptr<FileSystem>& base, const std::string& chroot_dir);
// Everything but files is that of `base_env`, which must outlive the result. The caller deletes the
// result.
ASHLAR_EXPORT Env* NewChrootEnv(Env* base_env, const std::string& chroot_dir);

}  // namespace ashlar
