/* Copying, lists, suggestions, human units, and numbers in any locale. */
#include "harness/base/text.h"
#include "tests/tap.h"

#include <locale.h>
#include <math.h>
#include <string.h>

static void copies_are_cut_between_characters(void)
{
	char four[4] = "zzz", one[1] = {'z'};

	ceil_copy(four, sizeof(four), "abcdef");
	is_text(four, "abc", "a copy is cut");
	ceil_copy(four, sizeof(four), NULL);
	is_text(four, "", "NULL is empty");
	ceil_copy(one, sizeof(one), "a");
	is_text(one, "", "one byte holds nothing");
	ceil_copy(NULL, 0, "a");
	ceil_copy(four, sizeof(four), "ab\xc3\xa4");
	is_text(four, "ab", "two bytes of UTF-8 are not torn");
	ceil_copy(four, sizeof(four), "a\xe2\x82\xac");
	is_text(four, "a", "nor three");
	ceil_copy(four, sizeof(four),
	          "\xe2\x82\xac"
	          "a");
	is_text(four, "\xe2\x82\xac", "but kept where they fit");
	ceil_copy(four, sizeof(four), "\x80\x80\x80\x80");
	is_int((long long)strlen(four), 3, "bytes that are no UTF-8 are only cut");
}

static void appending_formats_behind(void)
{
	char text[8] = "ab";

	ceil_append(text, sizeof(text), "%d", 12);
	is_text(text, "ab12", "append");
	ceil_append(text, sizeof(text), "%s", "345678");
	is_text(text, "ab12345", "and cut");
	ceil_append(text, sizeof(text), "x");
	is_text(text, "ab12345", "nothing fits into a full text");
}

static void lists_are_split_at_commas(void)
{
	struct ceil_list list = {0};
	struct ceil_error err = {0};
	char longest[CEIL_LIST_ITEM + 8];

	ok(ceil_list_has(&list, "anything"), "an empty list has everything");
	is_int(ceil_list_add(&list, "bf16, fp16 ,\tint8", &err), CEIL_OK, "three items");
	is_u64(list.count, 3, "are three");
	is_text(list.item[1], "fp16", "without the blanks around them");
	is_int(ceil_list_add(&list, "fp64", &err), CEIL_OK, "a second call");
	is_u64(list.count, 4, "appends");
	ok(ceil_list_has(&list, "int8") && !ceil_list_has(&list, "int"),
	   "has looks for whole names");
	is_int(ceil_list_add(&list, "a,,b", &err), CEIL_E_USAGE, "an empty item");
	has_text(err.text, "empty", "is told");
	is_int(ceil_list_add(&list, "", &err), CEIL_E_USAGE, "no text");
	is_int(ceil_list_add(&list, "a,", &err), CEIL_E_USAGE, "a comma at the end");
	memset(longest, 'x', sizeof(longest));
	longest[CEIL_LIST_ITEM] = '\0';
	is_int(ceil_list_add(&list, longest, &err), CEIL_E_USAGE, "an item that is too long");
	has_text(err.text, "at most 95", "the limit is told");
	is_u64(list.count, 4, "the list is as it was");
	longest[CEIL_LIST_ITEM - 1] = '\0';
	is_int(ceil_list_add(&list, longest, &err), CEIL_OK, "the longest item fits");
	while (list.count < CEIL_LIST_MAX && ceil_list_add(&list, "y", &err) == CEIL_OK)
		continue;
	is_int(ceil_list_add(&list, "z", &err), CEIL_E_USAGE, "one item too many");
	has_text(err.text, "64", "the number is told");
}

static void mistyped_names_find_their_neighbour(void)
{
	static const char *const names[] = {"bench", "dtype",  "backend", "gpu", "",
	                                    "seed",  "output", "quick",   NULL};
	static const char *const none[] = {NULL};
	char endless[200];

	is_text(ceil_suggest("dtpye", names), "dtype", "two letters swapped");
	is_text(ceil_suggest("outptu", names), "output", "at the end too");
	is_text(ceil_suggest("sed", names), "seed", "a letter missing");
	is_text(ceil_suggest("quickk", names), "quick", "one too many");
	is_text(ceil_suggest("QUICK", names), "quick", "the wrong case");
	is_text(ceil_suggest("back", names), "backend", "the only one that begins so");
	ok(!ceil_suggest("zebra", names), "nothing is near");
	ok(!ceil_suggest("b", names), "one letter is too little");
	ok(!ceil_suggest("", names), "nothing typed");
	ok(!ceil_suggest("abc", none), "no names");
	memset(endless, 'q', sizeof(endless) - 1);
	endless[sizeof(endless) - 1] = '\0';
	ok(!ceil_suggest(endless, names), "a word without end");
}

static const char *bytes_text(uint64_t bytes)
{
	static char text[32];

	ceil_human_bytes(text, sizeof(text), bytes);
	return text;
}

static const char *seconds_text(double seconds)
{
	static char text[32];

	ceil_human_seconds(text, sizeof(text), seconds);
	return text;
}

