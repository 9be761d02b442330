"""torch.distributed over NCCL: the peer of `gpuceil bench collective --mpi`.

mpirun -np N python3 torch_collective.py prints busbw in GB/s of the slowest rank for three sizes:
the median of nine batches of about 20 ms between two events, after a barrier.
"""
import os
import statistics

import torch
import torch.distributed as dist

RANK = int(os.environ["OMPI_COMM_WORLD_RANK"])
SIZE = int(os.environ["OMPI_COMM_WORLD_SIZE"])
SIZES = (1 << 26, 1 << 28, 1 << 30)


def batch_s(launch, count):
    """Seconds of one call, from a batch of count."""
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    dist.barrier()
    torch.cuda.synchronize()
    start.record()
    for _ in range(count):
        launch()
    stop.record()
    torch.cuda.synchronize()
    return start.elapsed_time(stop) * 1e-3 / count


def report(name, launch, size, factor):
    for _ in range(5):
        launch()
    torch.cuda.synchronize()
    count = min(500, max(3, int(0.02 / max(1e-5, size / 300e9))))
    seconds = statistics.median(batch_s(launch, count) for _ in range(9))
    slowest = torch.tensor([seconds], device="cuda")
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    if RANK == 0:
        s = slowest.item()
        print(f"torch {name} {size} B: {s * 1e6:.3f} us  busbw {size / s * 1e-9 * factor:.2f} GB/s")


def main():
    torch.cuda.set_device(RANK)
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29511", rank=RANK, world_size=SIZE)
    for size in SIZES:
        whole = torch.randn(size // 4, device="cuda")
        other = torch.empty_like(whole)
        part = torch.empty(size // 4 // SIZE, device="cuda")
        report("all_reduce", lambda: dist.all_reduce(whole), size, 2 * (SIZE - 1) / SIZE)
        report("all_gather", lambda: dist.all_gather_into_tensor(other, part), size, (SIZE - 1) / SIZE)
        report("reduce_scatter", lambda: dist.reduce_scatter_tensor(part, whole), size, (SIZE - 1) / SIZE)
    dist.destroy_process_group()


main()
