"""A well-tuned GPT-2 medium training step in plain PyTorch: tokens/s, memory, the time of each matrix
product and of every other kernel, and FLOPs as PyTorch counts them; a JSON object a line into argv[1].

A peer of `gpuceil mfu --attainable`: about 75 s on an H200. Beside it on the same GPU
    gpuceil mfu --model gpt2-medium --vocab 50304 --batch 16 --shapes > shapes.csv
    gpuceil bench gemm --shapes shapes.csv --dtype bf16 --backend cuda --budget 45s --output own
    gpuceil bench dram gemm --backend cuda --output node \\
        --variant copy.keep.x1.t256.fp32,cublaslt.bf16,cublaslt.bf16_batched
then, with the best tokens/s X that this script wrote,
    gpuceil mfu --model gpt2-medium --vocab 50304 --batch 16 --tokens-per-s X --attainable \\
        --ceilings node --records own
"products_ms" of a step stands beside "products" of that bound, "products" beside its rows: m, n, k
are in columns, as gpuceil has them.
"""
import json, os, sys, time
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

CUDA = torch.cuda.is_available()
DEV = "cuda" if CUDA else "cpu"
TINY = not CUDA
T, B, L, H, C, V, V_TRUE = (1024, 16, 24, 16, 1024, 50304, 50257) if not TINY else (64, 2, 2, 2, 128, 512, 500)
OUT = open(sys.argv[1], "a")


def put(**row):
    OUT.write(json.dumps(row) + "\n")
    OUT.flush()
    print(json.dumps(row), flush=True)


class Block(nn.Module):
    def __init__(self, c, h):
        super().__init__()
        self.h = h
        self.ln1, self.ln2 = nn.LayerNorm(c), nn.LayerNorm(c)
        self.qkv, self.out = nn.Linear(c, 3 * c), nn.Linear(c, c)
        self.up, self.down = nn.Linear(c, 4 * c), nn.Linear(4 * c, c)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.h, c // self.h).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))


class GPT2(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, C), nn.Embedding(T, C)
        self.blocks = nn.ModuleList(Block(C, H) for _ in range(L))
        self.ln = nn.LayerNorm(C)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def forward(self, idx, target):
        x = self.wte(idx) + self.wpe(torch.arange(idx.shape[1], device=idx.device))
        for b in self.blocks:
            x = b(x)
        return self.loss(self.ln(x), target)

    def loss(self, x, target):
        logits = F.linear(x, self.wte.weight)
        return F.cross_entropy(logits.flatten(0, 1).float(), target.flatten())


class Llama(nn.Module):
    """One block of Llama 3 8B: grouped heads, rotation, gated feed-forward, RMS norms."""

    def __init__(self, c, h, kv, ffn):
        super().__init__()
        self.h, self.kv, self.d = h, kv, c // h
        self.n1, self.n2 = nn.RMSNorm(c), nn.RMSNorm(c)
        self.q, self.o = nn.Linear(c, c, bias=False), nn.Linear(c, c, bias=False)
        self.k, self.v = (nn.Linear(c, kv * self.d, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(c, ffn, bias=False) for _ in range(2))
        self.down = nn.Linear(ffn, c, bias=False)

    def rotate(self, x):
        t, d = x.shape[2], self.d
        f = torch.outer(torch.arange(t, device=x.device), 5e5 ** (-torch.arange(0, d, 2, device=x.device) / d))
        a, b = x.chunk(2, -1)
        cos, sin = f.cos().to(x.dtype), f.sin().to(x.dtype)
        return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)

    def forward(self, x):
        b, t, c = x.shape
        n = self.n1(x)
        q = self.rotate(self.q(n).view(b, t, self.h, self.d).transpose(1, 2))
        k = self.rotate(self.k(n).view(b, t, self.kv, self.d).transpose(1, 2))
        v = self.v(n).view(b, t, self.kv, self.d).transpose(1, 2)
        k, v = (x.repeat_interleave(self.h // self.kv, 1) for x in (k, v))  # FlopCounterMode knows no groups
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, c))
        n = self.n2(x)
        return x + self.down(F.silu(self.gate(n)) * self.up(n))


def split_counts(counter):
    g = counter.get_flop_counts()["Global"]
    s = {"products": 0, "attention": 0}
    for op, n in g.items():
        s["attention" if "attention" in str(op) else "products"] += n
    s["ops"] = {str(k): v for k, v in g.items()}
    return s


def count_flops():
    torch.manual_seed(1)
    m = GPT2(V_TRUE).to(DEV, torch.bfloat16)
    idx = torch.randint(0, V_TRUE, (1, T), device=DEV)
    with FlopCounterMode(display=False) as f:
        m(idx, idx).backward()
    put(what="flops", model="gpt2-medium, one sample", params=sum(p.numel() for p in m.parameters()), **split_counts(f))
    del m
    c, h, kv, ffn, t = (4096, 32, 8, 14336, 8192) if not TINY else (64, 4, 2, 128, 32)
    b = Llama(c, h, kv, ffn).to(DEV, torch.bfloat16)
    x = torch.randn(1, t, c, device=DEV, dtype=torch.bfloat16, requires_grad=True)
    with FlopCounterMode(display=False) as f:
        b(x).sum().backward()
    put(what="flops", model="llama3-8b block, one sample of 8192", params=sum(p.numel() for p in b.parameters()), **split_counts(f))


KINDS = (("attention", ("flash", "fmha", "sdpa", "attention", "cudnn")),
         ("gemm", ("gemm", "nvjet", "cutlass", "xmma", "splitk", "cublas", "s16816", "sm90_")))


