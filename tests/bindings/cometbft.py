#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Four validators of CometBFT on the loopback interface, whose databases are this build's librocksdb by
# way of the binding grocksdb; both modules are unmodified. One validator is killed, the others go on,
# and it catches up after its restart. Prints the blocks that were made. Exits with 1 if a step fails.
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from go_module import GROCKSDB, environment, fetch, skip_without_go_and_library

COMETBFT = "github.com/cometbft/cometbft@v1.0.1"
VALIDATORS = 4


class Failed(Exception):
    pass


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    if done.returncode != 0:
        raise Failed(" ".join(command) + "\n" + done.stdout[-3000:])
    return done.stdout.strip()


def build(folder):
    print("building", COMETBFT, "with", GROCKSDB, flush=True)
    source = fetch(COMETBFT, folder)
    binary = os.path.join(folder, "cometbft")
    run(["go", "mod", "edit", "-require", GROCKSDB], cwd=source, env=environment())
    run(["go", "build", "-tags", "rocksdb,grocksdb_no_link", "-o", binary, "./cmd/cometbft"], cwd=source,
        env=environment())
    return binary


class Validator:
    def __init__(self, binary, home, port):
        self.binary, self.home, self.port = binary, home, port
        self.process = None

    def peer(self):
        return run([self.binary, "show-node-id", "--home", self.home]) + f"@127.0.0.1:{self.port + 1}"

    def configure(self, backend, peers):
        path = os.path.join(self.home, "config/config.toml")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for key, value in (("db_backend", backend), ("proxy_app", "persistent_kvstore"),
                           ("persistent_peers", ",".join(peers)), ("timeout_commit", "100ms")):
            text = re.sub(rf"(?m)^{key} = .*", f'{key} = "{value}"', text, count=1)
        text = text.replace("tcp://127.0.0.1:26657", f"tcp://127.0.0.1:{self.port}")
        text = text.replace("tcp://0.0.0.0:26656", f"tcp://127.0.0.1:{self.port + 1}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def start(self):
        with open(os.path.join(self.home, "log"), "a", encoding="utf-8") as log:
            self.process = subprocess.Popen([self.binary, "start", "--home", self.home], stdout=log,
                                            stderr=subprocess.STDOUT)

    def stop(self, signal_number):
        if self.process is not None:
            self.process.send_signal(signal_number)
            self.process.wait()
            self.process = None

    def ask(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}", timeout=5) as answer:
            return json.load(answer)["result"]

    def height(self):
        try:
            return int(self.ask("status")["sync_info"]["latest_block_height"])
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return 0

    def wait_for(self, height, seconds):
        end = time.monotonic() + seconds
        while self.height() < height:
            if self.process.poll() is not None or time.monotonic() > end:
                with open(os.path.join(self.home, "log"), encoding="utf-8") as log:
                    raise Failed(f"{self.home} is at block {self.height()} and not at {height}:\n"
                                 + log.read()[-3000:])
            time.sleep(0.1)

    def send(self, first, count):
        for i in range(first, first + count):
            self.ask(f'broadcast_tx_async?tx="key{i}=value{i}"')


def make_network(binary, folder, backend, port):
    home = os.path.join(folder, "network")
    run([binary, "testnet", "--v", str(VALIDATORS), "--o", home, "--populate-persistent-peers=false"])
    validators = [Validator(binary, os.path.join(home, f"node{i}"), port + 2 * i)
                  for i in range(VALIDATORS)]
    peers = [validator.peer() for validator in validators]
    for i, validator in enumerate(validators):
        validator.configure(backend, peers[:i] + peers[i + 1:])
    return validators


def play(validators, blocks):
    first, killed = validators[0], validators[-1]
    for validator in validators:
        validator.start()
    first.wait_for(1, 60)
    first.send(0, 200)
    first.wait_for(blocks, 120)
    killed.wait_for(1, 60)
    killed.stop(signal.SIGKILL)
    died_at = first.height()
    print(f"{VALIDATORS} validators made {died_at} blocks; one is killed", flush=True)
    first.send(200, 200)
    first.wait_for(died_at + blocks, 120)
    goal = first.height()
    killed.start()
    killed.wait_for(goal, 120)
    print(f"the others made {goal - died_at} more; it has caught up at block {killed.height()}")
    hashes = {v.ask(f"block?height={goal}")["block_id"]["hash"] for v in validators}
    value = killed.ask('abci_query?data="key399"')["response"]["value"]
    if len(hashes) != 1 or not value:
        raise Failed(f"block {goal} has the hashes {hashes}; key399 is {value}")
    print(f"block {goal} is the same on all: {hashes.pop()}")


def main():
    parser = argparse.ArgumentParser(description="Runs four validators of CometBFT over this build's librocksdb.")
    parser.add_argument("--binary", help="a cometbft that was built before, e.g. with another engine")
    parser.add_argument("--backend", default="rocksdb", help="db_backend of the validators")
    parser.add_argument("--blocks", type=int, default=30, help="before the kill, and until the restart")
    parser.add_argument("--port", type=int, default=27000, help="the first of eight ports")
    arguments = parser.parse_args()
    if arguments.binary is None:
        skip_without_go_and_library()
    validators = []
    with tempfile.TemporaryDirectory(prefix="ashlar_cometbft_") as folder:
        try:
            binary = arguments.binary or build(folder)
            validators = make_network(binary, folder, arguments.backend, arguments.port)
            play(validators, arguments.blocks)
            return 0
        except Failed as error:
            print(error)
            return 1
        finally:
            for validator in validators:
                validator.stop(signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
