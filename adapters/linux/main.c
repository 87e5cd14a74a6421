/* The life of the program: set-up, the loop, the end. */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

char *buf;
static int64_t t0; /* of the clock */
static int epoll_fd, timer_fd, progress_fd, home, is_ending;

/* Writes how the run ended, and ends. */
static void __attribute__((noreturn)) end_with(const char *text)
{
	FILE *status = fopen("status", "w");

	if (status) {
		fprintf(status, "%s\n", text);
		fclose(status);
	}
	switch_off();
}

void die(const char *format, ...)
{
	char text[1000];
	int error = errno;
	va_list arguments;
	size_t n;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	n = strlen(text);
	if (error)
		snprintf(text + n, sizeof(text) - n, ": %s", strerror(error));
	end_with(text);
}

int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * SEC + time.tv_nsec - t0;
}

/* Makes room for the element with the number `n`, if it is the first one beyond a power of two. */
void *grow(void *list, int n, size_t size)
{
	if (n && (n & (n - 1)))
		return list;
	list = realloc(list, (n ? 2 * (size_t)n : 1) * size);
	if (!list)
		die("memory");
	return list;
}

int status_of(const char *command)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void shell(const char *command)
{
	int status;

	setns(home, CLONE_NEWNET);
	status = status_of(command);
	errno = 0;
	if (status)
		die("exit status %d of `%s`", status, command);
}

void enter(const char *ns)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", ns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("namespace %s", ns);
	close(fd);
}

void watch(int fd, enum kind kind, int i, unsigned events, int op)
{
	struct epoll_event event = { .events = events,
				     .data.u64 = (uint64_t)kind << 32 | (unsigned)i };

	if (epoll_ctl(epoll_fd, op, fd, &event))
		die("epoll_ctl");
}

/* ---- the timers of flows: a binary heap ---- */

/* Each flow has two: number 2 i for its sender, 2 i + 1 for its reader. */
static int *heap, *place_of, heap_size;

static int64_t due_of(int timer)
{
	return timer & 1 ? flows[timer / 2].read_due : flows[timer / 2].due;
}

static int is_before(int timer, int other)
{
	int64_t a = due_of(timer), b = due_of(other);

	return a != b ? a < b : timer < other;
}

static void put(int place, int timer)
{
	heap[place] = timer;
	place_of[timer] = place;
}

static void sift(int place)
{
	int timer = heap[place], child;

	while (place && is_before(timer, heap[(place - 1) / 2])) {
		put(place, heap[(place - 1) / 2]);
		place = (place - 1) / 2;
	}
	while ((child = 2 * place + 1) < heap_size) {
		if (child + 1 < heap_size && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], timer))
			break;
		put(place, heap[child]);
		place = child;
	}
	put(place, timer);
}

void set_due(int i, int64_t due)
{
	flows[i].due = due;
	sift(place_of[2 * i]);
}

void set_read_due(int i, int64_t due)
{
	flows[i].read_due = due;
	sift(place_of[2 * i + 1]);
}

static void arm_flows(void)
{
	heap = calloc((size_t)n_flows * 2 + 1, sizeof(*heap));
	place_of = calloc((size_t)n_flows * 2 + 1, sizeof(*place_of));
	if (!heap || !place_of)
		die("memory");
	for (int i = 0; i < n_flows; i++) {
		flows[i].due = flows[i].start;
		flows[i].read_due = flows[i].read_bytes ? flows[i].start : NEVER;
		for (int timer = 2 * i; timer <= 2 * i + 1; timer++) {
			put(heap_size++, timer);
			sift(heap_size - 1);
		}
	}
}

/* ---- set-up ---- */

static void put_file(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		die("set %s to %s", path, value);
	close(fd);
}

/* `NS KEY VALUE...`; NS "-" is the first namespace. */
static void set_sysctl(const char *line)
{
	char ns[NAME], key[100], path[200];
	int n = 0;

	if (sscanf(line, "%15s %99s %n", ns, key, &n) != 2)
		die("sysctl %s", line);
	if (*ns == '-')
		setns(home, CLONE_NEWNET);
	else
		enter(ns);
	snprintf(path, sizeof(path), "/proc/sys/%s", key);
	put_file(path, line + n);
}

static void set_file(const char *folder, const char *line)
{
	char name[200], path[300];
	int n = 0;

	if (sscanf(line, "%199s %n", name, &n) != 1)
		die("write %s", line);
	snprintf(path, sizeof(path), "%s%s", folder, name);
	put_file(path, line + n);
}

static void build_topology(void)
{
	char command[500];

	snprintf(command, sizeof(command), "/bin/sh %s", setup);
	shell(command);
	for (int k = 0; k < n_sysctls; k++)
		set_sysctl(sysctls[k].text);
	for (int k = 0; k < n_writes; k++)
		set_file("", writes[k].text);
	for (int k = 0; k < n_features; k++) {
		char ns[NAME], gateway[32];

		if (sscanf(features[k].text, "%15s %31s", ns, gateway) == 2)
			set_ecn_low(ns, gateway);
	}
}

