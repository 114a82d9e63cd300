"""Shared by the scripts that write bench/results: the binary, the commit, the name of a device."""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
REDZONE = ROOT / "build/bin/redzone"
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


def seconds(text):
    """Of an argument such as 8m."""
    for unit in ("ms", "s", "m", "h"):
        if text.endswith(unit) and text[:-len(unit)].replace(".", "", 1).isdigit():
            return float(text[:-len(unit)]) * UNITS[unit]
    raise argparse.ArgumentTypeError(f"'{text}' is not a duration: a number and ms, s, m or h")


def need_build():
    """Builds only when the binary is missing."""
    if not REDZONE.exists():
        subprocess.run([ROOT / "scripts/setup", "--no-tests"], check=True)


def commit():
    """The commit of the tree, with "-dirty" if it has changes outside of bench/results: a night in pieces
    writes results meanwhile. A copy without git has the commit in a file that scripts/setup wrote."""
    git = ["git", "-C", str(ROOT)]
    head = subprocess.run([*git, "rev-parse", "-q", "--verify", "HEAD"], capture_output=True, text=True)
    if head.returncode != 0:
        note = ROOT / "build/commit"
        return note.read_text().strip() if note.exists() else "unknown"
    dirty = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", ".", ":!bench/results"]).returncode != 0
    return head.stdout.strip() + ("-dirty" if dirty else "")


def asked(arguments, codes):
    """The JSON that a command printed; any exit code not in `codes` ends the script with that code."""
    ran = subprocess.run([REDZONE, *arguments, "--json"], stdout=subprocess.PIPE, text=True)
    if ran.returncode not in codes:
        sys.exit(ran.returncode)
    return json.loads(ran.stdout)


def machine():
    """The results of `redzone doctor` by name, missing parts included."""
    return {line["what"]: line["found"] for line in asked(["doctor"], (0, 3))["lines"]}


def device_of(wanted, here):
    """The kind that "auto" is on this machine."""
    return wanted if wanted != "auto" else "host" if here["GPU"] == "none" else "cuda"


def slug(device):
    """The form used in file names: "NVIDIA H100 80GB HBM3" becomes nvidia-h100-80gb-hbm3."""
    return "".join(c for c in device.lower().replace(" ", "-") if c.isalnum() or c == "-")


def write_json(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n")
    print(f"written: {path}")
