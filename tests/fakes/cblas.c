/* A stand-in for a CBLAS: it multiplies plainly and has every maker's functions for threads. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tests take away functions (tests/fakes.h) to make it OpenBLAS, BLIS, MKL or none of them.
 * FAKE_CBLAS_MAX=n   the most threads that this build has (64)
 */
enum { COL_MAJOR = 102, NO_TRANS = 111, TRANS = 112 };

void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                 const double *a, int lda, const double *b, int ldb, double beta, double *c,
                 int ldc);
void openblas_set_num_threads(int threads);
int openblas_get_num_threads(void);
char *openblas_get_config(void);
void bli_thread_set_num_threads(int64_t threads);
int64_t bli_thread_get_num_threads(void);
const char *bli_info_get_version_str(void);
void MKL_Set_Num_Threads(int threads);
int MKL_Get_Max_Threads(void);
void MKL_Get_Version_String(char *text, int size);

static int current = -1;

static int clamp(int threads)
{
	const char *text = getenv("FAKE_CBLAS_MAX");
	const int most = text ? (int)strtol(text, NULL, 10) : 64;

	return threads < most ? threads : most;
}

static int is_transposed_product(int order, int trans_a, int trans_b)
{
	return order == COL_MAJOR && trans_a == TRANS && trans_b == NO_TRANS;
}

void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
	if (!is_transposed_product(order, trans_a, trans_b) || beta < 0.0f || beta > 0.0f)
		return;
	for (ptrdiff_t j = 0; j < n; j++) {
		for (ptrdiff_t i = 0; i < m; i++) {
			float sum = 0.0f;

			for (ptrdiff_t l = 0; l < k; l++)
				sum += a[l + i * lda] * b[l + j * ldb];
			c[i + j * ldc] = alpha * sum;
		}
	}
}

void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                 const double *a, int lda, const double *b, int ldb, double beta, double *c,
                 int ldc)
{
	if (!is_transposed_product(order, trans_a, trans_b) || beta < 0.0 || beta > 0.0)
		return;
	for (ptrdiff_t j = 0; j < n; j++) {
		for (ptrdiff_t i = 0; i < m; i++) {
			double sum = 0.0;

			for (ptrdiff_t l = 0; l < k; l++)
				sum += a[l + i * lda] * b[l + j * ldb];
			c[i + j * ldc] = alpha * sum;
		}
	}
}

void openblas_set_num_threads(int threads)
{
	current = clamp(threads);
}

int openblas_get_num_threads(void)
{
	return current;
}

char *openblas_get_config(void)
{
	static char text[] = "OpenBLAS 0.0 fake";

	return text;
}

void bli_thread_set_num_threads(int64_t threads)
{
	current = clamp((int)threads);
}

int64_t bli_thread_get_num_threads(void)
{
	return current;
}

const char *bli_info_get_version_str(void)
{
	return "0.0 fake";
}

void MKL_Set_Num_Threads(int threads)
{
	current = clamp(threads);
}

int MKL_Get_Max_Threads(void)
{
	return current;
}

void MKL_Get_Version_String(char *text, int size)
{
	(void)snprintf(text, (size_t)size, "oneMKL 0.0 fake   ");
}
