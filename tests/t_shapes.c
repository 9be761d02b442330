/* Tests of the user's shapes: what is taken, and what is refused in which words. */
#include "harness/cli/shapes.h"

#include "harness/base/alloc.h"
#include "tests/scratch.h"
#include "tests/tap.h"

#include <string.h>

struct refusal {
	const char *text, *words;
};

static const struct refusal refused_shapes[] = {
	{"", "M,N,K are whole numbers from 1"},
	{"1,2", "2 numbers and not three"},
	{"1,2,3,4", "4 numbers and not three"},
	{"0,2,3", "M: it is 0"},
	{"1,-2,3", "N: \"-2\" is not a whole number"},
	{"1,2,3.5", "K: \"3.5\" is not a whole number"},
	{"1,2,99999999999999999999", "K: "},
	{"4294967296,4294967296,2", "operations are more than 2^63"},
	{"4096,4096,65537", "--shape 4096,4096,65537: k is at most 65536"},
};

static void test_shape(void)
{
	struct ceil_shapes s = {NULL, 0, 0};
	struct ceil_error err = {CEIL_OK, ""};

	is_int(ceil_shapes_parse(&s, "4096,1,8192", &err), CEIL_OK, "a shape");
	is_int((long long)s.count, 1, "is one");
	is_text(s.v[0].cas.name, "4096x1x8192", "its name");
	ok(!s.v[0].kind && s.v[0].count == 1, "for every type, once");
	ok(s.v[0].cas.axis[0] == 4096 && s.v[0].cas.axis[1] == 1 && s.v[0].cas.axis[2] == 8192,
	   "its numbers");
	for (size_t i = 0; i < sizeof(refused_shapes) / sizeof(refused_shapes[0]); i++) {
		const struct refusal *r = &refused_shapes[i];

		is_int(ceil_shapes_parse(&s, r->text, &err), CEIL_E_USAGE, r->text);
		has_text(err.text, r->words, "and it says so");
		has_text(err.text, "--shape ", "and of what");
	}
	is_int((long long)s.count, 1, "nothing of it was taken");
	ceil_shapes_done(&s);
}

static const struct refusal refused_files[] = {
	{"", "the file is empty"},
	{"m,n,k,dtype\n", "no shapes in it"},
	{"m,n,k\n1,2,3\n", ":1: column dtype is missing"},
	{"m,n,k,dtype,colour\n1,2,3,bf16,red\n", ":1: "},
	{"m,n,k,dtype\n8,8,8,bf16,1\n", ":2: 5 fields, but the header has 4"},
	{"m,n,k,dtype\n8,8,8,bf16\n8,x,8,bf16\n", ":3: column n: \"x\" is not a whole number"},
	{"m,n,k,dtype\n8,8,-8,bf16\n", ":2: column k: "},
	{"m,n,k,dtype\n8,,8,bf16\n", ":2: column n: it is empty"},
	{"m,n,k,dtype\n0,8,8,bf16\n", ":2: column m: it is 0"},
	{"m,n,k,dtype,count\n8,8,8,bf16,0\n", ":2: column count: it is 0"},
	{"m,n,k,dtype\n8,8,8,bf61\n",
         ":2: column dtype: unknown type 'bf61': did you mean 'bf16'?"},
	{"m,n,k,dtype\n8,8,8,\n", ":2: column dtype: unknown type ''"},
	{"m,n,k,dtype\n16,16,24,e4m3\n", ":2: k must be a multiple of 16 for e4m3: 24 is not"},
	{"m,n,k,dtype\n12,16,16,e5m2_fast\n", ":2: m must be a multiple of 8 for e5m2"},
	{"m,n,k,dtype\n8,8,8,bf16_batched\n", ":2: bf16_batched is for more than one product"},
	{"m,n,k,dtype\n8,8,8,\"bf16\n", ":2: "},
	{"m,n,k,dtype,layout\n8,8,8,bf16,TX\n",
         ":2: column layout: 'TX' is none of TN, NN, NT, TT"},
	{"m,n,k,dtype,layout\n16,16,16,e4m3,NN\n", ":2: e4m3 is TN only: NN is not"},
};

