#!/usr/bin/env python3
"""validate_test.py junit|sarif DIR SCHEMA: the nights of night_files against the schema of a format.

Exits with 77, which CTest counts as skipped, if the validator or the schema is not installed.
"""

import json
import pathlib
import shutil
import subprocess
import sys

NIGHTS = {"sample", "hostile", "empty", "many"}


def skip(missing, by=""):
    print(f"skipped: {missing} is not installed (./scripts/setup{by} installs it)")
    sys.exit(77)


def check_junit(files, schema):
    if not shutil.which("xmllint"):
        skip("xmllint (libxml2-utils)")
    refused = subprocess.run(["xmllint", "--noout", "--schema", schema, "-"], text=True,
                             input="<testsuites tests='1' failures='0' errors='0'><testcase/></testsuites>",
                             capture_output=True)
    assert refused.returncode == 3, f"the schema takes anything: {refused.stderr}"
    for file in files:
        subprocess.run(["xmllint", "--noout", "--huge", "--schema", schema, file], check=True)


def check_sarif(files, schema):
    try:
        import jsonschema
    except ImportError:
        skip("python3-jsonschema")
    validator = jsonschema.Draft7Validator(json.loads(pathlib.Path(schema).read_text()))
    assert not validator.is_valid({"version": "2.1.0", "runs": [{}]}), "the schema takes anything"
    for file in files:
        log = json.loads(file.read_bytes().decode("utf-8"))
        errors = [f"{file}: {'/'.join(map(str, e.absolute_path))}: {e.message[:200]}"
                  for e in validator.iter_errors(log)]
        assert not errors, "\n".join(errors[:5])


def main(kind, folder, schema):
    name, check = {"junit": ("junit.xml", check_junit), "sarif": ("redzone.sarif", check_sarif)}[kind]
    files = sorted(pathlib.Path(folder).glob(f"*/{name}"))
    assert {file.parent.name for file in files} == NIGHTS, files
    if not pathlib.Path(schema).exists():
        skip(schema, " --schemas")
    check(files, schema)


main(*sys.argv[1:])
