#!/bin/sh
# preloaded.sh LIBRARY COMMAND...: runs the command with the library preloaded. LD_PRELOAD names a link to it,
# since it cannot hold a path with a space.
folder=$(mktemp -d) || exit 2
trap 'rm -r "$folder"' EXIT
ln -s "$1" "$folder/library.so" || exit 2
shift
LD_PRELOAD=$folder/library.so "$@"
