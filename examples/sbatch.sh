#!/bin/bash
# Calibrates every node of a Slurm allocation: one task a node, each with all of its GPUs.
#
#   tar xf gpuceil-*-linux-x86_64.tar.gz      # on a file system that the nodes see
#   sbatch --export=ALL,GPUCEIL=$PWD/gpuceil-0.1.0-linux-x86_64/gpuceil sbatch.sh
#
#SBATCH --job-name=gpuceil
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --exclusive
#SBATCH --time=00:10:00
# A minute before the end: the rows so far are kept, the rest is marked cancelled.
#SBATCH --signal=TERM@60
set -u

tool=${GPUCEIL:-gpuceil}
gpus=${SLURM_GPUS_ON_NODE:-8}
out=${SLURM_SUBMIT_DIR:-.}/gpuceil-${SLURM_JOB_ID:-local}
mkdir -p "$out"

# Each task is a run of its own. A missing GPU is an error; a bad node does not stop the others.
# exec: the signal of Slurm reaches gpuceil itself.
srun --kill-on-bad-exit=0 bash -c '
	exec "$0" bench --quick --expect-gpus "$1" --output "$2/$(uname -n | cut -d . -f 1)"
' "$tool" "$gpus" "$out"
status=$?

# All nodes in one table, and the slowest GPU of all of them for one ceiling.
awk 'FNR > 1 || NR == 1' "$out"/*/ceilings.csv >"$out/ceilings.csv"
"$tool" get gemm.bf16.sustained --run "$out/ceilings.csv"
exit $status
