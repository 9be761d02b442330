/* A library for the tests of dynlib: two versions of a function, and one that it lacks. */
int probe_answer(void);
int probe_answer_v2(void);

int probe_answer(void)
{
	return 1;
}

int probe_answer_v2(void)
{
	return 2;
}
