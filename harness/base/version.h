/* What this build is: its version, commit, compiler and CUDA toolkit, for run.json and --version.
 */
#ifndef CEIL_VERSION_H
#define CEIL_VERSION_H

/* Texts that live for ever; what is not known is "". */

/* ceil_version - "0.1.0". */
const char *ceil_version(void);

/* ceil_git_commit - "48dcf67", "48dcf67-dirty" with changes that are not committed. */
const char *ceil_git_commit(void);

/* ceil_compiler - "gcc 12.2.0", "clang 14.0.6". */
const char *ceil_compiler(void);

/* ceil_build_flags - "-O2 -g": optimisation, sanitizers and what the user added. */
const char *ceil_build_flags(void);

/* ceil_cuda_toolkit - "13.0"; "" in a build without CUDA. */
const char *ceil_cuda_toolkit(void);

/* ceil_cuda_targets - "sm_80 sm_90a compute_90": what the kernels were compiled for. */
const char *ceil_cuda_targets(void);

#endif
