// SPDX-License-Identifier: Apache-2.0
//
// ForbidSystemCall() makes the kernel refuse a system call to the calling thread from now on, as
// sandboxes do. Call it in a separate thread.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace ashlar {

// False if this kernel does not support such filters. The system call then returns EPERM.
inline bool ForbidSystemCall(uint32_t number) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog filter = {};
  filter.len = sizeof(program) / sizeof(program[0]);
  filter.filter = program;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace ashlar
