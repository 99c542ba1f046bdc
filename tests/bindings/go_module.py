# SPDX-License-Identifier: Apache-2.0
#
# Shared by the scripts that build Go programs against this build's librocksdb. Modules come from the
# module proxy (GOPROXY) and are never stored in the project.
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from skips import say

SOURCE = os.path.abspath(os.environ.get("ASHLAR_SOURCE_DIR",
                                        os.path.join(os.path.dirname(__file__), "../..")))
BUILD = os.path.abspath(os.environ.get("ASHLAR_BUILD_DIR", os.path.join(SOURCE, "build/test")))
LIBRARY = os.path.join(BUILD, "librocksdb.so")
GROCKSDB = "github.com/linxGnu/grocksdb@v1.11.1"


def skip(reason):
    say("IMPOSSIBLE", reason)
    sys.exit(77)


def skip_without_go_and_library():
    if shutil.which("go") is None:
        skip("Go is not installed")
    if not os.path.exists(LIBRARY):
        skip("this build has no librocksdb.so")


def fetch(module, folder):
    """Copies the module to the folder, since the module cache is read-only. Returns the copy's path."""
    # `go mod download` works only beside a go.mod.
    with open(os.path.join(folder, "go.mod"), "w", encoding="utf-8") as file:
        file.write("module fetch\n")
    done = subprocess.run(["go", "mod", "download", "-json", module], capture_output=True, cwd=folder,
                          text=True, timeout=300, check=False, env=environment())
    if done.returncode != 0:
        skip(module + " cannot be downloaded: " + (done.stdout + done.stderr)[-300:])
    copy = os.path.join(folder, "copy")
    shutil.copytree(json.loads(done.stdout)["Dir"], copy)
    for path, folders, files in os.walk(copy):
        for name in folders + files:
            os.chmod(os.path.join(path, name), 0o755)
    return copy


def environment():
    """For go build with the tag grocksdb_no_link. The binding has its own copy of c.h."""
    return dict(os.environ, GOWORK="off", GOFLAGS="-mod=mod", CGO_ENABLED="1",
                CGO_CFLAGS="-I" + os.path.join(SOURCE, "include"),
                CGO_LDFLAGS=f"-L{BUILD} -Wl,-rpath,{BUILD} -lrocksdb -lm")
