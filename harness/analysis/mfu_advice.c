/* What an MFU tells: bands with their reasons, and which input is likely wrong when it cannot be.
 */
#include "harness/analysis/mfu.h"

#include <math.h>

/* Published runs of large models: PaLM 540B 46.2 %, Llama 3 405B 38-43 %, Megatron-LM 1T 56.3 %. */
#define BANDS                                                                                      \
	"the layered method: 50-60 % is excellent, below 30 % serious, below 20 % a missing basic"

/* Where a corrected figure is believed. */
#define PLAUSIBLE_FROM 0.05
#define PLAUSIBLE_TO   0.75
/* No training loop that works at all is slower; a wrong unit is likelier. */
#define HARDLY_POSSIBLE 0.02

static bool within(double x, double from, double to)
{
	return x >= from && x < to;
}

static bool impossible(const struct ceil_mfu_facts *f)
{
	return f->mfu->mfu >= 1.0;
}

static bool above_published(const struct ceil_mfu_facts *f)
{
	return within(f->mfu->mfu, 0.65, 1.0);
}

static bool excellent(const struct ceil_mfu_facts *f)
{
	return within(f->mfu->mfu, 0.5, 0.65);
}

static bool usual(const struct ceil_mfu_facts *f)
{
	return within(f->mfu->mfu, 0.3, 0.5);
}

static bool serious(const struct ceil_mfu_facts *f)
{
	return within(f->mfu->mfu, 0.2, 0.3);
}

static bool missing_basics(const struct ceil_mfu_facts *f)
{
	return f->mfu->mfu < 0.2;
}

static bool no_figure(const struct ceil_mfu_facts *f)
{
	return isnan(f->mfu->mfu);
}

/* The job is near what this card holds: the rest is between the card and its datasheet. */
static bool card_is_the_limit(const struct ceil_mfu_facts *f)
{
	return within(f->mfu->ratio[CEIL_BY_SUSTAINED], 0.8, 1.0) && f->mfu->mfu < 0.65;
}

static bool above_sustained(const struct ceil_mfu_facts *f)
{
	return f->mfu->ratio[CEIL_BY_SUSTAINED] > 1.0 && f->mfu->mfu < 1.0;
}

static bool recomputes(const struct ceil_mfu_facts *f)
{
	return f->mfu->hardware_tflops > 1.05 * f->mfu->model_tflops;
}

static bool has_experts(const struct ceil_mfu_facts *f)
{
	for (size_t i = 0; f->model && i < f->model->block_count; i++)
		if (f->model->blocks[i].ffn.experts)
			return f->mfu->mfu < 0.5;
	return false;
}

/* Products of a narrow model do not fill a large GPU: 1024 wide is 64 tiles of 128 x 128. */
static bool narrow(const struct ceil_mfu_facts *f)
{
	return f->model && f->model->hidden < 2048 && f->mfu->mfu < 0.5;
}

static bool attention_dominates(const struct ceil_mfu_facts *f)
{
	return f->causal_in_full && f->in->flops.attention > 0.3 * f->in->flops.model;
}

static bool not_the_datasheet(const struct ceil_mfu_facts *f)
{
	return f->mfu->of_theoretical && !isnan(f->mfu->mfu);
}

static bool always(const struct ceil_mfu_facts *f)
{
	return !isnan(f->mfu->mfu) && f->mfu->mfu < 1.0;
}

const struct ceil_mfu_advice ceil_mfu_advices[] = {
	{"impossible", "above 100 %: an input is wrong, see below",
         "a rate cannot pass the peak it is divided by, short of a burst above the datasheet's "
         "clock",
         true, impossible},
	{"above published runs",
         "above what published runs of large models report: make sure of peak and convention",
         "PaLM 46.2 %, Llama 3 405B 43 %, Megatron-LM 1T 56.3 %", true, above_published},
	{"excellent", "50 % and more: excellent for a large dense model", BANDS, true, excellent},
	{"usual",
         "30-50 %: where most well-run jobs are; next: communication that is not overlapped, small "
         "products, element-wise kernels that are not fused",
         BANDS, true, usual},
	{"serious",
         "below 30 %: a serious bottleneck; see whether the GPU waits (data, launches, "
         "communication) before touching kernels",
         BANDS, true, serious},
	{"missing basics",
         "below 20 %: look for missing compilation (torch.compile), missing fused attention, fp32 "
         "where bf16 was meant, a batch that is too small",
         BANDS, true, missing_basics},
	{"no MFU", "no datasheet or theoretical peak is known here: only the named ratios stand",
         "measuring.md: MFU is one thing", true, no_figure},
	{"card, not job",
         "at 80 % or more of what this card sustains: the rest of the gap to the datasheet is its "
         "power limit and clock, which no change of the job wins back",
         "of_sustained", false, card_is_the_limit},
	{"above sustained",
         "above the sustained ceiling: attention counted in full does not all run, or the card was "
         "cooler or less power-bound than when it was calibrated",
         "of_sustained", false, above_sustained},
	{"recomputation",
         "recomputation takes part of the hardware's rate: HFU is above MFU, and freeing memory "
         "(sharding, a smaller micro-batch) would turn it into throughput",
         "Korthikanti et al., arXiv 2205.05198", false, recomputes},
	{"experts",
         "mixture of experts: small products per expert and all-to-all traffic hold it below the "
         "bands of dense models",
         "the bands are for large dense models", false, has_experts},
	{"narrow model",
         "a hidden size below 2048 gives products too small to fill a large GPU: a larger batch "
         "helps only until memory-bound kernels take over",
         "the bands are for large dense models", false, narrow},
	{"long context",
         "attention counted in full is a large part here, and a causal mask leaves half of it: "
         "compare with --convention causal",
         "llm.c counts half", false, attention_dominates},
	{"no datasheet figure",
         "no published figure is known for this type and part, so this MFU is over the theoretical "
         "peak",
         "measuring.md: MFU is one thing", false, not_the_datasheet},
	{"not a goal",
         "a larger batch raises MFU and may cost memory or convergence: judge it beside tokens/s "
         "and memory in use",
         "the layered method, layer 3", false, always},
};
const size_t ceil_mfu_advice_count = sizeof(ceil_mfu_advices) / sizeof(ceil_mfu_advices[0]);

