#!/bin/sh
# Serves without the plugin's work, and without the draft: without-policy.sh CHECKPOINT [OPTION OF SGLANG...]
# The target of a checkpoint whose list forgets only the MTP head loads this way.
set -eu

checkpoint=${1:?usage: without-policy.sh CHECKPOINT [OPTION OF SGLANG...]}
shift

export QPOLICY_MODE=off
exec python -m sglang.launch_server --model-path "$checkpoint" --host 127.0.0.1 --port 30000 "$@"
