#!/bin/sh
# gpuceil mfu: the published examples from the command line, every way to name a model and a peak,
# and what is said about input that cannot be.
. tests/scripts/tap.sh
. tests/worlds.sh

export GPUCEIL_LIB_NVML=/nonexistent/libnvidia-ml.so.1

# mfu STATUS NAME OPTION...: runs it, leaves its words in $out on one line.
mfu() {
	want=$1 name=$2
	shift 2
	text=$("$gpuceil" mfu "$@" 2>&1)
	is $? "$want" "$name: exit status"
	out=$(printf '%s' "$text" | tr -s ' \n' ' ')
	has_not "$(echo "$text" | awk 'length > 100' | grep -v '^gpuceil:' | grep ' ')" "  " "$name: width"
}

# ---- published examples
mfu 0 "GPT-2" --model gpt2
has "$out" "6 x 124 439 808 746.6 MFLOP" "6 N"
has "$out" "12 x 12 x 12 x 64 x 1024 113.2 MFLOP" "12 L H Q T"
has "$out" "their sum 859.9 MFLOP" "859.9 MFLOP a token"
mfu 0 "nanoGPT's N" --model gpt2 --embeddings logits
has "$out" "855.2 MFLOP" "855.2"
mfu 0 "llm.c's half" --model gpt2 --convention causal
has "$out" "6 x 12 x 12 x 64 x 1024 56.62 MFLOP" "half of the attention"
has "$out" "803.3 MFLOP" "803.3"
has_not "$out" "no causal mask" "GPT-2 has a mask"
mfu 0 "no mask" --model bert-base --convention causal
has "$out" "12 x 12 x 12 x 64 x 512 56.62 MFLOP" "BERT's attention counts in full"
has "$out" "this model has no causal mask" "and that is told"
mfu 0 "nanoGPT's notebook" --model gpt2 --convention products --step-time 0.755 --batch 100 \
	--part "A100 40GB SXM"
has "$out" "batch 100 / 0.755 s 132.5 /s" "its rate"
has "$out" "115.9 / 312.0 TFLOP/s at 1410 MHz mfu 37.1 %" "37.1 %"
mfu 0 "PaLM" --model palm-540b --tokens-per-s 238.3e3 --gpu-count 6144 --peak-tflops 275
has "$out" "mfu 46.2 %" "46.2 %"
mfu 0 "the worked example" --params 1e12 --convention 6n --tokens-per-s 1.6666666667 \
	--peak-tflops 312
has "$out" "mfu 3.2 %" "1e12 / (312e12 x 0.1) is 3.2 %, not 32 %"

# ---- models
mfu 0 "a config.json" --config tests/data/configs/mixtral-8x7b.json --seq 4096 --breakdown
has "$out" "2 of 8 experts of 14336" "its experts"
has "$out" "12 879 925 248" "its active parameters"
has "$out" "ffn gate" "the breakdown"
mfu 0 "listed layers" --config tests/data/configs/gpt-oss-20b.json --seq 4096
has_not "$out" "sliding_window_pattern" "need no pattern of the class"
mfu 0 "numbers" --layers 32 --hidden 4096 --heads 32 --kv-heads 8 --ffn 14336 --gated --untied \
	--vocab 128256 --seq 8192
has "$out" "8 029 995 008" "Llama 3 8B but for its norms"
mfu 0 "the table" --model list
has "$out" "gpt2-medium 354.8 M" "has GPT-2 medium"
mfu 2 "a mistyped model" --model gpt2-larg
has "$out" "did you mean 'gpt2-large'?" "gets a suggestion"
mfu 2 "two models" --model gpt2 --layers 12
has "$out" "give one of them" "are refused"
mfu 2 "experts of no number" --layers 12 --hidden 768 --heads 12 --seq 128 --active-experts 2
has "$out" "--active-experts needs --experts" "are refused"
mfu 2 "a gated GPT-2" --model gpt2 --gated
has "$out" "--gated says more of --layers" "is refused"
mfu 2 "untied parameters" --params 7e9 --convention 6n --untied
has "$out" "--untied says more of --layers" "are refused"
mfu 2 "a vocabulary of parameters" --params 7e9 --convention 6n --vocab 50257
has "$out" "--vocab says more of --layers" "is refused"
mfu 2 "a decoder's source" --model gpt2 --source-seq 100
has "$out" "--source-seq: gpt2 is no encoder-decoder" "is refused"
mfu 0 "an encoder's source" --model t5-base --source-seq 100
mfu 2 "no model" --tokens-per-s 5
has "$out" "no model" "is refused"
mfu 2 "a state-space model" --config tests/data/configs/mamba-130m.json
has "$out" "a mamba cannot be counted" "is refused by name"
mfu 2 "parameters alone" --params 7e9
has "$out" "--convention 6n" "allow only 6 N"
mfu 2 "a name and a file" --model llama3-8b --config x
has "$out" "give one of them" "one model at a time"