/* ---- which input is wrong */

static double without_half_of_attention(const struct ceil_mfu_facts *f)
{
	const double half = 0.5 * f->in->flops.attention / f->in->flops.model;

	return f->causal_in_full && f->mfu->mfu >= 1.0 ? f->mfu->mfu * (1.0 - half) : (double)NAN;
}

/* fp8 runs at twice bf16's peak, bf16 at twice tf32's: the next type's peak is twice as high. */
static double over_twice_the_peak(const struct ceil_mfu_facts *f)
{
	return f->mfu->mfu >= 1.0 ? f->mfu->mfu / 2.0 : (double)NAN;
}

static double over_eight_gpus(const struct ceil_mfu_facts *f)
{
	return f->mfu->mfu >= 1.0 && f->in->gpu_count < 2.0 ? f->mfu->mfu / 8.0 : (double)NAN;
}

/* GPUs come in powers of two: the fewest times as many that make the figure possible. */
static double over_more_gpus(const struct ceil_mfu_facts *f)
{
	const double most_gpus = 131072; /* no job has more */
	double times = f->in->gpu_count < 2.0 ? 16.0 : 2.0;

	if (!(f->mfu->mfu >= 1.0) || (times > 8.0 && f->mfu->mfu <= 8.0 * PLAUSIBLE_TO))
		return (double)NAN;
	while (f->mfu->mfu / times > PLAUSIBLE_TO && f->in->gpu_count * times < most_gpus)
		times *= 2.0;
	return f->mfu->mfu / times;
}

static double batch_was_tokens(const struct ceil_mfu_facts *f)
{
	return f->mfu->mfu >= 1.0 && f->from_step ? f->mfu->mfu / f->seq : (double)NAN;
}

static double rate_was_samples(const struct ceil_mfu_facts *f)
{
	return f->mfu->mfu < 1.0 && !f->from_step ? f->mfu->mfu * f->seq : (double)NAN;
}

static double rate_was_per_gpu(const struct ceil_mfu_facts *f)
{
	return f->mfu->mfu < 1.0 && f->in->gpu_count > 1.0 ? f->mfu->mfu * f->in->gpu_count
	                                                   : (double)NAN;
}

static double step_was_ms(const struct ceil_mfu_facts *f)
{
	return f->mfu->mfu < 1.0 && f->from_step ? f->mfu->mfu * 1000.0 : (double)NAN;
}

static double rate_was_thousands(const struct ceil_mfu_facts *f)
{
	return f->mfu->mfu < 1.0 && !f->from_step ? f->mfu->mfu * 1000.0 : (double)NAN;
}

const struct ceil_mfu_suspect ceil_mfu_suspects[] = {
	{"attention in full",
         "a causal mask leaves half of the attention that was counted: --convention causal",
         without_half_of_attention},
	{"peak",
         "the peak may be another type's or part's (a run in fp8 over the bf16 figure): --dtype, "
         "--part, --peak-tflops",
         over_twice_the_peak},
	{"GPU count", "the rate may be of a whole node of 8 GPUs: --gpu-count", over_eight_gpus},
	{"more GPUs",
         "the rate may be of more GPUs than --gpu-count says, which is 1 where it is left out",
         over_more_gpus},
	{"batch in tokens", "--batch counts samples; this looks like a number of tokens",
         batch_was_tokens},
	{"samples as tokens", "--tokens-per-s counts tokens; this looks like samples per second",
         rate_was_samples},
	{"rate of one GPU",
         "the rate must be of the whole job; this looks like the rate of one GPU: multiply it, or "
         "leave --gpu-count at 1",
         rate_was_per_gpu},
	{"milliseconds", "--step-time is in seconds; this looks like milliseconds", step_was_ms},
	{"thousands", "--tokens-per-s in full; this looks like thousands of tokens per second",
         rate_was_thousands},
};
const size_t ceil_mfu_suspect_count = sizeof(ceil_mfu_suspects) / sizeof(ceil_mfu_suspects[0]);

bool ceil_mfu_implausible(const struct ceil_mfu *mfu)
{
	return mfu->mfu >= 1.0 || mfu->mfu < HARDLY_POSSIBLE;
}

double ceil_mfu_suspected(const struct ceil_mfu_suspect *s, const struct ceil_mfu_facts *f)
{
	const double x = s->corrected(f);

	return within(x, PLAUSIBLE_FROM, PLAUSIBLE_TO) ? x : (double)NAN;
}
