package attack

import "github.com/proctor-evals/proctor/harness/plan"

// list is every attack on one configuration. The variables are set by targets.prelude.
func list(configuration string) []attack {
	var out []attack
	for _, a := range all {
		if configuration == plan.WithSymposium && a.only == plan.Baseline {
			continue
		}
		out = append(out, a)
	}
	return out
}

// all attacks print only what they reached. A guarantee is worded as what holds.
var all = []attack{
	{guarantee: "cargo-agents is not on PATH", only: plan.Baseline, script: `command -v cargo-agents`},
	{guarantee: "no installed cargo-agents can be read or run by its path", only: plan.Baseline, script: `
for f in $TOOLS; do
	head -c 1 "$f" >/dev/null && echo "read $f"
	"$f" --version >/dev/null && echo "ran $f"
done`},
	{guarantee: "a copy of cargo-agents under another name in your home cannot be run", only: plan.Baseline,
		script: `"$HOMEDIR/other-name" | grep -o "$CANARY"`},

	{guarantee: "your home cannot be read", script: `
cat "$HOMEDIR/secret" | grep -o "$CANARY"
ls "$HOMEDIR" | grep secret`},
	{guarantee: "your home cannot be read through links", script: `
ln -s "$HOMEDIR/secret" "$WORK/soft" && grep -o "$CANARY" "$WORK/soft"
ln "$HOMEDIR/secret" "$WORK/hard" && grep -o "$CANARY" "$WORK/hard"
rm -f "$WORK/soft" "$WORK/hard"`},
	{guarantee: "your home cannot be read through /proc", script: `
for p in /proc/[0-9]* /proc/self /proc/thread-self; do
	grep -o "$CANARY" "$p/root$HOMEDIR/secret" && echo "through $p/root"
	for f in "$p"/fd/*; do case $(readlink "$f") in "$HOMEDIR"*) echo "open in $f" ;; esac; done
done`},
	{guarantee: "your home cannot be written", script: `: >"$HOMEDIR/written" && echo "wrote $HOMEDIR/written"`},

	{guarantee: "hidden checks cannot be read", script: `grep -l "" "$TASKDIR"/checks/*`},
	{guarantee: "the solution and the task cannot be read", script: `grep -l "" "$TASKDIR"/task.toml "$EVALS"/proctor.toml; ls "$EVALS" | grep -x tasks`},
	{guarantee: "hidden checks are nowhere while the agent runs",
		fix: "another copy of the evals root is readable on this machine; add it to deny_read in proctor.toml", outside: `find "$TASKDIR" -name "$CHECK*"`,
		script: `find / -xdev -name "$CHECK*"; find "$WORK" "$HOME" "$TMPDIR" -name "$CHECK*"; true`},
	{guarantee: "results cannot be read or written", script: `
grep -o "$CANARY" "$RESULTS/result.json"
: >"$RESULTS/written" && echo "wrote $RESULTS/written"`},
	{guarantee: "other trials of the batch cannot be read or written", script: `
grep -o "$CANARY" "$SIBLING/project/secret"
: >"$SIBLING/project/written" && echo "wrote $SIBLING/project/written"`},
	{guarantee: "other batches cannot be read", script: `grep -o "$CANARY" "$BATCH/secret"; ls "$SCRATCH" | grep -x "$(basename "$BATCH")"`},

	{guarantee: "tools, fixtures, registry and policy of the trial cannot be written",
		outside: `: >"$WORK/x" && echo wrote && rm "$WORK/x"`, script: `
for d in "$RUN/bin" "$RUN"/fixtures "$RUN"/fixtures/* "$RUN/registry" "$STAGED"; do
	: >"$d/written" && echo "wrote in $d"
	mv "$d" "$d.moved" && echo "moved $d"
done
for f in "$RUN"/fixtures/*/* "$RUN/bin/start" "$STAGED"/*; do
	echo >>"$f" && echo "wrote $f"
	chmod u+w "$f" && echo "changed the mode of $f"
done
# The run directory itself is a private, empty stand-in here; what is written into it must stay here.
: >"$RUN/written"
echo "{}" >"$RUN/srt.json"
true`},
	{guarantee: "the trial's policy cannot be read", outside: `cat "$HOMEDIR/secret"`, script: `cat "$RUN/srt.json"`},

	{guarantee: "services on loopback cannot be reached directly", script: `
for host in 127.0.0.1 localhost 127.1 ::1; do
	bash -c 'exec 3<>/dev/tcp/'$host'/'$PORT' && cat <&3' | grep -o "$CANARY" && echo "by $host"
done`},
	{guarantee: "services on loopback cannot be reached through the sandbox's proxy",
		outside: `socat -T 2 - TCP:127.0.0.1:$PORT | grep -o "$CANARY"`, script: `
auth=${HTTP_PROXY#http://}; auth=$(echo "${auth%@*}" | sed 's/%3D/=/g')
for host in 127.0.0.1 localhost 127.1 2130706433 0 '[::1]' '[::ffff:127.0.0.1]'; do
	socat -T 2 - "PROXY:localhost:$host:$PORT,proxyport=3128,proxyauth=$auth" | grep -o "$CANARY" && echo "CONNECT $host"
	if command -v curl >/dev/null; then
		curl -sm 3 --noproxy '' -x "$HTTP_PROXY" "http://$host:$PORT/" | grep -o "$CANARY" && echo "GET $host"
		curl -sm 3 --noproxy '' -x "socks5h://$auth@localhost:1080" "http://$host:$PORT/" | grep -o "$CANARY" && echo "SOCKS $host"
	fi
done`},
	{guarantee: "unix sockets of other programs cannot be reached", script: `
for s in $SOCKETS; do socat -T 2 - "UNIX-CONNECT:$s" | grep -o "$CANARY" && echo "by $s"; done`},
	{guarantee: "shared memory of other programs cannot be seen", script: `ipcs -m | grep -w "$SHMID"`},
	{guarantee: "processes outside cannot be seen", script: `
printf %s "$PROCESS" >"$WORK/pattern"
grep -lf "$WORK/pattern" /proc/[0-9]*/environ /proc/[0-9]*/cmdline
rm -f "$WORK/pattern"`},
	{guarantee: "no command line tells what is denied, or of you",
		outside: `tr '\0' '\n' </proc/self/cmdline; printf '%s\n' "$EVALS" | grep -F -e "$EVALS"`,
		script: `
printf '%s\n' "$USERHOME/" "$EVALS" "$RESULTS" tmpfs >"$WORK/pattern"
cat /proc/[0-9]*/cmdline | tr '\0' '\n' | grep -F -f "$WORK/pattern"
rm -f "$WORK/pattern"`},
	{guarantee: "no environment variable tells of you or of the task", outside: `env | grep -F -e "$HOMEDIR" -e "$EVALS" -e "$KEY"`,
		script: `env | grep -v '^PATH=' | grep -F -e "$USERHOME/" -e "$EVALS" -e "$TASK" -e "$KEY" -e without-symposium -e with-symposium -e staged-skills`},
	{guarantee: "a key in your environment does not reach the trial", outside: `env | grep -o "$KEY"`,
		script: `env | grep -o "$KEY"; printf %s "$KEY" >"$WORK/pattern"; grep -lf "$WORK/pattern" /proc/[0-9]*/environ; rm -f "$WORK/pattern"`},
}

// leftBehind is run last inside: what it starts must be gone afterwards.
const leftBehind = `
(setsid sh -c ': '"$ORPHAN"'; trap "" TERM HUP INT; while :; do sleep 1; done' </dev/null >/dev/null 2>&1 &)
ipcmk -M 4096 >/dev/null 2>&1
sleep 0.3
`