mfu 0 "a longer sample" --model gpt2 --seq 2048
has "$out" "--seq 2048 is over the 1024 positions that gpt2 learned" "than its positions is warned about"
mfu 0 "another" --model llama3-8b --seq 16384
has_not "$out" "positions that" "is not, where positions are rotated"

# ---- peaks
mfu 0 "any A100" --model gpt2 --tokens-per-s 1e5 --part A100
has "$out" "312.0 TFLOP/s" "has one figure"
mfu 2 "an H100" --model gpt2 --tokens-per-s 1e5 --part H100
has "$out" "which one? H100 SXM, H100 PCIe, H100 NVL" "has several"
for part in "A100 SXM 80GB" "NVIDIA A100-SXM4-80GB"; do
	mfu 0 "$part" --model gpt2 --tokens-per-s 1e5 --part "$part"
	has "$out" "A100 80GB SXM, bf16 dense" "is known"
done
mfu 0 "a T4 as nvidia-smi names it" --model gpt2 --tokens-per-s 1e4 --part "Tesla T4" --dtype fp16
has "$out" "T4, fp16 dense" "is known"
mfu 0 "a V100" --model gpt2 --tokens-per-s 1e4 --part "Tesla V100-SXM2-32GB" --dtype fp16
has "$out" "V100 SXM2 32GB, fp16 dense" "is known"
mfu 0 "an old driver's GeForce" --model gpt2 --tokens-per-s 1e4 --part "GeForce RTX 4090"
has "$out" "RTX 4090, bf16 dense" "is known"
mfu 0 "a part after its maker" --model gpt2 --tokens-per-s 1e4 --part "NVIDIA A100"
has "$out" "312.0 TFLOP/s" "is known too"
mfu 2 "a laptop's part" --model gpt2 --tokens-per-s 1e4 \
	--part "NVIDIA GeForce RTX 4090 Laptop GPU"
has "$out" "not in the table" "is another one"
mfu 2 "a part of another name" --model gpt2 --tokens-per-s 1e5 --part "A100 SXM4"
has "$out" "not in the table, which has A100 40GB SXM, A100 80GB SXM" "lists those that are alike"
mfu 2 "another maker's" --model gpt2 --tokens-per-s 1e5 --part MI300X
has "$out" "--peak-tflops takes a figure of your own" "is told what helps"
mfu 2 "an unknown part" --model gpt2 --tokens-per-s 1e5 --part "RTX 4091"
has "$out" "did you mean 'RTX 4090'?" "gets a suggestion"
mfu 2 "no peak" --model gpt2 --tokens-per-s 1e5
has "$out" "--peak-tflops" "says what to give"
mfu 2 "an unknown type" --model gpt2 --tokens-per-s 1e5 --part A100 --dtype bf61
has "$out" "bf16" "gets a suggestion"
mfu 2 "a type without a figure" --model gpt2 --tokens-per-s 1e5 --part A100 --dtype e4m3
has "$out" "no e4m3 figure is known" "is told"

mfu 0 "a type left out" --model gpt2 --tokens-per-s 5e4 --part "RTX 3090"
has "$out" "theoretical 42.99 / 71.16 TFLOP/s at 1695 MHz mfu 60.4 %" "has a theoretical peak"
mfu 0 "a sparse figure" --model gpt2 --tokens-per-s 1e5 --peak-tflops 1979
has "$out" "1979 is the sparse bf16 figure of H100 SXM; the dense one is 989.4" "is warned about"
mfu 0 "a dense figure" --model gpt2 --tokens-per-s 1e5 --peak-tflops 312
has_not "$out" "sparse" "is not"
mfu 0 "sums in fp16" --model gpt2 --tokens-per-s 1e5 --peak-tflops 330.3 --dtype fp16
has_not "$out" "sparse" "are dense too"
mfu 0 "another vendor's" --model gpt2 --tokens-per-s 1e5 --peak-tflops 1307.4
has_not "$out" "sparse" "is not"

