/* The program as the first process of a guest, which is a kernel in virtual time. */
#include "lab.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <unistd.h>

/*
 * The scenario is in the folder in which the kernel was started. The host's /proc, which is seen
 * through hostfs until the guest's own hides it, knows the folder.
 */
const char *find_scenario(void)
{
	static char folder[PATH_MAX], real[PATH_MAX];
	const char *path = getenv("lab");
	char *slash;

	if (!path || !strrchr(path, '/') || strlen(path) >= sizeof(folder))
		_exit(1);
	strcpy(folder, path);
	slash = strrchr(folder, '/');
	*slash = 0;
	if (!realpath(folder, real) || chdir(real))
		_exit(1);
	return slash + 1;
}

void set_up(void)
{
	mount("proc", "/proc", "proc", 0, 0);
	mount("sysfs", "/sys", "sysfs", 0, 0);
	mount("tmpfs", "/run", "tmpfs", 0, 0);
	mount("tmpfs", "/tmp", "tmpfs", 0, 0);
}

/* The guest has no devices that another program serves. */
void begin_at(int64_t t0)
{
	(void)t0;
}

void switch_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	_exit(1);
}
