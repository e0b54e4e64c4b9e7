#!/bin/sh
# The same on two GPUs of one machine, each layer split between them: two-gpus.sh CHECKPOINT [OPTION OF SGLANG...]
set -eu

checkpoint=${1:?usage: two-gpus.sh CHECKPOINT [OPTION OF SGLANG...]}
shift

exec "$(dirname "$0")/one-gpu.sh" "$checkpoint" --tp-size 2 "$@"
