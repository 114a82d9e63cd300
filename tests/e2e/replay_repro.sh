#!/bin/sh
# replay_repro.sh REDZONE PLAN [TWIN]: the plan fails as recorded. With the name of its twin: the
# same plan passes every oracle there.
set -eu
redzone=$1 plan=$2
if [ $# -lt 3 ]; then
  status=0
  "$redzone" replay "$plan" --device host --runs 3 || status=$?
  [ "$status" -eq 1 ]
  exit
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# What the puzzle shows is not expected of the twin; what any oracle says counts.
sed -e "s/^target = .*/target = \"$3\"/" -e '/^\[expect\]/,/^$/d' "$plan" >"$folder/twin.toml"
"$redzone" replay "$folder/twin.toml" --device host --runs 3
