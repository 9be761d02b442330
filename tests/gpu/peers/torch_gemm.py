"""A plain peer: PyTorch's matrix products by the burst protocol, random normal data.

torch_gemm.py [type,... [m n k]]
"""
import statistics
import sys
import time

import torch


def burst(launch, flops):
    """Median rate of 7 bursts: idle 150 ms, then at most 25 ms of work between two events."""
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def timed(batch):
        start.record()
        for _ in range(batch):
            launch()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) / batch

    launch()
    torch.cuda.synchronize()
    one = min(timed(2) for _ in range(3))
    batch = max(1, int(25.0 / one))
    times = []
    for _ in range(7):
        time.sleep(0.15)
        times.append(timed(batch))
    return flops / statistics.median(times) * 1e-9


def products(name, m, n, k):
    """Ways to multiply: (label, launch). 'nn' is row-major A B, 'nt' row-major A B^T."""
    cuda = {"device": "cuda"}
    one = torch.ones((), **cuda)
    torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
    plain = {"bf16": torch.bfloat16, "fp16": torch.float16, "tf32": torch.float32,
             "fp32": torch.float32, "fp64": torch.float64}
    if name in plain:
        t = plain[name]
        a = torch.randn(m, k, dtype=t, **cuda)
        b = torch.randn(k, n, dtype=t, **cuda)
        bt = torch.randn(n, k, dtype=t, **cuda)
        c = torch.empty(m, n, dtype=t, **cuda)
        return [("matmul", lambda: torch.matmul(a, b, out=c)),
                ("matmul(B.t)", lambda: torch.matmul(a, bt.t(), out=c))]
    if name in ("e4m3", "e4m3_fast"):
        t = torch.float8_e4m3fn
        a = torch.randn(m, k, **cuda).to(t)
        bt = torch.randn(n, k, **cuda).to(t)
        fast = name == "e4m3_fast"
        return [("_scaled_mm", lambda: torch._scaled_mm(
            a, bt.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=fast))]
    if name == "int8":
        a = (32 * torch.randn(m, k, **cuda)).clamp(-128, 127).to(torch.int8)
        bt = (32 * torch.randn(n, k, **cuda)).clamp(-128, 127).to(torch.int8)
        return [("_int_mm", lambda: torch._int_mm(a, bt.t()))]
    raise SystemExit(f"no type {name}")


def main():
    names = sys.argv[1].split(",") if len(sys.argv) > 1 else [
        "bf16", "fp16", "tf32", "fp32", "fp64", "e4m3", "e4m3_fast", "int8"]
    m, n, k = (int(x) for x in sys.argv[2:5]) if len(sys.argv) > 4 else (8192, 8192, 8192)
    print(f"# torch {torch.__version__} cuda {torch.version.cuda} {torch.cuda.get_device_name()}")
    for name in names:
        try:
            for label, launch in products(name, m, n, k):
                rate = burst(launch, 2.0 * m * n * k)
                print(f"peer_torch {name} {m}x{n}x{k} {label}: {rate:.2f} T/s", flush=True)
        except RuntimeError as e:
            print(f"peer_torch {name}: {str(e).splitlines()[0]}", flush=True)


main()