# ---- ceilings
mkdir -p "$work/run"
csv=$work/run/ceilings.csv
{
	echo "host,device,gpu_name,gpu_uuid,ceiling,value,unit,theoretical,datasheet,datasheet_clock_mhz,clock_mhz,power_w,status,dtype_in,dtype_acc,regime,pattern,m,n,k,format_version"
	for gpu in 0 1; do
		echo "n1,gpu$gpu,NVIDIA H200,GPU-$gpu,gemm.bf16.burst,79$gpu,TFLOP/s,1070.5,989.4,1830,1900,,ok,bf16,fp32,burst,normal,8192,8192,8192,1"
		echo "n1,gpu$gpu,NVIDIA H200,GPU-$gpu,gemm.bf16.sustained,70$gpu,TFLOP/s,1070.5,989.4,1830,1500,700,ok,bf16,fp32,sustained,normal,8192,8192,8192,1"
		echo "n1,gpu$gpu,NVIDIA H200,GPU-$gpu,dram.copy,4300,GB/s,4814,4800,,,,ok,fp32,,,normal,,,,1"
	done
} >"$csv"
mfu 0 "a run's folder" --model llama3-8b --tokens-per-s 64e3 --gpu-count 8 --ceilings "$work/run"
has "$out" "NVIDIA H200, bf16 dense; slowest GPU: n1 gpu0" "the slowest GPU divides"
has "$out" "989.4 TFLOP/s at 1830 MHz mfu" "mfu over the datasheet"
has "$out" "700.0 TFLOP/s at 1500 MHz of_sustained" "and of_sustained by its name"
mfu 0 "another part" --model gpt2 --tokens-per-s 1e5 --ceilings "$csv" --part "A100 40GB SXM"
has "$out" "was measured on a NVIDIA H200, not on a A100 40GB SXM" "is warned about"
sed 's/NVIDIA H200/NVIDIA H200 NVL/' "$csv" >"$work/nvl.csv"
mfu 0 "a part of nearly the same name" --model gpt2 --tokens-per-s 1e5 --ceilings "$work/nvl.csv" \
	--part "H200 SXM"
has "$out" "was measured on a NVIDIA H200 NVL, not on a H200 SXM" "is another"
mfu 0 "the same part" --model gpt2 --tokens-per-s 1e5 --ceilings "$csv" --part "H200 SXM"
has_not "$out" "was measured on" "is not"
mfu 0 "a whole run" --model gpt2 --tokens-per-s 1e5 --ceilings results/reference/h200
has "$out" "/ 1071 TFLOP/s at 1980 MHz of_theoretical" "has the clock of the theoretical peak"
mfu 2 "a type that was not measured" --model gpt2 --tokens-per-s 1e5 --ceilings "$csv" --dtype fp16
has "$out" "has no fp16 products" "is told"
sed 's/,1$/,0/' "$csv" >"$work/old.csv"
mfu 2 "an old format" --model gpt2 --tokens-per-s 1e5 --ceilings "$work/old.csv"
has "$out" "format version 0; this program reads version 1" "is refused"
mfu 2 "no file" --model gpt2 --tokens-per-s 1e5 --ceilings "$work/none.csv"
has "$out" "No such file" "is named"
if [ -e "$fakes/nvml.so" ]; then
	GPUCEIL_LIB_NVML="$fakes/nvml.so" mfu 0 "another card" --model gpt2 --tokens-per-s 1e5 \
		--ceilings "$csv"
	has "$out" "(GPU-0), which is not in this machine" "is warned about"
fi

# ---- rates that cannot be
mfu 2 "no batch" --model gpt2 --step-time 1 --part A100
has "$out" "--step-time needs --batch" "is told"
mfu 2 "both rates" --model gpt2 --step-time 1 --batch 1 --tokens-per-s 1 --part A100
has "$out" "not both" "are refused"
mfu 2 "no time" --model gpt2 --step-time 0 --batch 1 --part A100
has "$out" "must be positive" "is refused"
mfu 2 "a negative rate" --model gpt2 --tokens-per-s=-5 --part A100
has "$out" "--tokens-per-s is -5; it must be positive" "is refused, in the unit that was given"
for count in seq batch vocab gpu-count; do
	mfu 2 "no $count" --model gpt2 --tokens-per-s 5 --part A100 "--$count" 0
	has "$out" "--$count is 0; it must be at least 1" "is refused, not taken for none given"
