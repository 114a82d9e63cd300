#!/usr/bin/env bash
# Stands for compute-sanitizer: begins the log and becomes the process that it was given.
# FAKE_SANITIZER: "dies" ends at once, "silent" writes no log; for others see the worker.
set -u
log=
while [ $# -gt 0 ] && [ "${1#--}" != "$1" ]; do
  [ "$1" = --log-file ] && log=$2
  shift 2
done
case "${FAKE_SANITIZER:-}" in
  dies) echo "Device not supported" >&2; exit 1 ;;
  silent) ;;
  *) echo "========= COMPUTE-SANITIZER" >"$log" ;;
esac
exec "$@"
