#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# A program can load the shared libraries while it runs, as interpreters do with modules that are linked
# with them. Their thread-local memory must then fit into what the C library keeps free for this, about
# 1,600 bytes for all libraries that come later.
import os
import pathlib
import re
import struct
import subprocess
import sys
import unittest

ROOT = pathlib.Path(os.environ.get("ASHLAR_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("ASHLAR_BUILD_DIR", ROOT / "build" / "test"))
LIBRARIES = [path for path in (BUILD / name for name in ("libashlar.so", "libashlar-c.so", "librocksdb.so"))
             if path.exists()]
LIMIT = 768  # with assertions, which keep a list of the locks of a thread there
PT_TLS = 7
CACHE = BUILD / "CMakeCache.txt"
# The library of a sanitizer must come first in a process.
IS_SANITIZED = CACHE.exists() and re.search(r"(?m)^SANITIZE:\w+=.", CACHE.read_text()) is not None


def thread_local_bytes(path):
    """The size of the segment for thread-local memory of a 64-bit ELF file."""
    image = path.read_bytes()
    assert image[:6] == b"\x7fELF\x02\x01", path
    first, = struct.unpack_from("<Q", image, 32)
    size, count = struct.unpack_from("<HH", image, 54)
    for place in range(first, first + size * count, size):
        kind, = struct.unpack_from("<I", image, place)
        if kind == PT_TLS:
            return struct.unpack_from("<Q", image, place + 40)[0]
    return 0


@unittest.skipUnless(LIBRARIES and not IS_SANITIZED, "this build has no shared libraries, or a sanitizer")
class Loading(unittest.TestCase):
    def test_thread_local_memory_is_small(self):
        for path in LIBRARIES:
            self.assertLessEqual(thread_local_bytes(path), LIMIT, path)

    def test_each_library_can_be_loaded_by_a_running_program(self):
        for path in LIBRARIES:
            done = subprocess.run([sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])",
                                   str(path)], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