static void test_refused_files(void)
{
	for (size_t i = 0; i < sizeof(refused_files) / sizeof(refused_files[0]); i++) {
		const struct refusal *r = &refused_files[i];
		const char *path = scratch_text("bad.csv", r->text);
		struct ceil_shapes s = {NULL, 0, 0};
		struct ceil_error err = {CEIL_OK, ""};

		is_int(ceil_shapes_read(&s, path, &err), CEIL_E_USAGE, r->words);
		has_text(err.text, "bad.csv", "the file is named");
		has_text(err.text, r->words, "and the line and column");
		ceil_shapes_done(&s);
	}
}

static void test_file(void)
{
	static const char text[] = "\xef\xbb\xbf"
				   "dtype,m,n,k,count\r\n"
				   "bf16,4096,8,4096,3\r\n"
				   "e4m3_fast,4096,8,4096,\r\n"
				   "\r\n"
				   "bf16,4096,8,4096,2\r\n"
				   "fp16_acc16,64,64,64,1";
	struct ceil_shapes s = {NULL, 0, 0};
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_point p = {.cas = NULL};

	is_int(ceil_shapes_read(&s, scratch_text("good.csv", text), &err), CEIL_OK,
	       "BOM, CRLF, a blank line, columns in another order, no last newline");
	is_int((long long)s.count, 3, "equal lines are one shape");
	ok(s.v[0].count == 5 && strcmp(s.v[0].kind, "bf16") == 0, "which counts five times");
	ok(s.v[1].count == 1 && strcmp(s.v[1].kind, "e4m3_fast") == 0, "an empty count is one");
	is_text(s.v[2].cas.name, "64x64x64", "names stay where the list grew");
	p.cas = &s.v[0].cas;
	is_u64(ceil_shapes_count(&s, &p), 5, "the count of a point's case");
	const struct ceil_case other = s.v[0].cas;

	p.cas = &other;
	is_u64(ceil_shapes_count(&s, &p), 0, "another case is none of them");
	ceil_shapes_done(&s);
	is_int(ceil_shapes_read(&s, "/nowhere/shapes.csv", &err), CEIL_E_IO, "a missing file");
	has_text(err.text, "/nowhere/shapes.csv", "is named");
}

/* How the operands are stored makes another ceiling of the same numbers. */
static void test_layouts(void)
{
	static const char text[] = "m,n,k,dtype,count,layout\n"
				   "64,32,16,bf16,1,TN\n"
				   "64,32,16,bf16,1,nn\n"
				   "64,32,16,bf16,1,NT\n"
				   "64,32,16,bf16,4,\n";
	struct ceil_shapes s = {NULL, 0, 0};
	struct ceil_error err = {CEIL_OK, ""};

	is_int(ceil_shapes_read(&s, scratch_text("layouts.csv", text), &err), CEIL_OK, "layouts");
	is_int((long long)s.count, 3, "three shapes");
	is_u64(s.v[0].count, 5, "an empty layout is TN");
	is_text(s.v[0].cas.name, "64x32x16", "which has no name of its own");
	is_text(s.v[1].cas.name, "64x32x16.nn", "others have");
	is_u64(s.v[2].cas.axis[3], 2, "and their place on the axis");
	ceil_shapes_done(&s);
}

static void test_no_memory(void)
{
	struct ceil_shapes s = {NULL, 0, 0};

	ceil_alloc_fail_at(1);
	is_int(ceil_shapes_parse(&s, "8,8,8", NULL), CEIL_E_NOMEM, "no memory for a shape");
	ceil_alloc_fail_at(0);
	ceil_shapes_done(&s);
}

int main(void)
{
	test_shape();
	test_file();
	test_refused_files();
	test_layouts();
	test_no_memory();
	return done_testing();
}
