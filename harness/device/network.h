/* What the network interfaces of this machine promise, by the kernel's own files. */
#ifndef CEIL_NETWORK_H
#define CEIL_NETWORK_H

/* Rates in one direction, 1e9 bytes per second; 0: none, or unknown. */
struct ceil_network {
	int ports; /* that are up and say their rate */
	double gb_s;
	char name[24]; /* "InfiniBand", "RoCE" or "Ethernet" */
};

/*
 * ceil_network_read - active ports of /sys/class/infiniband; without one the physical interfaces
 * of /sys/class/net that are up. An interface that belongs to an RDMA device counts once.
 * Source: Documentation/ABI/stable/sysfs-class-infiniband and sysfs-class-net of Linux 6.1.
 */
void ceil_network_read(struct ceil_network *ret_network);

#endif