def kind_of(name):
    low = name.lower()
    if "adam" in low or "multi_tensor" in low:
        return "optimizer"
    if low.startswith("triton"):  # fused element-wise kernels carry the names of what they fuse
        return "other"
    for kind, words in KINDS:
        if any(w in low for w in words):
            return kind
    return "other"


def on_gpu(e):
    return str(e.device_type).endswith("CUDA")


def product_of(e, n):
    """(m, n, k, how often a step has it, ms of one, TFLOP/s) of an event of aten::mm or aten::addmm."""
    a, b = [x for x in e.input_shapes if len(x) == 2][:2] if e.key == "aten::mm" else e.input_shapes[1:3]
    ms = getattr(e, "self_device_time_total", 0) / e.count * 1e-3
    flops = 2 * a[0] * a[1] * b[1]
    return b[1], a[0], a[1], e.count / n, round(ms, 4), round(flops / ms * 1e-9, 1) if ms else 0


def profile(step, n):
    from torch.profiler import profile as prof, ProfilerActivity
    sums, names = {}, {}
    acts = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if CUDA else [])
    with prof(activities=acts, record_shapes=True) as p:
        for _ in range(n):
            step()
        sync()
    for e in p.key_averages():
        us = e.self_device_time_total if CUDA else e.self_cpu_time_total
        if us <= 0 or on_gpu(e) != CUDA or e.key.startswith(("##", "Optimizer.", "ProfilerStep", "Torch-")):
            continue
        k = kind_of(e.key)
        sums[k] = sums.get(k, 0) + us / n * 1e-3
        names[e.key] = (round(us / n * 1e-3, 3), e.count // n)
    products = [product_of(e, n) for e in p.key_averages(group_by_input_shape=True)
                if e.key in ("aten::mm", "aten::addmm") and not on_gpu(e)]
    top = sorted(names.items(), key=lambda x: -x[1][0])[:24]
    return {"kernel_ms": {k: round(v, 3) for k, v in sums.items()},
            "products_ms": round(sum(p[3] * p[4] for p in products), 3),
            "products": sorted(products, key=lambda p: -p[3] * p[4]),
            "top": [(k[:90],) + v for k, v in top]}


def sync():
    if CUDA:
        torch.cuda.synchronize()


def timed(step, steps, each):
    """Mean ms of steps in a row (each=False), or the best ms of steps waited for one by one."""
    times, t0 = [], time.perf_counter()
    for _ in range(steps):
        step()
        if each:
            sync()
            times.append(time.perf_counter() - t0)
            t0 = time.perf_counter()
    sync()
    return 1e3 * (min(times) if each else (time.perf_counter() - t0) / steps)


def make_step(m, autocast):
    opt = torch.optim.AdamW(m.parameters(), lr=1e-4, fused=CUDA)
    idx = torch.randint(0, V_TRUE, (B, T + 1), device=DEV)

    def step():
        with torch.autocast(DEV, torch.bfloat16, enabled=autocast):
            loss = m(idx[:, :-1], idx[:, 1:])
        loss.backward()
        opt.step()
        opt.zero_grad(set_to_none=True)
        return loss

    return step


def measure(name, m, autocast, steps, long_steps=0):
    step, t0 = make_step(m, autocast), time.time()
    for _ in range(3):
        step()
    sync()
    warm = time.time() - t0
    if CUDA:
        torch.cuda.reset_peak_memory_stats()
    best, mean = timed(step, steps, True), timed(step, steps, False)
    memory = torch.cuda.max_memory_allocated() if CUDA else 0
    found = profile(step, 3)
    hot = timed(step, long_steps, False) if long_steps else None
    put(what="step", name=name, batch=B, seq=T, vocab=V, ms=round(mean, 3), best_ms=round(best, 3),
        hot_ms=hot and round(hot, 3), tokens_per_s=round(1e3 * B * T / mean, 1),
        best_tokens_per_s=round(1e3 * B * T / best, 1), warm_s=round(warm, 1), memory_bytes=memory,
        loss=round(step().item(), 3), **found)


def attempt(name, fn):
    try:
        fn()
    except Exception as e:
        put(what="failed", name=name, why=f"{type(e).__name__}: {str(e)[-300:]}")


def compiled(m):
    # Blocks are alike: one compilation serves all.
    for b in m.blocks:
        b.compile()
    m.loss = torch.compile(m.loss)
    return m


def fp32_copies():
    """As the bound counts it: fp32 parameters and moments, bf16 at work."""
    attempt("autocast", lambda: measure("compiled, autocast, fp32 parameters", compiled(GPT2(V).to(DEV)), True, 12))


def main():
    torch.manual_seed(1)
    put(what="torch", version=torch.__version__, cuda=torch.version.cuda, gpu=torch.cuda.get_device_name() if CUDA else "none",
        uuid=str(torch.cuda.get_device_properties(0).uuid) if CUDA else "")
    m = GPT2(V).to(DEV, torch.bfloat16)
    attempt("eager", lambda: measure("eager, bf16 throughout", m, False, 12))
    attempt("compiled", lambda: measure("compiled, bf16 throughout", compiled(m), False, 12, 100 if CUDA else 0))
    attempt("flops", count_flops)
    if CUDA:
        torch.backends.cuda.preferred_blas_library("cublaslt")
        attempt("cublaslt", lambda: measure("compiled, bf16 throughout, cuBLASLt for all products", m, False, 12))
        torch.backends.cuda.preferred_blas_library("cublas")
    fp32_copies()


main()
