#!/bin/sh
# The recorded training step stays below the bound of its GPU, and its products are near theirs.
. tests/scripts/tap.sh
. tests/worlds.sh

runs=results/reference
text=$runs/h200/mfu.md

# A number of a recorded step: name of the step, key.
step() {
	grep "\"name\": \"$1\"" $runs/h200-gpt2/steps.jsonl | sed "s/.*\"$2\": \([0-9.]*\).*/\1/"
}

# The value of a line of the page: label.
line() {
	printf '%s\n' "$out" | awk -v label="$1" '
		index($0, "  " label " ") == 1 { print ($NF ~ /^[0-9.]+$/) ? $NF : $(NF - 1); exit }'
}

rate=$(step "compiled, bf16 throughout" tokens_per_s)
out=$(GPUCEIL_LIB_NVML=/nonexistent "$gpuceil" mfu --model gpt2-medium --vocab 50304 --batch 16 \
	--tokens-per-s "$rate" --attainable --ceilings $runs/h200-gpt2 \
	--records $runs/h200-gpt2-products 2>&1)
is $? 0 "the bound of the recorded step"
has_not "$out" "another card" "products, ceilings and step are of one card"
has_not "$out" "of other shapes than their own" "each product has its own rate"

measured=$(line datasheet)
bound=$(line "mfu at most")
products=$(line products)
ok "$(awk "BEGIN { print !($measured > 40 && $measured < $bound) }")" \
	"measured MFU $measured % is below the bound of $bound %"
for name in "compiled, bf16 throughout" "compiled, bf16 throughout, cuBLASLt for all products"; do
	ms=$(step "$name" products_ms)
	ok "$(awk "BEGIN { print !($products < $ms && $products > 0.85 * $ms) }")" \
		"$name: products $ms ms, bound $products ms"
done
has "$(cat $text)" "**$bound %**" "the text gives this bound"
has "$(cat $text)" "**$measured %**" "and this MFU"

done_testing
