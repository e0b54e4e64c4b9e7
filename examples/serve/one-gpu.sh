#!/bin/sh
# Serves a checkpoint with its own MTP head on one GPU: one-gpu.sh CHECKPOINT [OPTION OF SGLANG...]
# In the mode `strict`, a checkpoint in which `qpolicy check` finds errors or warnings is not started.
set -eu

checkpoint=${1:?usage: one-gpu.sh CHECKPOINT [OPTION OF SGLANG...]}
shift

export QPOLICY_MODE="${QPOLICY_MODE:-strict}"

qpolicy check "$checkpoint" ${QPOLICY_FILE:+--policy "$QPOLICY_FILE"} || [ "$QPOLICY_MODE" != strict ]

exec python -m sglang.launch_server \
    --model-path "$checkpoint" \
    --speculative-algorithm NEXTN \
    --speculative-num-steps 3 \
    --speculative-eagle-topk 1 \
    --speculative-num-draft-tokens 4 \
    --host 127.0.0.1 \
    --port 30000 \
    "$@"