done
mfu 2 "a negative peak" --model gpt2 --tokens-per-s 5 --peak-tflops=-312
has "$out" "peak is -312" "is refused"
mfu 2 "FLOP/s" --model gpt2 --tokens-per-s 5 --peak-tflops 312e12
has "$out" "--peak-tflops is 3.12e+14; it is in TFLOP/s" "are not TFLOP/s"
mfu 2 "next to no peak" --model gpt2 --tokens-per-s 5 --peak-tflops 1e-300
has "$out" "from 0.001 to 1e+06" "is refused"
mfu 2 "too many parameters" --params 1e18 --convention 6n --tokens-per-s 5 --part A100
has "$out" "--params is 1e+18; at most 1e+17" "are refused"
mfu 2 "a rate beyond numbers" --params 1e17 --convention 6n --tokens-per-s 1e300 --part A100
has "$out" "1e+300 samples/s are beyond any number" "is refused"
mfu 0 "eight GPUs as one" --model llama3-8b --tokens-per-s 64e3 --part "H200 SXM"
has "$out" "above 100 %: an input is wrong" "is impossible"
has "$out" "whole node of 8 GPUs: --gpu-count" "and the number of GPUs is suspected"
mfu 0 "four nodes as one" --model llama3-8b --tokens-per-s 256e3 --gpu-count 8 --part "H200 SXM"
has "$out" "more GPUs than --gpu-count says" "more of them are suspected"
mfu 0 "one GPU of many" --model llama3-8b --tokens-per-s 8e3 --gpu-count 512 --part "H200 SXM"
has "$out" "this looks like the rate of one GPU" "the rate is suspected"
mfu 2 "a word too many" --model gpt2 fast
has "$out" "what is 'fast'?" "is refused"

# ---- the bound
for option in --records=. --dram-gb-s=5 --all-reduce-gb-s=5; do
	mfu 2 "$option without a bound" --model gpt2 --tokens-per-s 1e5 --part A100 "$option"
	has "$out" "${option%=*} needs --attainable or --sweep-batch" "is told what it needs"
done
mfu 2 "memory without a sweep" --model gpt2 --attainable --part A100 --dram-gb-s 5 --gpu-memory-gib 80
has "$out" "--gpu-memory-gib needs --sweep-batch" "is told what it needs"
mfu 2 "a batch that GPUs cannot share" --model gpt2 --batch 12 --gpu-count 8 --step-time 1 --attainable \
	--part A100 --dram-gb-s 1400
has "$out" "--batch 12: 8 GPUs cannot have the same whole number" "is told"
mfu 0 "no memory given" --model gpt2 --sweep-batch --part A100 --dram-gb-s 1400
has "$out" "within 5 % of the best" "names a batch"
has_not "$out" "that fits" "without a word of what fits"
mfu 0 "attainable" --model llama3-8b --seq 4096 --batch 4 --attainable --sweep-batch \
	--gpu-memory-gib 400 --ceilings "$work/run"
has "$out" "mfu at most" "the bound"
has "$out" "mfu when hot with products at 88.6 % of their rates, as sustained" "and what heat leaves"
has "$out" "Adam" "the optimizer"
has "$out" "of other shapes than their own" "rates that were not measured are told"
has "$out" "within 5 % of the best that fits" "the batch to take"
has "$out" "does not fit" "and the first that does not fit"
has_not "$out" "of_bound" "nothing measured, nothing to hold against it"
mfu 0 "a step beside its bound" --model gpt2 --batch 16 --gpu-count 2 --step-time 0.1 --attainable \
	--part A100 --dram-gb-s 1400
ms=$(printf '%s\n' "$out" | awk '$1 == "step" { print $(NF - 1) }')
want=$(awk "BEGIN { printf \"of_bound %.1f of 100.0 ms, as measured %.1f %%\", $ms, $ms }")
has "$out" "$want" "is told in time, for one GPU's half of the batch"
mfu 0 "a step above its bound" --model gpt2 --batch 16 --step-time 0.01 --attainable \
	--part A100 --dram-gb-s 1400
