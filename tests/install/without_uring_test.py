#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# liburing is optional: with ASHLAR_IO_URING=OFF the files of env/posix compile where liburing.h
# cannot be included, call nothing of it, and nothing is linked with it. That reads work without is
# tested where a kernel refuses rings (tests/env, tests/table).
#
#   ASHLAR_SOURCE_DIR=. without_uring_test.py
import os
import subprocess
import sys
import tempfile

OBJECTS = [f"CMakeFiles/ashlar_env.dir/env/posix/{name}.cc.o"
           for name in ("posix_uring", "posix_files", "posix_file_system")]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    source = os.environ["ASHLAR_SOURCE_DIR"]
    with tempfile.TemporaryDirectory() as work:
        poison = os.path.join(work, "poison")
        os.mkdir(poison)
        with open(os.path.join(poison, "liburing.h"), "w", encoding="utf-8") as header:
            header.write('#error "liburing.h is included"\n')
        build = os.path.join(work, "build")
        run("cmake", "-S", source, "-B", build, "-G", "Ninja", "-DASHLAR_IO_URING=OFF",
            "-DASHLAR_UNITY=OFF", "-DASHLAR_BUILD_TOOLS=OFF", "-DASHLAR_BUILD_DROPIN=OFF",
            f"-DCMAKE_CXX_FLAGS=-I{poison}", "--log-level=WARNING")
        run("ninja", "-C", build, *OBJECTS)
        for name in OBJECTS:
            if "io_uring_" in run("nm", "-u", os.path.join(build, name)):
                sys.exit(f"{name} calls liburing")
        with open(os.path.join(build, "build.ninja"), encoding="utf-8") as file:
            if "liburing" in file.read():
                sys.exit("something is linked with liburing")
    print(f"without io_uring: {len(OBJECTS)} files compile and need no liburing")


if __name__ == "__main__":
    main()
