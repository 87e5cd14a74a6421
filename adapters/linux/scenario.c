/* The scenario: a file with one directive per line. README.md has the table. */
#include "lab.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct flow *flows;
struct action *actions;
struct line *sysctls, *writes, *ends, *features, *params, *tuns;
int n_flows, n_actions, n_sysctls, n_writes, n_ends, n_features, n_params, n_tuns;
char out[400], setup[400];
int extra, has_bbr_columns;
int64_t duration = 10 * SEC, period = 10000000, phase;

static int n_paths, line_number;
static const char *file;

static void __attribute__((noreturn)) wrong(const char *expected, const char *line)
{
	errno = 0;
	die("%s:%d: expected %s, found `%s`", file, line_number, expected, line);
}

/* Seconds with up to nine decimal places, or a number with a scale, in whole nanoseconds. */
static int64_t nanoseconds(const char *text, double scale, const char *line)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || !(value >= 0 && value * scale < 9e18))
		wrong("a time", line);
	return (int64_t)(value * scale + 0.5);
}

static int flow_number(int64_t number, const char *line)
{
	if (number < 0 || number >= n_flows)
		wrong("the number of a flow that is declared above", line);
	return (int)number;
}

/* The value of ` key=` in a line, up to the next space; NULL if the line lacks the key. */
static const char *value_of(const char *line, const char *key)
{
	char pattern[32];
	const char *found;

	snprintf(pattern, sizeof(pattern), " %s=", key);
	found = strstr(line, pattern);
	return found ? found + strlen(pattern) : NULL;
}

static int64_t number(const char *line, const char *key, int64_t otherwise)
{
	const char *text = value_of(line, key);
	char *end;
	int64_t value;

	if (!text)
		return otherwise;
	value = strtoll(text, &end, 10);
	if (end == text || (*end && *end != ' '))
		wrong("a whole number", text);
	return value;
}

/* A whole number from 0 to `most`, or 0 if the line lacks the key. */
static int64_t number_up_to(const char *line, const char *key, int64_t most)
{
	int64_t value = number(line, key, 0);
	char expected[64];

	snprintf(expected, sizeof(expected), "%s= from 0 to %lld", key, (long long)most);
	if (value < 0 || value > most)
		wrong(expected, line);
	return value;
}

static void words(const char *line, const char *key, char *to, size_t size, const char *otherwise)
{
	const char *text = value_of(line, key);
	size_t length = text ? strcspn(text, " ") : 0;

	if (!text) {
		snprintf(to, size, "%s", otherwise);
		return;
	}
	if (length >= size)
		wrong("a shorter name", text);
	memcpy(to, text, length);
	to[length] = 0;
}

static int64_t time_of(const char *line, const char *key, int64_t otherwise)
{
	const char *text = value_of(line, key);

	return text ? nanoseconds(text, 1e9, line) : otherwise;
}

static enum mode mode_of(const char *line)
{
	static const char *const names[] = { "bulk",  "periodic", "train",   "script",
					     "bytes", "pace",     "requests" };
	char name[NAME];

	words(line, "mode", name, sizeof(name), "bulk");
	for (unsigned k = 0; k < sizeof(names) / sizeof(*names); k++)
		if (!strcmp(name, names[k]))
			return (enum mode)k;
	wrong("a mode: bulk, bytes, periodic, script, pace, train or requests", name);
}

static void add_action(int64_t at, int kind, int flow, int64_t value, const char *command)
{
	actions = grow(actions, n_actions, sizeof(*actions));
	actions[n_actions] = (struct action){ .at = at,
					      .kind = kind,
					      .flow = flow,
					      .value = value,
					      .command = command ? strdup(command) : NULL,
					      .order = n_actions };
	n_actions++;
}

