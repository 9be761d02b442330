"""A plain peer: PyTorch's matrix products by the burst protocol, random normal data.

torch_gemm.py [type,... [MxNxK[.nn|.nt|.tt],...]]

There is no gate: some 0.2 ms pass before the first kernel, so a sample must not be shorter.
Shapes and layouts are written as in records.csv: column-major, so what PyTorch calls rows is n.
"""
import statistics
import sys
import time

import torch

CUDA = {"device": "cuda"}
PLAIN = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp16_acc16": torch.float16,
         "tf32": torch.float32, "fp32": torch.float32, "fp64": torch.float64}
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
EIGHT_BITS = {"e4m3": E4M3, "e4m3_fast": E4M3, "e5m2": E5M2, "e5m2_fast": E5M2}
SHAPES = "8192x8192x8192"


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
    one = min(timed(2) for _ in range(2))
    batch = max(1, int(25.0 / one))
    times = []
    for _ in range(7):
        time.sleep(0.15)
        times.append(timed(batch))
    return flops / statistics.median(times) * 1e-9


def operands(m, n, k, layout, random):
    """PyTorch's two factors of C' (n x m): what column-major calls B' and A', as stored."""
    left = random(k, n).t() if layout[1] == "t" else random(n, k)
    right = random(m, k).t() if layout[0] == "t" else random(k, m)
    return left, right


def product(name, m, n, k, layout):
    """A launch of the product."""
    if name in PLAIN:
        t = PLAIN[name]
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        torch.backends.cuda.matmul.allow_fp16_accumulation = name == "fp16_acc16"
        left, right = operands(m, n, k, layout, lambda r, c: torch.randn(r, c, dtype=t, **CUDA))
        out = torch.empty(n, m, dtype=t, **CUDA)
        return lambda: torch.matmul(left, right, out=out)
    if layout != "tn":
        raise RuntimeError("8-bit types are TN only")
    if name == "int8":
        left, right = operands(m, n, k, layout, lambda r, c: (
            32 * torch.randn(r, c, **CUDA)).clamp(-128, 127).to(torch.int8))
        return lambda: torch._int_mm(left, right)
    one = torch.ones((), **CUDA)
    left, right = operands(m, n, k, layout, lambda r, c: torch.randn(r, c, **CUDA))
    left, right = left.to(E4M3), right.t().to(EIGHT_BITS[name]).t()
    fast = name.endswith("_fast")
    return lambda: torch._scaled_mm(left, right, scale_a=one, scale_b=one,
                                    out_dtype=torch.bfloat16, use_fast_accum=fast)


def main():
    words = sys.argv[1:]
    names = words[0] if words else ",".join([*PLAIN, *EIGHT_BITS, "int8"])
    shapes = words[1] if len(words) > 1 else SHAPES
    print(f"# torch {torch.__version__} cuda {torch.version.cuda} {torch.cuda.get_device_name()}")
    for name in names.split(","):
        for shape in shapes.split(","):
            size, _, layout = shape.partition(".")
            m, n, k = (int(x) for x in size.split("x"))
            try:
                launch = product(name, m, n, k, layout or "tn")
                rate = burst(launch, 2.0 * m * n * k)
                print(f"peer_torch {name} {shape}: {rate:.2f} T/s", flush=True)
            except (RuntimeError, KeyError) as e:
                print(f"peer_torch {name} {shape}: {str(e).splitlines()[0]}", flush=True)


main()
