/* Another machine for one test: a folder that stands before /sys, /dev and /proc. */
#ifndef CEIL_TESTS_SYSROOT_H
#define CEIL_TESTS_SYSROOT_H

/* sysroot_new - an empty one, which GPUCEIL_SYSROOT names from now on. */
void sysroot_new(void);

/* sysroot_file - a file with its folders: sysroot_file("/dev/nvidia0", ""). */
void sysroot_file(const char *path, const char *text);

/* sysroot_function - a PCI function; driver: the one it is bound to, or NULL. */
void sysroot_function(const char *bus_id, const char *vendor, const char *class,
                      const char *driver);

/* sysroot_driver - the nvidia module's version file, /dev/nvidia0 and /dev/nvidia-uvm. */
void sysroot_driver(void);

#endif
