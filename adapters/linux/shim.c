/*
 * Preloaded into the program `linux`, which is the kernel. It makes the kernel's random numbers a
 * function of a seed, and ties the kernel to the program that started it.
 *
 *   UML_SEED       the seed: an unsigned number
 *   BBRLAB_CPU     the processor to which the kernel and its children are pinned; unset: not pinned
 *   BBRLAB_PARENT  the process that started the kernel; the kernel is killed when it ends
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

/* The finaliser of splitmix64. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* The kernel's only entropy from outside is one call of this function at boot. */
ssize_t getrandom(void *buf, size_t len, unsigned flags)
{
	static uint64_t counter;
	const char *text = getenv("UML_SEED");
	uint64_t seed = mix(text ? strtoull(text, NULL, 0) : 1);
	unsigned char *to = buf;

	(void)flags;
	for (size_t done = 0; done < len;) {
		uint64_t value = mix(seed + counter++);
		size_t n = len - done < 8 ? len - done : 8;

		memcpy(to + done, &value, n);
		done += n;
	}
	return (ssize_t)len;
}

/*
 * Runs before the kernel's main(), and once more when the kernel restarts itself without randomised
 * addresses.
 */
__attribute__((constructor)) static void begin(void)
{
	const char *cpu = getenv("BBRLAB_CPU"), *parent = getenv("BBRLAB_PARENT");

	if (parent) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* It may have ended before the call. */
		if (getppid() != (pid_t)atol(parent))
			_exit(1);
	}
	if (cpu) {
		int number = atoi(cpu);
		cpu_set_t *set = CPU_ALLOC(number + 1);
		size_t size = CPU_ALLOC_SIZE(number + 1);

		if (!set)
			return;
		CPU_ZERO_S(size, set);
		CPU_SET_S(number, size, set);
		sched_setaffinity(0, size, set);
		CPU_FREE(set);
	}
}
