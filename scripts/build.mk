# How the program and its tests are compiled; the Makefile calls this with its variables.
# Targets: program, ship, tests, gpu-tests, list-tests.

# This file builds the same by itself as through the Makefile.
VERSION  ?= $(shell sed -n 's/^VERSION := //p' Makefile)
BUILD    ?= build
OPT      := $(or $(OPT),-O2 -g)
CPPFLAGS ?=
CFLAGS   ?=
LDFLAGS  ?=
Q := $(if $(V),,@)
say = @mkdir -p $(@D); printf '  %-5s %s\n' $(1) $(patsubst $(BUILD)/%,%,$(2))

.SUFFIXES:
.SECONDARY:
.DELETE_ON_ERROR:
.PHONY: program ship tests gpu-tests list-tests FORCE

# ---- CUDA: what scripts/cuda.sh finds, kept in a file because nvidia-smi can take seconds
include $(BUILD)/cuda.mk
$(BUILD)/cuda.mk: FORCE
	@mkdir -p $(@D)
	@scripts/cuda.sh $@

# ---- sources; what needs CUDA's headers is left out where there are none
cuda_only := harness/device/cuda_%.c harness/device/cublaslt%.c \
             tests/t_cuda_%.c tests/t_cublaslt%.c
usable     = $(if $(NVCC),$(1),$(filter-out $(cuda_only),$(1)))
obj        = $(patsubst %,$(BUILD)/%.o,$(basename $(1)))
main      := harness/cli/main.c
plugin    := $(wildcard harness/device/mpi_plugin.c)
c_srcs    := $(call usable,$(filter-out $(main) $(plugin) harness/trace/%,$(wildcard harness/*/*.c bench/*.c)))
cu_srcs   := $(if $(NVCC),$(wildcard kernels/*.cu))
# TESTS="t_csv t_stop" chooses. Tests of scripts see no compiled code: no work for a sanitizer.
all_tests := $(basename $(notdir $(wildcard tests/t_*.c tests/t_*.sh tests/scripts/t_*.sh)))
unknown   := $(filter-out $(all_tests),$(TESTS))
ifneq ($(unknown),)
$(error TESTS: there is no test $(unknown); they are called as their files in tests/, without .c and .sh)
endif
only       = $(if $(TESTS),$(foreach t,$(1),$(if $(filter $(TESTS),$(basename $(notdir $(t)))),$(t))),$(1))
test_srcs := $(call only,$(call usable,$(wildcard tests/t_*.c)))
test_shs  := $(call only,$(wildcard tests/t_*.sh) $(if $(SAN),,$(wildcard tests/scripts/t_*.sh)))
tap_srcs  := $(filter-out tests/t_%,$(wildcard tests/*.c))
gpu_srcs  := $(if $(NVCC),$(wildcard tests/gpu/*.c))

objs      := $(call obj,$(c_srcs)) $(cu_srcs:%.cu=$(BUILD)/%.cu.o)
test_bins := $(test_srcs:%.c=$(BUILD)/%)
gpu_bins  := $(gpu_srcs:tests/gpu/%.c=$(BUILD)/tests-gpu/%)
fakes     := $(patsubst %.c,$(BUILD)/%.so,$(wildcard tests/fakes/*.c))

# ---- flags; a change in any of them rebuilds what it touches
warn := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wvla -Wstrict-prototypes \
        -Wmissing-prototypes -Wwrite-strings -Wcast-qual -Wundef
pkgs := hwloc jansson ncursesw
pkg_cflags := $(patsubst -I%,-isystem %,$(shell pkg-config --cflags-only-I $(pkgs) 2>/dev/null))
pkg_libs   := $(shell pkg-config --libs $(pkgs) 2>/dev/null)
# Static: a GPU node may have neither libcsv nor a package manager.
csv_lib    := $(if $(wildcard $(shell $(CC) -print-file-name=libcsv.a)),-l:libcsv.a,-lcsv)

cc_flags := -std=c17 -D_GNU_SOURCE -I. $(warn) $(WERROR) $(OPT) -pthread -fno-omit-frame-pointer \
            $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all) \
            $(if $(NVCC),-DCEIL_HAVE_CUDA -isystem $(CUDA_INC)) $(pkg_cflags) $(CPPFLAGS) $(CFLAGS)
# The program is linked as C: without guards of static objects no libstdc++ is needed.
cu_flags := -std=c++17 -O3 -I. -lineinfo --resource-usage -Xfatbin -compress-all $(CUDA_GENCODE) \
            -Xcompiler -Wall,-Wextra,-Wshadow,-Wconversion,-Wcast-qual \
            -Xcompiler -fno-threadsafe-statics,-fno-omit-frame-pointer \
            $(if $(WERROR),-Werror all-warnings -Xcompiler -Werror)
libs     := $(csv_lib) $(pkg_libs) $(if $(NVCC),-L$(CUDA_LIB) -lcudart_static) -ldl -lrt -lm -lpthread
ld_flags := $(OPT) $(SAN:%=-fsanitize=%) -pthread -Wl,--as-needed $(LDFLAGS)

# Writes the text into the file if it says something else. The flags have the folder's name too:
# what the compiler noted of headers holds for that name alone, so a moved folder compiles again.
define keep
@mkdir -p $(@D)
@printf '%s\n' $(1) | cmp -s - $@ || printf '%s\n' $(1) >$@
endef
$(BUILD)/cc.flags: FORCE
	$(call keep,'$(CC) $(cc_flags)' '$(BUILD)')
$(BUILD)/cu.flags: FORCE
	$(call keep,'$(NVCC) $(CUDA_TOOLKIT) $(cu_flags)' '$(BUILD)')
$(BUILD)/ld.flags: FORCE
	$(call keep,'$(ld_flags) $(libs)')
$(BUILD)/lib.list: FORCE
	$(call keep,$(objs))
$(BUILD)/tap.list: FORCE
	$(call keep,$(tap_srcs) .)

# ---- what git and the toolkit are called goes into one object, so a commit rebuilds one file
git := $(if $(wildcard .git),$(shell git describe --always --dirty --abbrev=7 --exclude '*' 2>/dev/null))
$(BUILD)/version.h: FORCE
	$(call keep,'#define CEIL_VERSION "$(VERSION)"' '#define CEIL_GIT "$(git)"' \
		'#define CEIL_CUDA_TOOLKIT "$(CUDA_TOOLKIT)"' '#define CEIL_CUDA_TARGETS "$(CUDA_TARGETS)"' \
		'#define CEIL_BUILD_FLAGS "$(strip $(OPT) $(SAN:%=-fsanitize=%) $(CPPFLAGS) $(CFLAGS))"')
$(BUILD)/harness/base/version.o: cc_flags += -include $(BUILD)/version.h
$(BUILD)/harness/base/version.o: $(BUILD)/version.h
# A header of CUPTI's includes C++'s <string>, which is empty here.
$(BUILD)/harness/telemetry/pm%.o: cc_flags += -isystem harness/telemetry/pm_include

# ---- rules
$(BUILD)/%.o: %.c $(BUILD)/cc.flags
	$(call say,CC,$<)
	$(Q)$(CC) $(cc_flags) -MMD -MP -c $< -o $@

# ptxas tells registers and spills: kept for scripts/check-spills.sh, shown when something is wrong.
$(BUILD)/%.cu.o: %.cu $(BUILD)/cu.flags
	$(call say,NVCC,$<)
	$(Q)$(NVCC) $(cu_flags) -MMD -MP -MF $(@:.o=.d) -c $< -o $@ >$@.log 2>&1 || { cat $@.log; exit 1; }
	@if grep -q -i 'warning' $@.log; then cat $@.log; fi

$(BUILD)/libceil.a: $(objs) $(BUILD)/lib.list
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(objs)

$(BUILD)/tests/libtap.a: $(call obj,$(tap_srcs)) $(BUILD)/tap.list
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

link = $(Q)$(CC) $(ld_flags) -o $@ $(filter %.o %.a,$^) $(libs)
$(BUILD)/gpuceil: $(call obj,$(main)) $(BUILD)/libceil.a $(BUILD)/ld.flags
	$(call say,LD,$@)
	$(link)

$(test_bins): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/tests/libtap.a $(BUILD)/libceil.a $(BUILD)/ld.flags
	$(call say,LD,$@)
	$(link)

$(gpu_bins): $(BUILD)/tests-gpu/%: $(BUILD)/tests/gpu/%.o $(BUILD)/tests/libtap.a \
		$(BUILD)/libceil.a $(BUILD)/ld.flags
	$(call say,LD,$@)
	$(link)

# Stand-ins for libraries that are loaded at run time, one file each.
$(fakes): $(BUILD)/%.so: %.c $(BUILD)/cc.flags
	$(call say,SO,$@)
	$(Q)$(CC) $(cc_flags) -MMD -MP -fPIC -shared $< -o $@

# Loaded with --mpi alone; MPI's own headers are not ours to judge.
mpicc := $(shell command -v mpicc 2>/dev/null)
$(BUILD)/gpuceil-mpi.so: $(plugin) harness/base/status.c harness/base/text.c $(BUILD)/cc.flags \
		harness/device/mpi_api.h harness/base/status.h harness/base/types.h
	$(call say,MPICC,$@)
	$(Q)$(mpicc) -std=c17 -D_GNU_SOURCE -I. $(OPT) -Wall -Wextra $(WERROR) -fPIC -shared \
		-Wl,--no-undefined $(plugin) harness/base/status.c harness/base/text.c -lm -o $@

# What ships beside it is made by the program itself, from its tables.
shipped := $(addprefix $(BUILD)/ship/,gpuceil gpuceil.1 gpuceil.bash _gpuceil)
$(BUILD)/ship/gpuceil.1: $(BUILD)/gpuceil
	@mkdir -p $(@D)
	$(Q)$< man >$@
$(BUILD)/ship/gpuceil.bash: $(BUILD)/gpuceil
	@mkdir -p $(@D)
	$(Q)$< completion bash >$@
$(BUILD)/ship/_gpuceil: $(BUILD)/gpuceil
	@mkdir -p $(@D)
	$(Q)$< completion zsh >$@
# For the tarball: an RPATH (not RUNPATH) also serves the libraries that its libraries need.
$(BUILD)/ship/gpuceil: $(call obj,$(main)) $(BUILD)/libceil.a $(BUILD)/ld.flags
	$(call say,LD,$@)
	$(Q)$(CC) $(ld_flags) -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/lib' -o $@ \
		$(filter %.o %.a,$^) $(libs)
ship: program $(shipped)

program: $(BUILD)/gpuceil $(if $(mpicc),$(plugin:%=$(BUILD)/gpuceil-mpi.so))
	@$(if $(NVCC),,echo '$(CUDA_WHY): the host part only is built')
	@$(if $(mpicc),,echo 'no mpicc: --mpi is not built (apt: libopenmpi-dev)')
tests: $(test_bins) $(fakes) $(if $(SAN),,$(if $(wildcard harness/cli/man.c),$(shipped)))
gpu-tests: $(gpu_bins)
	@$(if $(NVCC),,echo '$(CUDA_WHY): the GPU tests are not built')
list-tests:
	@echo $(test_bins) $(test_shs)

-include $(wildcard $(BUILD)/*/*.d $(BUILD)/*/*/*.d)