has "$out" "above the bound: --batch, --seq or --gpu-count is not that of the step" "is doubted"
mfu 2 "no memory ceiling" --model gpt2 --batch 8 --attainable --part A100
has "$out" "--dram-gb-s" "says what to give"
mfu 0 "given ceilings" --model gpt2 --batch 8 --attainable --part A100 --dram-gb-s 1400
has "$out" "ceiling" "the peak stands for every shape"
bound_of_two() {
	mfu 0 "$@" --model llama3-8b --batch 2 --gpu-count 2 --attainable --part A100 --dram-gb-s 1400
}
bound_of_two "no link"
has "$out" "all-reduce not counted: --all-reduce-gb-s gives its ceiling" "is told"
bound_of_two "a fast link" --all-reduce-gb-s 300
has "$out" "all-reduce the backward pass hides all of it" "costs nothing, which is told"
bound_of_two "a slow link" --all-reduce-gb-s 3
has "$out" "all-reduce exposed" "is a part of the step"
has_not "$out" "hides all of it" "that nothing hides"
mfu 2 "no sizes" --params 7e9 --convention 6n --attainable --part A100 --dram-gb-s 1400
has "$out" "needs the model's sizes" "are needed"

mfu 0 "shapes" --model gpt2 --batch 8 --shapes
has "$out" "m,n,k,dtype,count,layout 2304,8192,768,bf16,12,TN 768,8192,2304,bf16,12,NN \
768,2304,8192,bf16,12,NT" "a list for the bench"
mfu 0 "shapes of a GPU of four" --model gpt2 --batch 32 --gpu-count 4 --tokens-per-s 1 --part A100 \
	--shapes
has "$out" "2304,8192,768," "a step of the whole job is shared"
mfu 0 "a padded vocabulary" --model gpt2 --vocab 50304 --batch 8 --shapes
has "$out" "50304,8192,768,bf16,1,TN" "is that of the product"
mfu 0 "shapes of 8 bits" --model gpt2 --vocab 50304 --batch 8 --dtype e4m3 --shapes
has_not "$out" "NT" "are all TN"
"$gpuceil" mfu --model gpt2 --vocab 50304 --batch 8 --dtype e4m3 --shapes >"$work/shapes.csv"
"$gpuceil" bench gemm --shapes "$work/shapes.csv" --backend host --dry-run >"$work/dry.txt" 2>&1
has_not "$(cat "$work/dry.txt")" "shapes.csv:" "the bench reads them"
"$gpuceil" mfu --model gpt2 --batch 8 --shapes >"$work/shapes.csv"
"$gpuceil" bench gemm --shapes "$work/shapes.csv" --backend host --dry-run >"$work/dry.txt" 2>&1
has_not "$(cat "$work/dry.txt")" "shapes.csv:" "in every layout"
mfu 2 "a vocabulary cut short" --model gpt2 --vocab 50000
has "$out" "--vocab is 50000; gpt2 has 50257 tokens" "is refused"
mkdir -p "$work/own"
{
	head -1 "$csv"
	"$gpuceil" mfu --model gpt2 --batch 8 --shapes | awk -F, 'NR > 1 {
		print "n1,gpu0,NVIDIA H200,GPU-0,gemm.bf16." $1 "x" $2 "x" $3 ".burst,600,TFLOP/s,,,,,,ok,bf16,fp32,burst,normal," $1 "," $2 "," $3 ",1" }'
} >"$work/own/records.csv"
mfu 0 "own products" --model gpt2 --batch 8 --attainable --ceilings "$work/run" --records "$work/own"
has_not "$out" "other shapes than their own" "each has a rate of its own"
has "$out" "at the best rate of any product" "but attention"
echo "n1,gpu0,NVIDIA H200,GPU-0,gemm.bf16_batched.burst,444,TFLOP/s,,,,,,ok,bf16,fp32,burst,normal,1024,1024,1024,1" \
	>>"$work/own/records.csv"
mfu 0 "batches" --model gpt2 --batch 8 --attainable --ceilings "$work/run" --records "$work/own/records.csv"
has "$out" "at the rate of batched products" "give attention's"
has "$out" "444.0 TFLOP/s" "rate"
sed 's/GPU-0/GPU-9/' "$work/own/records.csv" >"$work/other.csv"
mfu 0 "another card's products" --model gpt2 --batch 8 --attainable --ceilings "$work/run" \
	--records "$work/other.csv"
has "$out" "was measured on another card (NVIDIA H200 GPU-9)" "are warned about"
mfu 2 "no products" --model gpt2 --batch 8 --attainable --ceilings "$work/run" --records "$work/own" \
	--dtype fp16 --peak-tflops 5
has "$out" "has no fp16 products" "are refused"
mfu 2 "denominators as records" --model gpt2 --batch 8 --attainable --ceilings "$work/run" \
	--records /dev/null
has "$out" "not a run's records" "are refused"
mfu 2 "shapes of nothing" --params 7e9 --convention 6n --shapes
has "$out" "--shapes needs the model" "need a model"

done_testing
