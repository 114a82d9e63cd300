"""What the scripts that write bench/results share: the binary, the commit, the name of a device."""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
REDZONE = ROOT / "build/bin/redzone"


def need_build():
    """Builds only when the binary is missing."""
    if not REDZONE.exists():
        subprocess.run([ROOT / "scripts/setup", "--no-tests"], check=True)


def commit():
    """Of the tree; a copy that is no git checkout has the note that scripts/setup left. Results that were
    written meanwhile are no change: a night in pieces is of one commit."""
    git = ["git", "-C", str(ROOT)]
    head = subprocess.run([*git, "rev-parse", "-q", "--verify", "HEAD"], capture_output=True, text=True)
    if head.returncode != 0:
        note = ROOT / "build/commit"
        return note.read_text().strip() if note.exists() else "unknown"
    dirty = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", ".", ":!bench/results"]).returncode != 0
    return head.stdout.strip() + ("-dirty" if dirty else "")


def asked(arguments, codes):
    """The JSON that a command printed; another exit code than those ends the script with it."""
    ran = subprocess.run([REDZONE, *arguments, "--json"], stdout=subprocess.PIPE, text=True)
    if ran.returncode not in codes:
        sys.exit(ran.returncode)
    return json.loads(ran.stdout)


def machine():
    """What doctor finds, by name; what is missing too."""
    return {line["what"]: line["found"] for line in asked(["doctor"], (0, 3))["lines"]}


def device_of(wanted, here):
    """The kind that "auto" is on this machine."""
    return wanted if wanted != "auto" else "host" if here["GPU"] == "none" else "cuda"


def slug(device):
    """For names of files: "NVIDIA H100 80GB HBM3" is nvidia-h100-80gb-hbm3."""
    return "".join(c for c in device.lower().replace(" ", "-") if c.isalnum() or c == "-")


def write_json(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n")
    print(f"written: {path}")
