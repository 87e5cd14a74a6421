/*
 * The program on a host, in real time. It makes its namespaces in a mount namespace of its own, so
 * that they end with it, also if it is killed. Another thread of the parent emulates the links
 * between the TUN devices: it gets their descriptors and the time t = 0 over the program's standard
 * input, which is a socket. If the parent sends a byte, the run ends early.
 */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEVICES 2

/* The emulator's priority is above the one of the senders and receivers. */
#define PRIORITY 10

const char *find_scenario(void)
{
	return "scenario";
}

void set_up(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWNS | CLONE_NEWNET))
		die("make namespaces");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/run", "tmpfs", 0, NULL))
		die("mount /run in a namespace");
}

static int open_device(const char *place)
{
	struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI };
	char ns[NAME], dev[NAME];
	int fd;

	if (sscanf(place, "%15s %15s", ns, dev) != 2)
		die("tun %s", place);
	enter(ns);
	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", dev);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request))
		die("TUN device %s", dev);
	return fd;
}

/* Without the right to real-time priorities, the run goes on: its lateness is measured. */
static void raise_priorities(void)
{
	const char *emulator = getenv("BBRLAB_EMULATOR");
	struct sched_param own = { .sched_priority = PRIORITY };
	struct sched_param emulators = { .sched_priority = PRIORITY + 1 };

	sched_setscheduler(0, SCHED_FIFO, &own);
	if (emulator)
		sched_setscheduler(atoi(emulator), SCHED_FIFO, &emulators);
}

void begin_at(int64_t t0)
{
	char space[CMSG_SPACE(DEVICES * sizeof(int))] = { 0 };
	struct iovec data = { &t0, sizeof(t0) };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = space,
				  .msg_controllen = sizeof(space) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int fds[DEVICES];

	errno = 0;
	if (n_tuns != DEVICES)
		die("expected %d lines `tun`, found %d", DEVICES, n_tuns);
	for (int k = 0; k < DEVICES; k++)
		fds[k] = open_device(tuns[k].text);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(header), fds, sizeof(fds));
	raise_priorities();
	if (sendmsg(STDIN_FILENO, &message, MSG_NOSIGNAL) != sizeof(t0))
		die("send the devices to the emulator");
	watch(STDIN_FILENO, K_END, 0, EPOLLIN, EPOLL_CTL_ADD);
}

void switch_off(void)
{
	_exit(0);
}
