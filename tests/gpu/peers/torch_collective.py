"""torch.distributed by the burst protocol of collectives: the peer of `gpuceil bench collective --mpi`.

mpirun -np N python3 torch_collective.py: busbw of the slowest rank, GB/s, for three sizes.
"""
import os, sys, time, torch, torch.distributed as dist
rank, n = int(os.environ["OMPI_COMM_WORLD_RANK"]), int(os.environ["OMPI_COMM_WORLD_SIZE"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29511", rank=rank, world_size=n)
def run(name, fn, b, f):
    for _ in range(5): fn()
    torch.cuda.synchronize()
    e0, e1 = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    fn(); k = max(3, int(0.02 / max(1e-5, b / 300e9)))
    k = min(k, 500); t = []
    for _ in range(9):
        dist.barrier(); torch.cuda.synchronize(); e0.record()
        for _ in range(k): fn()
        e1.record(); torch.cuda.synchronize(); t.append(e0.elapsed_time(e1) * 1e-3 / k)
    m = torch.tensor([sorted(t)[len(t) // 2]], device="cuda"); dist.all_reduce(m, op=dist.ReduceOp.MAX)
    if rank == 0: print(f"torch {name} {b} B: {m.item()*1e6:.3f} us  busbw {b/m.item()*1e-9*f:.2f} GB/s", flush=True)
for b in (1 << 26, 1 << 28, 1 << 30):
    x = torch.randn(b // 4, device="cuda"); y = torch.empty_like(x); p = torch.empty(b // 4 // n, device="cuda")
    run("all_reduce", lambda: dist.all_reduce(x), b, 2 * (n - 1) / n)
    run("all_gather", lambda: dist.all_gather_into_tensor(y, p), b, (n - 1) / n)
    run("reduce_scatter", lambda: dist.reduce_scatter_tensor(p, y), b, (n - 1) / n)
dist.destroy_process_group()
