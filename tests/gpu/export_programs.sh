#!/usr/bin/env bash
# export_programs.sh REDZONE SOURCE_DIR OUT KERNELS NAME...: each puzzle of repros/ as a program of its
# own, OUT/NAME.cu, and its twin without the bug, OUT/twin_NAME.cu. Leaves a file alone that would not
# change. KERNELS: folder with the header of the lazily compiled kernels.
set -euo pipefail
redzone=$1 root=$2 out=$3 kernels=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in "$@"; do
  "$redzone" import "$root/repros/$name.toml" --db "$work/$name.db" >/dev/null
  more=()
  case "$name" in
    lazy_*) more=(--source "$root/src/targets/lazy_launch/lazy_launch.cu"
      --source "$root/src/targets/lazy_launch/tuner.cu"
      --source "$root/src/launcher/lazy_launcher.cpp" --source "$root/src/launcher/rule_knobs.cpp"
      --include "$root/src"
      --include "$root/src/targets/lazy_launch" --include "$kernels") ;;
  esac
  made=$("$redzone" export 1 --db "$work/$name.db" --to "$work/$name" --standalone "${more[@]}" \
    --source "$root/src/targets/puzzles/$name.cu" --register "redzone::puzzles::add_$name")
  cp "$made" "$work/$name.cu"
  sed "s/\"puzzle\\.$name\"/\"twin.$name\"/" "$made" >"$work/twin_$name.cu"
  for file in "$name.cu" "twin_$name.cu"; do
    cmp -s "$work/$file" "$out/$file" || cp "$work/$file" "$out/$file"
  done
done