static void read_flow(const char *line)
{
	struct flow *f;
	char protocol[NAME];

	flows = grow(flows, n_flows, sizeof(*flows));
	f = &flows[n_flows++];
	memset(f, 0, sizeof(*f));
	words(line, "proto", protocol, sizeof(protocol), "tcp");
	if (strcmp(protocol, "tcp") && strcmp(protocol, "udp"))
		wrong("proto=tcp or proto=udp", line);
	f->is_udp = *protocol == 'u';
	words(line, "cc", f->cc, sizeof(f->cc), "cubic");
	words(line, "dstcc", f->dstcc, sizeof(f->dstcc), "");
	words(line, "src", f->src, sizeof(f->src), "s0");
	words(line, "dst", f->dst, sizeof(f->dst), "d0");
	words(line, "addr", f->addr, sizeof(f->addr), "");
	f->mode = mode_of(line);
	f->start = time_of(line, "start", SEC / 10);
	f->stop = time_of(line, "stop", NEVER);
	f->size = number(line, "size", 0);
	f->interval = number(line, "interval_ns", number(line, "interval_ms", 0) * 1000000);
	f->gap = number(line, "gap_ns", number(line, "gap_ms", 0) * 1000000);
	f->count = number_up_to(line, "count", INT64_MAX);
	/* Options of sockets have 32 bits. The kernel doubles the sizes of buffers. */
	f->lowat = number_up_to(line, "lowat", INT_MAX);
	f->clamp = number_up_to(line, "clamp", INT_MAX);
	f->rcvbuf = number_up_to(line, "rcvbuf", INT_MAX / 2);
	f->sndbuf = number_up_to(line, "sndbuf", INT_MAX / 2);
	f->reply = number_up_to(line, "reply", CHUNK);
	f->mss = number_up_to(line, "mss", INT_MAX);
	f->unit = number(line, "unit", f->mss ? f->mss : 1448);
	f->tos = number_up_to(line, "tos", 255);
	f->notsent_lowat = number_up_to(line, "notsent_lowat", UINT32_MAX);
	f->pacing = number_up_to(line, "pacing", INT64_MAX);
	f->read_bytes = number_up_to(line, "read_bytes", INT64_MAX);
	f->read_interval = number_up_to(line, "read_ns", INT64_MAX);
	f->nodelay = number_up_to(line, "nodelay", INT_MAX) != 0;
	f->has_latency = number_up_to(line, "latency", INT_MAX) != 0;
	f->is_sampled = number(line, "sample", 1) != 0;
	f->closes = number_up_to(line, "close", INT_MAX) != 0;
	f->sfd = f->rfd = f->lfd = -1;
	f->connected = f->done = -1;
	f->highest = -1;
	if (!*f->addr)
		wrong("addr=", line);
	if (f->mode == PERIODIC && (f->size <= 0 || f->interval <= 0))
		wrong("size and interval_ms or interval_ns above 0", line);
	if ((f->mode == BYTES || f->mode == TRAIN) && f->size <= 0)
		wrong("size above 0", line);
	if (f->unit <= 0)
		wrong("unit above 0", line);
	if (f->is_udp && f->mode != PACE && f->mode != PERIODIC && f->mode != SCRIPT)
		wrong("mode pace, periodic or script for datagrams", line);
	if (f->is_udp && f->unit > 65507)
		wrong("unit up to 65507 for datagrams", line);
	if (!f->read_bytes != !f->read_interval)
		wrong("read_bytes and read_ns together", line);
	if (f->stop != NEVER)
		add_action(f->stop, 's', n_flows - 1, 0, NULL);
}

static void add_line(struct line **list, int *n, const char *text)
{
	*list = grow(*list, *n, sizeof(**list));
	(*list)[(*n)++].text = strdup(text);
}

static void place(const char *text, char *ns, char *dev)
{
	if (sscanf(text, "%15s %15s", ns, dev) != 2)
		wrong("a namespace and a device", text);
}

static void read_event(const char *line, const char *rest, int kind)
{
	double at;
	long long flow, value = 0;
	char word[32];
	int n;

	if (sscanf(rest, "%lf %n", &at, &n) != 1 || !(at >= 0 && at < 9e9))
		wrong("a time", line);
	if (kind == 'a') {
		add_action(nanoseconds(rest, 1e9, line), kind, 0, 0, rest + n);
		return;
	}
	if (sscanf(rest + n, "%lld %31s", &flow, word) != 2)
		wrong("a flow and a value", line);
	if (kind == 'p' && !strcmp(word, "max"))
		value = -1;
	else if (sscanf(word, "%lld", &value) != 1 || value < 0)
		wrong("a number", line);
	add_action(nanoseconds(rest, 1e9, line), kind, flow_number(flow, line), value, NULL);
}

