/* Aligned columns of plain text: lists for people that pipes can cut as well. */
#ifndef CEIL_GRID_H
#define CEIL_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { CEIL_GRID_COLUMNS = 20, CEIL_GRID_CELL = 512 };

struct ceil_grid_column {
	const char *title;
	bool right;    /* numbers stand right */
	int sacrifice; /* columns of the highest go first when the line is too narrow; 0: never */
};

/*
 * What is printed. The cell function writes the text of a cell and must give the same text each
 * time: cells are asked for once to measure and once to print. At most CEIL_GRID_COLUMNS columns.
 */
struct ceil_grid {
	const struct ceil_grid_column *columns;
	size_t column_count, row_count;
	void (*cell)(const void *user, size_t row, size_t column, char *ret_text, size_t size);
	const void *user;
	int indent;
	int limit; /* characters a line may have; 0: any. The last column may stick out. */
};

/* Widths of the columns; 0: the column is left out. */
struct ceil_grid_layout {
	int width[CEIL_GRID_COLUMNS];
};

/* ceil_grid_measure - widths from titles and cells; empty columns and sacrifices get 0. */
void ceil_grid_measure(const struct ceil_grid *g, struct ceil_grid_layout *ret_layout);

/* ceil_grid_titles, ceil_grid_row - one line without its newline; the last cell is not padded. */
void ceil_grid_titles(FILE *f, const struct ceil_grid *g, const struct ceil_grid_layout *layout);
void ceil_grid_row(FILE *f, const struct ceil_grid *g, const struct ceil_grid_layout *layout,
                   size_t row);

/* ceil_grid_print - titles and all rows. */
void ceil_grid_print(FILE *f, const struct ceil_grid *g);

/*
 * ceil_print_wrapped - text in lines of at most limit characters, broken at blanks; the first line
 * begins where the cursor is (column start), the others at column indent. No newline at the end.
 */
void ceil_print_wrapped(FILE *f, const char *text, int start, int indent, int limit);

#endif