/* ---- the loop ---- */

static void run_action(const struct action *action)
{
	switch (action->kind) {
	case 'a':
		shell(action->command);
		break;
	case 'w':
		on_write(action->flow, action->value, action->at);
		break;
	case 'r':
		on_hearing(action->flow, action->value != 0);
		break;
	case 'p':
		on_pace(action->flow, action->value, action->at);
		break;
	case 's':
		on_stop(action->flow);
		break;
	}
}

/* Returns whether a timer was moved, so that the next one must be set. */
static int on_event(enum kind kind, int i)
{
	switch (kind) {
	case K_LISTEN:
		on_accept(i);
		return 0;
	case K_SEND:
		on_send(i);
		return 0;
	case K_RECV:
		return on_receive(i, CHUNK);
	case K_END:
		is_ending = 1;
		return 1;
	default:
		return 0;
	}
}

/* Waits for the time `due`, and lets the sockets work until then. */
static int wait_until(int64_t due)
{
	struct itimerspec timer = { .it_value = { (t0 + due) / SEC, (t0 + due) % SEC } };
	struct epoll_event events[64];
	int has_fired = 0, has_moved = 0;

	timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &timer, 0);
	while (!has_fired && !has_moved) {
		int n = epoll_wait(epoll_fd, events, 64, -1);

		for (int k = 0; k < n; k++) {
			enum kind kind = (enum kind)(events[k].data.u64 >> 32);
			uint64_t expired;

			if (kind != K_TIMER)
				has_moved |= on_event(kind, (int)(unsigned)events[k].data.u64);
			else if (read(timer_fd, &expired, sizeof(expired)) == sizeof(expired))
				has_fired = 1;
		}
	}
	return has_fired;
}

/*
 * Tells the host how far the run is: the size of the file `progress` in bytes is the finished share
 * in percent. Hostfs changes the size at once and without an interrupt. Interrupts, such as those
 * of a console, are mixed into the kernel's random numbers. The rows so far are written to the host
 * first, so that an interrupted run has the results up to its progress.
 */
static void show_progress(int64_t at)
{
	static int64_t shown;
	int64_t percent = duration ? at * 100 / duration : 100;

	if (percent > shown) {
		shown = percent;
		flush_records();
		/* If it fails, the host sees no progress. */
		if (ftruncate(progress_fd, percent))
			return;
	}
}

static void loop(void)
{
	int64_t next_sample = 0;
	int next_action = 0;

	for (;;) {
		int64_t due = next_sample;

		if (heap_size && due_of(heap[0]) < due)
			due = due_of(heap[0]);
		if (next_action < n_actions && actions[next_action].at < due)
			due = actions[next_action].at;
		if (!wait_until(due)) {
			if (is_ending)
				return;
			continue;
		}
		if (due == next_sample) {
			sample(due);
			show_progress(due);
			if (due >= duration)
				return;
			next_sample += period;
		}
		/* Commands first, then the flows' timers, then their entries in the time table. */
		int first = next_action;
		for (; next_action < n_actions && actions[next_action].at <= due; next_action++)
			if (actions[next_action].kind == 'a')
				run_action(&actions[next_action]);
		while (heap_size && due_of(heap[0]) <= due) {
			int timer = heap[0];

			if (timer & 1)
				on_read_timer(timer / 2);
			else
				on_timer(timer / 2);
		}
		for (; first < next_action; first++)
			if (actions[first].kind != 'a')
				run_action(&actions[first]);
	}
}

int main(void)
{
	const char *scenario = find_scenario();
	struct rlimit files = { 65536, 65536 };
	int64_t begun;

	set_up();
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setrlimit(RLIMIT_NOFILE, &files);
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	load(scenario);
	progress_fd = open("progress", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	buf = malloc(CHUNK);
	if (!buf)
		die("memory");
	memset(buf, 'x', CHUNK);
	build_topology();
	open_records();
	open_queues();
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	watch(timer_fd, K_TIMER, 0, EPOLLIN, EPOLL_CTL_ADD);
	for (int i = 0; i < n_flows; i++)
		begin_listening(i);
	arm_flows();
	open_captures();
	for (int k = 0; k < n_params; k++)
		set_file("/sys/module/", params[k].text);
	/*
	 * t = 0 is a whole second of the guest's clock, shifted by the phase, so that a run does
	 * not depend on how long its set-up took. Before it, the guest has switched to timers of
	 * high resolution.
	 */
	begun = now();
	t0 = (begun / SEC + 2) * SEC + phase;
	begin_at(t0);
	loop();
	record_end();
	for (int k = 0; k < n_ends; k++)
		shell(ends[k].text);
	if (n_captures)
		save_captures();
	close_records();
	end_with("ok");
}
