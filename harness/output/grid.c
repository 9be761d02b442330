/* Aligns cells in columns; knows nothing of what they mean. */
#include "harness/output/grid.h"

#include <string.h>

enum { GAP = 2 };

/* Characters on the screen: neither colours nor bytes that continue a UTF-8 sequence. */
static int text_width(const char *text)
{
	int n = 0;

	while (*text) {
		if (*text == '\033') {
			text += strcspn(text, "m");
			text += *text == 'm';
			continue;
		}
		n += ((unsigned char)*text & 0xc0) != 0x80;
		text++;
	}
	return n;
}

static int line_width(const struct ceil_grid *g, const struct ceil_grid_layout *layout)
{
	int sum = g->indent - GAP;

	for (size_t c = 0; c < g->column_count; c++)
		sum += layout->width[c] ? layout->width[c] + GAP : 0;
	return sum;
}

/* The column to leave out next, or column_count. */
static size_t next_sacrifice(const struct ceil_grid *g, const struct ceil_grid_layout *layout)
{
	size_t found = g->column_count;

	for (size_t c = 0; c < g->column_count; c++) {
		const int s = g->columns[c].sacrifice;

		if (layout->width[c] && s > 0 &&
		    (found == g->column_count || s > g->columns[found].sacrifice))
			found = c;
	}
	return found;
}

static int column_width(const struct ceil_grid *g, size_t column)
{
	char text[CEIL_GRID_CELL];
	int width = 0;

	for (size_t r = 0; r < g->row_count; r++) {
		text[0] = '\0';
		g->cell(g->user, r, column, text, sizeof(text));
		width = text_width(text) > width ? text_width(text) : width;
	}
	if (width > 0 && width < text_width(g->columns[column].title))
		width = text_width(g->columns[column].title);
	return width;
}

void ceil_grid_measure(const struct ceil_grid *g, struct ceil_grid_layout *ret_layout)
{
	size_t out;

	for (size_t c = 0; c < g->column_count; c++)
		ret_layout->width[c] = column_width(g, c);
	while (g->limit > 0 && line_width(g, ret_layout) > g->limit) {
		out = next_sacrifice(g, ret_layout);
		if (out == g->column_count)
			return;
		ret_layout->width[out] = 0;
	}
}

/* Blanks that are owed are printed before the next text only, so that no line ends in one. */
static void put_cell(FILE *f, const struct ceil_grid *g, size_t column, int width, const char *text,
                     int *owed)
{
	const int pad = width - text_width(text);
	const bool right = g->columns[column].right;

	if (*text) {
		fprintf(f, "%*s%s", *owed + (right ? pad : 0), "", text);
		*owed = right ? 0 : pad;
	} else {
		*owed += width;
	}
	*owed += GAP;
}

void ceil_grid_titles(FILE *f, const struct ceil_grid *g, const struct ceil_grid_layout *layout)
{
	int owed = g->indent;

	for (size_t c = 0; c < g->column_count; c++) {
		if (layout->width[c])
			put_cell(f, g, c, layout->width[c], g->columns[c].title, &owed);
	}
}

void ceil_grid_row(FILE *f, const struct ceil_grid *g, const struct ceil_grid_layout *layout,
                   size_t row)
{
	char text[CEIL_GRID_CELL];
	int owed = g->indent;

	for (size_t c = 0; c < g->column_count; c++) {
		if (!layout->width[c])
			continue;
		text[0] = '\0';
		g->cell(g->user, row, c, text, sizeof(text));
		put_cell(f, g, c, layout->width[c], text, &owed);
	}
}

void ceil_grid_print(FILE *f, const struct ceil_grid *g)
{
	struct ceil_grid_layout layout;

	ceil_grid_measure(g, &layout);
	ceil_grid_titles(f, g, &layout);
	fputc('\n', f);
	for (size_t r = 0; r < g->row_count; r++) {
		ceil_grid_row(f, g, &layout, r);
		fputc('\n', f);
	}
}

void ceil_print_wrapped(FILE *f, const char *text, int start, int indent, int limit)
{
	int at = start;
	bool fresh = true; /* no word on this line yet */

	while (*text) {
		const int length = (int)strcspn(text, " ");
		char word[CEIL_GRID_CELL];

		(void)snprintf(word, sizeof(word), "%.*s", length, text);
		const int wide = text_width(word);

		if (!fresh && at + 1 + wide > limit) {
			fprintf(f, "\n%*s", indent, "");
			at = indent;
			fresh = true;
		}
		fprintf(f, "%s%.*s", fresh ? "" : " ", length, text);
		at += wide + !fresh;
		fresh = false;
		text += length;
		text += strspn(text, " ");
	}
}