static void units_are_human(void)
{
	is_text(bytes_text(0), "0 B", "nothing");
	is_text(bytes_text(1023), "1023 B", "bytes");
	is_text(bytes_text(1536), "1.5 KiB", "1.5 KiB");
	is_text(bytes_text(8589934592u), "8 GiB", "8 GiB");
	is_text(bytes_text(1048575), "1 MiB", "just below a MiB is no 1024 KiB");
	is_text(bytes_text(150754820096u), "140.4 GiB", "the memory of a card");
	is_text(bytes_text(UINT64_MAX), "16 EiB", "everything");
	is_text(seconds_text(75), "1 min 15 s", "75 s");
	is_text(seconds_text(0.25), "0.25 s", "a quarter");
	is_text(seconds_text(59.97), "1 min 0 s", "just below a minute is no 60 s");
	is_text(seconds_text(59.9), "59.9 s", "59.9 s");
	is_text(seconds_text(3599.6), "1 h 0 min", "just below an hour");
	is_text(seconds_text(7320), "2 h 2 min", "two hours");
	is_text(seconds_text(0.0125), "12.5 ms", "ms");
	is_text(seconds_text(3.2e-6), "3.2 us", "us");
	is_text(seconds_text(-1), "0 s", "no negative time is left");
	is_text(seconds_text((double)NAN), "", "unknown");
	has_text(seconds_text((double)INFINITY), " h ", "endless");
	ceil_human_bytes(NULL, 0, 1);
	ceil_human_seconds(NULL, 0, 1);
}

static void durations_have_units(void)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{"90", 90000000000u},       {"90s", 90000000000u},
		{"2m", 120000000000u},      {"2min", 120000000000u},
		{"1h", 3600000000000u},     {"250ms", 250000000u},
		{"1.5m", 90000000000u},     {"0.25", 250000000u},
		{"10us", 10000u},           {"7ns", 7u},
		{"168h", 604800000000000u}, {"1e2", 100000000000u},
	};
	static const char *const bad[] = {"",      "s",   "0",     "0s",    "-1",   "2x",
	                                  "2 m",   " 2",  "inf",   "nan",   "0x10", "169h",
	                                  "1m30s", "2m ", "1e400", "0.1ns", "1,5"};
	struct ceil_error err = {0};
	uint64_t ns = 7;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		is_int(ceil_parse_duration_ns(good[i].text, &ns, &err), CEIL_OK, good[i].text);
		is_u64(ns, good[i].ns, "in ns");
	}
	ns = 7;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(ceil_parse_duration_ns(bad[i], &ns, &err) == CEIL_E_USAGE && err.text[0] &&
		           ns == 7,
		   "\"%s\" is refused: %s", bad[i], err.text);
}

static void whole_numbers(void)
{
	static const char *const bad[] = {
		"", "-1", "+1", " 1", "1 ", "1x", "1.0", "0x10", "18446744073709551616"};
	struct ceil_error err = {0};
	uint64_t n = 7;

	is_int(ceil_parse_u64("0", &n, &err), CEIL_OK, "0");
	is_u64(n, 0, "is 0");
	is_int(ceil_parse_u64("18446744073709551615", &n, &err), CEIL_OK, "the largest");
	is_u64(n, UINT64_MAX, "is whole");
	n = 7;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(ceil_parse_u64(bad[i], &n, &err) == CEIL_E_USAGE && n == 7,
		   "\"%s\" is refused: %s", bad[i], err.text);
}

static void real_numbers(void)
{
	static const char *const bad[] = {"",    "-",   "e5",   " 1",    "1 ",  "1,5", "0x1p3",
	                                  "inf", "nan", "-inf", "1e999", "1..", "--1", "+-1"};
	struct ceil_error err = {0};
	double x = 7;

	is_int(ceil_parse_double("-1.5e3", &x, &err), CEIL_OK, "-1.5e3");
	is_close(x, -1500, 0, "is exact");
	is_int(ceil_parse_double(".5", &x, &err), CEIL_OK, ".5");
	is_close(x, 0.5, 0, "is a half");
	is_int(ceil_parse_double("1e-400", &x, &err), CEIL_OK, "too small to tell");
	is_close(x, 0, 0, "is 0");
	x = 7;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(ceil_parse_double(bad[i], &x, &err) == CEIL_E_USAGE && x == 7,
		   "\"%s\" is refused: %s", bad[i], err.text);
}

/* A locale with a decimal comma, if this machine has one. */
static const char *comma_locale(void)
{
	static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",  "fr_FR.UTF-8",
	                                    "nl_NL.UTF-8", "cs_CZ.UTF-8", NULL};

	for (const char *const *name = names; *name; name++)
		if (setlocale(LC_ALL, *name))
			return *name;
	return NULL;
}

static void a_decimal_comma_changes_nothing(void)
{
	struct ceil_error err = {0};
	char text[32] = "";
	double x = 0;

	if (!comma_locale()) {
		skip("numbers under a decimal comma", "no such locale is installed");
		return;
	}
	is_int(ceil_parse_double("1.5", &x, &err), CEIL_OK,
	       "a point is read under a decimal comma");
	is_close(x, 1.5, 0, "as a point");
	is_int(ceil_parse_double("1,5", &x, &err), CEIL_E_USAGE, "a comma is not");
	ceil_append(text, sizeof(text), "%.9g", 0.25);
	is_text(text, "0.25", "and a point is written");
	(void)setlocale(LC_ALL, "C");
}

int main(void)
{
	copies_are_cut_between_characters();
	appending_formats_behind();
	lists_are_split_at_commas();
	mistyped_names_find_their_neighbour();
	units_are_human();
	durations_have_units();
	whole_numbers();
	real_numbers();
	a_decimal_comma_changes_nothing();
	return done_testing();
}