static void read_response(const char *line, const char *rest)
{
	long long flow, bytes, think;
	struct flow *f;

	if (sscanf(rest, "%lld %lld %lld", &flow, &bytes, &think) != 3 || bytes <= 0 || think < 0)
		wrong("a flow, bytes and nanoseconds", line);
	f = &flows[flow_number(flow, line)];
	f->responses = grow(f->responses, (int)f->n_responses, sizeof(*f->responses));
	f->responses[f->n_responses++] = (struct response){ .bytes = bytes, .think = think };
}

static void read_line(const char *line)
{
	char word[16];
	const char *rest;
	int n = 0;

	if (sscanf(line, "%15s %n", word, &n) < 1 || *word == '#')
		return;
	rest = line + n;
#define IS(name) !strcmp(word, name)
	if (IS("out"))
		snprintf(out, sizeof(out), "%s", rest);
	else if (IS("setup"))
		snprintf(setup, sizeof(setup), "%s", rest);
	else if (IS("duration"))
		duration = nanoseconds(rest, 1e9, line);
	else if (IS("sample_ms"))
		period = nanoseconds(rest, 1e6, line);
	else if (IS("phase_us"))
		phase = nanoseconds(rest, 1e3, line);
	else if (IS("extra"))
		extra = atoi(rest);
	else if (IS("bbrx"))
		has_bbr_columns = atoi(rest);
	else if (IS("sysctl"))
		add_line(&sysctls, &n_sysctls, rest);
	else if (IS("write") && *rest == '/')
		add_line(&writes, &n_writes, rest);
	else if (IS("end"))
		add_line(&ends, &n_ends, rest);
	else if (IS("ecnlow"))
		add_line(&features, &n_features, rest);
	else if (IS("param"))
		add_line(&params, &n_params, rest);
	else if (IS("tun"))
		add_line(&tuns, &n_tuns, rest);
	else if (IS("qdisc")) {
		queues = grow(queues, n_queues, sizeof(*queues));
		memset(&queues[n_queues], 0, sizeof(*queues));
		place(rest, queues[n_queues].ns, queues[n_queues].dev);
		n_queues++;
	} else if (IS("pathqdisc")) {
		/* One line per flow in flow order; the flows may be declared below. */
		add_action(0, 'q', n_paths++, 0, rest);
	} else if (IS("capture")) {
		captures = grow(captures, n_captures, sizeof(*captures));
		place(rest, captures[n_captures].ns, captures[n_captures].dev);
		n_captures++;
	} else if (IS("write"))
		read_event(line, rest, 'w');
	else if (IS("read"))
		read_event(line, rest, 'r');
	else if (IS("pace"))
		read_event(line, rest, 'p');
	else if (IS("at"))
		read_event(line, rest, 'a');
	else if (IS("request"))
		read_response(line, rest);
	else if (IS("flow"))
		read_flow(line + strspn(line, " ") + 4);
	else
		wrong("a directive", line);
#undef IS
}

/* By time, and at the same time in the order of the file. */
static int by_time(const void *one, const void *other)
{
	const struct action *a = one, *b = other;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->order - b->order;
}

/* Moves the places of the path's qdiscs from the time table to the flows. */
static void assign_paths(void)
{
	int kept = 0;

	for (int k = 0; k < n_actions; k++) {
		struct action *action = &actions[k];

		if (action->kind != 'q') {
			actions[kept++] = *action;
			continue;
		}
		if (action->flow < n_flows)
			place(action->command, flows[action->flow].path_ns,
			      flows[action->flow].path_dev);
		free(action->command);
	}
	n_actions = kept;
}

/* What a flow's line cannot know of the lines below it. */
static void check_requests(void)
{
	for (int i = 0; i < n_flows; i++) {
		struct flow *f = &flows[i];

		if (f->mode != REQUESTS)
			continue;
		if (!f->n_responses)
			wrong("a line `request` for each flow with mode=requests", "none");
		if (!f->count)
			f->count = f->n_responses;
	}
}

void load(const char *path)
{
	FILE *scenario = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	if (!scenario)
		die("open %s", path);
	file = path;
	while (getline(&line, &size, scenario) >= 0) {
		line_number++;
		line[strcspn(line, "\n")] = 0;
		read_line(line);
	}
	free(line);
	fclose(scenario);
	if (!*out || !*setup)
		wrong("the directives out and setup", "none");
	if (period <= 0)
		wrong("sample_ms above 0", "0");
	assign_paths();
	check_requests();
	qsort(actions, (size_t)n_actions, sizeof(*actions), by_time);
}
