#!/usr/bin/env python3
"""hunt_test.py SCRIPT: hunts with a stand-in of `redzone` that ends as its target is named: rows add up over
parts and outlive a kill, and the exit code does not hide findings.
"""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

REDZONE = """#!/usr/bin/env python3
import json, pathlib, sys, time
words = sys.argv[1:]
folder = pathlib.Path(sys.argv[0]).parent
if words[0] == "doctor":
    print(json.dumps({"lines": [{"what": "GPU", "found": "Fake 1"}, {"what": "CUDA driver", "found": "9"}]}))
    sys.exit(0)
source = words[words.index("--plugin") + 1] if "--plugin" in words else words[1]
plugin = pathlib.Path(source).name.partition(".")[0]
if words[0] == "targets":
    count = 90 if plugin == "cublas" else 2
    print(json.dumps({"targets": [{"name": f"{plugin}.t{i}"} for i in range(count)] + [{"name": "other"}]}))
    sys.exit(0)
code = json.loads((folder / "codes").read_text()).get(plugin, 0)
if code == "wait":
    time.sleep(60)
if code == 3:
    sys.exit(3)
mine = [w for w in words if w.startswith(plugin + ".")]
found = [{"id": 1, "state": "confirmed", "signature": {"text": "fault"}, "reason": "why"}] * (code == 1)
print(json.dumps({
    "campaign": {"seed": 1, "plans": 10, "calls": 100, "trials": 20, "workers_lost": 0},
    "targets": [{"target": t} for t in mine], "unjudged": [], "findings": found,
    "verdicts": {"pass": 10, "fail": 0, "not_applicable": 0}, "reference": {"compared_calls": 50}}))
sys.exit(code)
"""


class Hunt:
    def __init__(self, script, folder):
        self.script, self.folder = script, pathlib.Path(folder)
        self.out = self.folder / "hunt.json"
        (self.folder / "bin").mkdir()
        (self.folder / "lib/redzone/libraries").mkdir(parents=True)
        for plugin in ("cublas", "thrust", "cufft"):
            (self.folder / f"lib/redzone/libraries/{plugin}.cuda.so").touch()
        redzone = self.folder / "bin/redzone"
        redzone.write_text(REDZONE)
        redzone.chmod(0o755)

    def start(self, *words, **codes):
        (self.folder / "bin/codes").write_text(json.dumps(codes))
        words = ("--commit", "c1", "--time", "60s", "--device", "cuda", *words)
        return subprocess.Popen(
            [self.script, "--build", str(self.folder), "--out", str(self.out), *words],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # fmt: skip

    def run(self, *words, **codes):
        hunt = self.start(*words, **codes)
        said = hunt.communicate()[0]
        return hunt.returncode, said

    def rows(self):
        kept = json.loads(self.out.read_text())["rows"]
        return [(row["part"], row["library"], row["seconds"]) for row in kept]


def check_parts(hunt):
    # cuBLAS has four of six shares, in three groups of 30 targets.
    both = ("--only", "cublas,thrust,cufft")
    assert hunt.run(*both, "--part", "1/2")[0] == 0
    first = [("1/2", "cublas 1/3", 13), ("1/2", "cublas 2/3", 13), ("1/2", "cublas 3/3", 3)]
    assert hunt.rows() == first, hunt.rows()
    assert json.loads(hunt.out.read_text())["rows"][0]["targets"] == 30
    assert hunt.run(*both, "--part", "2/2")[0] == 0
    second = [("2/2", "cublas 3/3", 10), ("2/2", "cufft", 10), ("2/2", "thrust", 10)]
    assert hunt.rows() == first + second, hunt.rows()
    # A part that runs again takes its own place; another division is refused, another commit begins anew.
    assert hunt.run(*both, "--part", "2/2")[0] == 0
    assert hunt.rows() == first + second, hunt.rows()
    assert hunt.run(*both, "--part", "1/3")[0] == 2
    text = hunt.out.with_suffix(".txt").read_text()
    assert text.startswith("commit  c1\ngpu     Fake 1\n") and "calls in all: 600," in text, text
    assert hunt.run(*both, "--part", "2/2", "--commit", "c2")[0] == 0
    assert len(hunt.rows()) == 3, hunt.rows()


def check_exit_codes(hunt):
    only = ("--only", "cufft,thrust")
    for codes, expected in (({}, 0), ({"cufft": 4, "thrust": 1}, 1), ({"cufft": 1, "thrust": 3}, 1),
                            ({"cufft": 4}, 4), ({"thrust": 3}, 3)):  # fmt: skip
        assert hunt.run(*only, **codes)[0] == expected, codes
    hunt.run(*only, cufft=1)
    assert "cufft: confirmed fault: why" in hunt.out.with_suffix(".txt").read_text()


def check_nothing_to_do(hunt):
    hunt.out.unlink()
    code, said = hunt.run("--only", "cusparse")
    assert code == 4 and "cusparse is not built for cuda" in said and "nothing to fuzz" in said, said
    assert not hunt.out.exists()
    for wrong in (("--part", "3/2"), ("--part", "0/2"), ("--time", "ten"), ("--only", "cufft,nothing")):
        assert hunt.run(*wrong)[0] == 2, wrong


def check_absent_packages(hunt):
    (hunt.folder / "modules").mkdir()
    (hunt.folder / "modules/flashinfer.py").touch()
    python = hunt.folder / "python"
    python.write_text(f"#!/bin/sh\nPYTHONPATH={hunt.folder}/modules exec {sys.executable} -S \"$@\"\n")
    python.chmod(0o755)
    code, said = hunt.run("--only", "torch,triton,helion,flashinfer", "--python", str(python))
    left_out = [line for line in said.splitlines() if "left out" in line]
    assert left_out == ["hunt: torch is left out: no module 'expecttest'",
                        "hunt: helion is left out: no module 'helion'"], said  # fmt: skip
    assert code == 0 and [row[1:] for row in hunt.rows()] == [("flashinfer", 30), ("triton", 30)], said
    # A run says that there is no such interpreter.
    said = hunt.run("--only", "helion,flashinfer", "--python", str(hunt.folder / "none"))[1]
    assert "left out" not in said, said
    hunt.out.unlink()


def check_kill(hunt):
    killed = hunt.start("--only", "cufft,thrust", thrust="wait")
    until = time.monotonic() + 60
    while not hunt.out.exists():
        assert killed.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert [row[1] for row in hunt.rows()] == ["cufft"], hunt.rows()


def main(script):
    with tempfile.TemporaryDirectory() as folder:
        hunt = Hunt(script, folder)
        check_parts(hunt)
        check_exit_codes(hunt)
        check_nothing_to_do(hunt)
        check_absent_packages(hunt)
        check_kill(hunt)


main(sys.argv[1])
