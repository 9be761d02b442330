#!/bin/sh
# Holds what benches say of their work against hardware counters, by ncu, within 2 %.
#
# BUILD=... counters.sh. The GPU tests launch every variant once and print its work; ncu counts what
# the same launches did. Skipped without ncu, without a GPU and without the right to counters; rules
# are for the counters of compute capability 9.0.
set -u

. tests/scripts/tap.sh

build=${CEIL_TEST_BUILD:-${BUILD:-build}}
ncu=$(command -v ncu || echo "${CUDA_HOME:-/usr/local/cuda}/bin/ncu")
if [ ! -x "$ncu" ]; then
	echo "1..0 # SKIP no ncu"
	exit 77
fi

global=sm__sass_thread_inst_executed_op
tensor=sm__ops_path_tensor
# test  kernels  variants  field of work  units of one count  counter
cat >"$work/rules" <<E2
t_dram      map_kernel|reduce_kernel ^(read|copy|scale|add|triad|dot) read 1 dram__bytes_read
t_dram      map_kernel|reduce_kernel ^(write|copy|scale|add|triad) written 1 dram__bytes_write
t_access    access_kernel            .                  read    32  l1tex__t_sectors_pipe_lsu_mem_global_op_ld
t_l2        l2_kernel                .                  read    1   l1tex__m_xbar2l1tex_read_bytes
t_l2        l2_kernel                .                  read    32  lts__t_sectors_srcunit_tex
t_smem      read_kernel              ^shared            read    128 l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld
t_smem      read_kernel              ^l1                read    32  l1tex__t_sectors_pipe_lsu_mem_global_op_ld
t_latency   chase_kernel|chase_shared_kernel ^smem      items   1   smsp__inst_executed_op_shared_ld
t_latency   chase_kernel|chase_shared_kernel ^(l1|l2|dram)[.] items 1 l1tex__t_requests_pipe_lsu_mem_global_op_ld
t_atomic    add_kernel               .                  items   32  smsp__inst_executed_op_global_red
t_pipes     pipe_kernel              ^fma[.]fp32        flops   2   ${global}_ffma_pred_on
t_pipes     pipe_kernel              ^fma[.]fp64        flops   2   ${global}_dfma_pred_on
t_pipes     pipe_kernel              ^fma[.](fp|bf)16   flops   4   ${global}_hfma_pred_on
t_pipes     pipe_kernel              ^mad               flops   2   ${global}_integer_pred_on
t_pipes     pipe_kernel              ^add               flops   1   ${global}_integer_pred_on
t_pipes     pipe_kernel              ^ex2               flops   1   sm__thread_inst_executed_pipe_xu_pred_on
t_roofline  roofline_kernel          fp32               flops   2   ${global}_ffma_pred_on
t_roofline  roofline_kernel          bf16               flops   4   ${global}_hfma_pred_on
t_roofline  roofline_kernel          .                  read    1   l1tex__m_xbar2l1tex_read_bytes
t_tensor    (wg)?mma_kernel          ^wgmma[.]bf16      flops   1   ${tensor}_op_hgmma_src_bf16_dst_fp32
t_tensor    (wg)?mma_kernel          ^mma[.]bf16        flops   1   ${tensor}_op_hmma_src_bf16_dst_fp32
t_tensor    (wg)?mma_kernel          ^wgmma[.]fp16      flops   1   ${tensor}_op_hgmma_src_fp16
t_tensor    (wg)?mma_kernel          ^mma[.]fp16        flops   1   ${tensor}_op_hmma_src_fp16
t_tensor    (wg)?mma_kernel          ^wgmma[.]tf32      flops   1   ${tensor}_op_hgmma_src_tf32_dst_fp32
t_tensor    (wg)?mma_kernel          ^mma[.]tf32        flops   1   ${tensor}_op_hmma_src_tf32_dst_fp32
t_tensor    (wg)?mma_kernel          ^wgmma[.]e4m3      flops   1   ${tensor}_src_fp8
t_tensor    (wg)?mma_kernel          ^wgmma[.]int8      flops   1   ${tensor}_op_igmma_src_int8
t_tensor    (wg)?mma_kernel          ^mma[.]int8        flops   1   ${tensor}_op_imma_src_int8
t_tensor    (wg)?mma_kernel          fp64               flops   1   ${tensor}_src_fp64
E2

# One line a variant and rule: verdict, test, variant, field, said, counted.
compare='
FILENAME == rules {
	if ($1 == test) {
		variant[++n] = $3; field[n] = $4; factor[n] = $5; counter[n] = $6 ".sum"
	}
	next
}
/^# work / {
	if ($3 !~ /^(memset|memcpy)[.]/) {
		name[++launched] = $3
		said[launched, "flops"] = $4; said[launched, "read"] = $5
		said[launched, "written"] = $6; said[launched, "items"] = $7
	}
	next
}
/^"ID"/ { columns = split($0, header, /","/); next }
/^"[0-9]+"/ {
	split($0, cell, /","/)
	kernels++
	for (c = 1; c <= columns; c++) {
		for (i = 1; i <= n; i++) {
			if (header[c] !~ "^\"?" counter[i] "\"?$" || name[kernels] !~ variant[i])
				continue
			count = cell[c]
			gsub(/[",]/, "", count)
			want = said[kernels, field[i]]
			got = count * factor[i]
			off = want > 0 ? got / want - 1 : 1
			print (off < 0.02 && off > -0.02 ? 0 : 1), test, name[kernels], field[i], want, got
		}
	}
}
END { if (kernels != launched) print 1, test, "launched", launched, "kernels,", kernels, "counted" }'

for test in $(awk '!seen[$1]++ { print $1 }' "$work/rules"); do
	kernels=$(awk -v t="$test" '$1 == t { print $2; exit }' "$work/rules")
	metrics=$(awk -v t="$test" '$1 == t && !seen[$6]++ { printf "%s%s.sum", n++ ? "," : "", $6 }' \
		"$work/rules")
	if ! GPUCEIL_TEST_LARGE=1 "$ncu" --clock-control none --print-units base --csv --page raw \
		--metrics "$metrics" -k "regex:^($kernels)\$" "$build/tests-gpu/$test" >"$work/out" 2>&1; then
		reason=$(grep -E 'ERR_NVGPUCTRPERM|SKIP|No kernels|==ERROR==' "$work/out" | head -n 1)
		case $reason in
		*ERR_NVGPUCTRPERM* | *SKIP* | *"No kernels"*)
			echo "1..0 # SKIP $reason"
			exit 77
			;;
		esac
		ok 1 "$test under ncu: $reason"
		continue
	fi
	awk -v test="$test" -v rules="$work/rules" "$compare" "$work/rules" "$work/out" >"$work/lines"
	test -s "$work/lines"
	ok $? "$test is counted"
	while read -r status what; do
		ok "$status" "$what"
	done <"$work/lines"
done
done_testing
