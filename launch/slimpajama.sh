#!/usr/bin/env bash
# P1 Fig 17 b on a Slurm cluster: GPT-2 medium, 40 B tokens a member, 3 gammas, two sets.
#
#   bash launch/slimpajama.sh prepare   # on a machine with internet and 180 GB of disk
#   bash launch/slimpajama.sh plan      # what each sweep needs, without training
#   bash launch/slimpajama.sh submit    # one job a gamma and set, each on 8 GPUs
#
# Cost, by formula (launch/sweep.py --dry_run counts the same operations): a member is
# 76,293 steps of 524,288 tokens, 9.7e19 operations, so 8.5 hours of 8 H100s at 40 % of
# their 989 TFLOP/s; the six members 410 GPU-hours. A job that is stopped saves and goes
# back into the queue. On nodes of 4 GPUs set NODES=2 GPUS=4.
set -euo pipefail
cd "$(dirname "$0")/.."
NODES=${NODES:-1} GPUS=${GPUS:-8}
RANKS=${RANKS:-gpt2.tiktoken}  # assets/gpt2.tiktoken of the PyPI package mlx-whisper

case "${1:-}" in
prepare)
    # All training files, about 895 GB, as the configs ask for 32 B tokens of GitHub and
    # 40 B of both parts. They are streamed, once for each set, and never on the disk;
    # SOURCE can be a local copy. Tokens are 180 GB.
    source=${SOURCE:-public}
    for name in github both; do
        sets=(RedPajamaGithub)
        [ "$name" = both ] && sets+=(RedPajamaWikipedia)
        python launch/data.py slimpajama --source "$source" \
            --pattern "${PATTERN:-train/*/*.jsonl.zst}" --sets "${sets[@]}" \
            --out "data/slimpajama_$name" --tokenizer gpt2 --vocabulary "$RANKS"
    done
    ;;
plan)
    for name in github both; do
        python launch/sweep.py --config "configs/slimpajama.py:$name" --dry_run
    done
    ;;
submit)
    for name in github both; do
        python launch/submit.py --shards=3 --nodes="$NODES" \
            --gpus="$GPUS" --time=1440 -- --config "configs/slimpajama.py:$name"
    done
    ;;
*)
    echo "usage: bash launch/slimpajama.sh prepare|plan|submit" >&2
    exit 2
    ;;
esac
