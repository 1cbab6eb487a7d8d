package attack

import (
	"fmt"
	"slices"

	"github.com/proctor-evals/proctor/harness/plan"
)

// list is every attack on one configuration for which this machine has a target, and an answer for
// each that has none. vars are the targets, which targets.prelude gives the scripts as variables.
func list(configuration string, vars map[string]string) (out []attack, without []Result) {
	for _, a := range all() {
		switch {
		case !a.isFor(configuration):
		case a.needs != "" && vars[a.needs] == "":
			without = append(without, Result{Guarantee: a.guarantee, Configuration: configuration, Verdict: NoTarget, Detail: fmt.Sprintf("this machine has none (%s)", absent[a.needs])})
		default:
			out = append(out, a)
		}
	}
	return out, without
}

func (a attack) isFor(configuration string) bool {
	return a.only == "" || configuration != plan.WithSymposium
}

// absent says why a target may be missing.
var absent = map[string]string{
	"HELD": "the descriptor the runner would hold open is in use", "CHECKSUMS": "no task has a hidden check",
	"SOLUTIONSUMS": "no task has a solution with a file of its own of 64 bytes or more", "SKILLNAMES": "no task has a plugin with a skill",
	"ABSTRACT": "this system has no abstract sockets", "SERVICES": "nothing listens", "ADDRESS": "this machine has no address but loopback",
	"NAME": "no name server answers outside either", "KEYNAME": "the kernel keeps no keys for this user", "SHMDIR": "there is no /dev/shm",
	"SETTINGS": "you are not root: the kernel refuses you outside too",
}

// all is every attack.
func all() []attack { return slices.Concat(direct, searched) }

// direct attacks go for what was planted, or for what is where everybody knows. Like all attacks they print only what
// they reached. A guarantee is worded as what holds.
var direct = []attack{
	{guarantee: "cargo-agents is not on PATH", only: baselines, script: `command -v cargo-agents`},
	{guarantee: "no installed cargo-agents can be read or run by its path", only: baselines, script: `
for f in $TOOLS; do
	head -c 1 "$f" >/dev/null && echo "read $f"
	"$f" --version >/dev/null && echo "ran $f"
done`},
	{guarantee: "a copy of cargo-agents under another name in your home cannot be run", only: baselines,
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
	{guarantee: "files your shell holds open cannot be read", needs: "HELD", script: `
# bash, since dash knows no descriptor above 9.
bash -c 'cat <&'"$HELD" | grep -o "$CANARY"
for p in /proc/[0-9]* /proc/self; do grep -o "$CANARY" "$p/fd/$HELD" && echo "through $p/fd/$HELD"; done`,
		outside: `bash -c 'exec '"$HELD"'<"$1"; cat <&'"$HELD" - "$HOMEDIR/secret" | grep -o "$CANARY"`},
	{guarantee: "the machine's temporary folder cannot be read", script: `grep -o "$CANARY" "$SHAREDTMP/secret"; ls "$SHAREDTMP"`},
	{guarantee: "your home cannot be written", script: `true >"$HOMEDIR/written" && echo "wrote $HOMEDIR/written"`},

	{guarantee: "hidden checks cannot be read", script: `grep -l "" "$EVALS"/tasks/*/checks/*`},
	{guarantee: "the solution and the task cannot be read", script: `
grep -rl "" "$EVALS"/tasks/*/task.toml "$EVALS"/tasks/*/solution "$EVALS"/proctor.toml
ls "$EVALS" | grep -x tasks`},
	{guarantee: "results cannot be read or written", script: `
grep -o "$CANARY" "$RESULTS/result.json"
true >"$RESULTS/written" && echo "wrote $RESULTS/written"`},
	{guarantee: "other trials of the batch cannot be read or written", script: `
grep -o "$CANARY" "$SIBLING/project/secret"
true >"$SIBLING/project/written" && echo "wrote $SIBLING/project/written"`},
	{guarantee: "other batches cannot be read", script: `grep -o "$CANARY" "$BATCH/secret"; ls "$SCRATCH" | grep -x "$(basename "$BATCH")"`},

	{guarantee: "the trial's policy cannot be read", outside: `cat "$HOMEDIR/secret"`, script: `cat "$RUN/srt.json"`},
	{guarantee: "tools, fixtures, registry and policy of the trial cannot be written",
		outside: `true >"$WORK/x" && echo wrote && rm "$WORK/x"`, script: `
for d in "$RUN/bin" "$RUN"/fixtures "$RUN"/fixtures/* "$RUN/registry" "$STAGED"; do
	true >"$d/written" && echo "wrote in $d"
	mv "$d" "$d.moved" && echo "moved $d"
done
for f in "$RUN"/fixtures/*/* "$RUN"/bin/* "$STAGED"/*; do
	[ "$f" -ef /bin/sh ] && continue
	echo >>"$f" && echo "wrote $f"
	chmod u+w "$f" && echo "changed the mode of $f"
	ln "$(readlink -f "$f")" "$WORK/hard" && echo "linked $f"
	rm -f "$WORK/hard"
done
# The run directory itself is a private, empty stand-in here; what is written into it must stay here.
true >"$RUN/written"
echo "{}" >"$RUN/srt.json"
true`},

	{guarantee: "services on loopback cannot be reached directly", script: `
for host in 127.0.0.1 localhost 127.1 ::1; do
	bash -c 'exec 3<>/dev/tcp/'$host'/'$PORT' && cat <&3' | grep -o "$CANARY" && echo "by $host"
done`},
	{guarantee: "services on loopback cannot be reached through the sandbox's proxy",
		outside: `socat -T 2 - TCP:127.0.0.1:$PORT | grep -o "$CANARY"`, script: `
auth=${HTTP_PROXY#http://}; auth=$(echo "${auth%@*}" | sed 's/%3D/=/g')
for host in 127.0.0.1 localhost 127.1 2130706433 0 '[::1]' '[::ffff:127.0.0.1]'; do
	socat -u -T 2 "PROXY:localhost:$host:$PORT,proxyport=3128,proxyauth=$auth" - | grep -o "$CANARY" && echo "CONNECT $host"
	if command -v curl >/dev/null; then
		curl -sm 3 --noproxy '' -x "$HTTP_PROXY" "http://$host:$PORT/" | grep -o "$CANARY" && echo "GET $host"
		curl -sm 3 --noproxy '' -x "socks5h://$auth@localhost:1080" "http://$host:$PORT/" | grep -o "$CANARY" && echo "SOCKS $host"
	fi
done`},
	{guarantee: "unix sockets of other programs cannot be reached", script: `
for s in $SOCKETS; do socat -T 2 - "UNIX-CONNECT:$s" | grep -o "$CANARY" && echo "by $s"; done`},
	{guarantee: "abstract unix sockets of other programs cannot be reached", needs: "ABSTRACT", script: `
socat -T 2 - "ABSTRACT-CONNECT:$ABSTRACT" | grep -o "$CANARY"
grep -o "$ABSTRACT" /proc/net/unix`},
	{guarantee: "your ssh agent, message buses, docker and keyring services cannot be reached", needs: "SERVICES", script: `
for s in $SERVICES; do socat -u OPEN:/dev/null "UNIX-CONNECT:$s" && echo "by $s"; done`},
	{guarantee: "no variable leads to your ssh agent, message bus or display",
		outside: `printf '%s\n' "$SSH_AUTH_SOCK"`, script: `env | grep -E '^(SSH_|DBUS_|GPG_|XDG_|DISPLAY|WAYLAND_|DOCKER_)'`},
	{guarantee: "the machine's other addresses cannot be reached", needs: "ADDRESS", script: `
bash -c 'exec 3<>/dev/tcp/'"${ADDRESS% *}/${ADDRESS#* }"' && cat <&3' | grep -o "$CANARY" && echo "by TCP"
echo x | socat -T 1 - "UDP:${ADDRESS% *}:${ADDRESS#* }" | grep -o "$CANARY" && echo "by UDP"`},
	{guarantee: "names cannot be resolved", needs: "NAME", script: `getent ahosts "$NAME"`},
	{guarantee: "the network has no interface but the sandbox's own loopback", outside: `tail -n +3 /proc/net/dev; cat /proc/net/route`, script: `
tail -n +3 /proc/net/dev | grep -v '^ *lo:'
tail -n +2 /proc/net/route`},
	{guarantee: "your keys in the kernel's keyring cannot be read", needs: "KEYNAME", script: `
perl -e '
my ($keyctl, $name) = @ARGV;
my $type = "user";
# Link every keyring that can be seen into the own one (KEYCTL_LINK), then search and read.
open my $keys, "<", "/proc/keys" and do { while (<$keys>) { syscall($keyctl, 8, hex((split)[0]), -3) } };
for my $ring (-2, -3, -4, -5) {
	my $id = syscall($keyctl, 10, $ring, $type, $name, 0);
	next if $id < 0;
	my $value = "\0" x 64;
	syscall($keyctl, 11, $id, $value, 64) > 0 and print "$value\n";
}' "$KEYCTL" "$KEYNAME" | grep -ao "$CANARY"`},
	{guarantee: "the kernel's list of keys cannot be read", needs: "KEYNAME", script: `cat /proc/keys /proc/key-users`},
	{guarantee: "no namespace can be made and nothing mounted, the machine's control groups neither",
		outside: `unshare --user --map-root-user true && echo "made a namespace"`, script: `
for kind in --user --mount --cgroup --uts --ipc --net --pid; do unshare $kind true && echo "made a namespace ($kind)"; done
mkdir "$WORK/mounted"
for kind in cgroup2 "cgroup -o freezer" "cgroup -o memory" tmpfs; do
	mount -t $kind none "$WORK/mounted" && echo "mounted $kind"
	unshare --user --map-root-user --cgroup --mount mount -t $kind none "$WORK/mounted" && echo "mounted $kind in a namespace"
done
for f in $(find /sys/fs/cgroup -name cgroup.procs | head -40); do echo 0 >"$f" && echo "entered $f"; done
rmdir "$WORK/mounted"; true`},
	{guarantee: "sockets of other kinds than the internet's cannot be opened", script: `
# Kernel events, raw packets, the kernel's ciphers, the hypervisor.
perl -e 'for (["uevent", 16, 3, 15], ["packet", 17, 3, 0], ["alg", 38, 5, 0], ["vsock", 40, 1, 0]) {
	my ($name, @kind) = @$_;
	socket(my $s, $kind[0], $kind[1], $kind[2]) and print "opened $name\n";
}'`},
	{guarantee: "other sandboxes' sockets cannot be seen", script: `ls "$PRIVATE" | grep -Fx "$(basename "$SANDBOX")"; cat "$SANDBOX/secret" | grep -o "$CANARY"`},
	{guarantee: "/dev/shm of other programs cannot be seen", needs: "SHMDIR", script: `
grep -o "$CANARY" "$SHMDIR/secret"; ls /dev/shm /run/shm | grep -F "$(basename "$SHMDIR")"; true >"$SHMDIR/written" && echo "wrote $SHMDIR"; true`},
	{guarantee: "the machine's settings cannot be changed", needs: "SETTINGS", outside: `test -w /proc/sys/kernel/core_pattern && echo writable`, script: `
# Writing one of these as root is a way out: the kernel runs what core_pattern names, outside.
find /proc /sys -path '/proc/[0-9]*' -prune -o -path /proc/self -prune -o -path /proc/thread-self -prune -o -type f -writable -print | head
mknod "$WORK/disk" b 8 0 && echo "made a device"
mount -o remount,rw / && echo "remounted /"
for d in $MASKED; do umount -l "$d" && echo "took $d away"; done`},
	{guarantee: "the sandbox's own processes cannot be looked into",
		outside: `cat /proc/$$/maps | grep -m1 -o r-xp`, script: `
own=$(readlink /proc/self/ns/pid)
for p in /proc/[0-9]*; do
	[ "$(readlink "$p/ns/pid")" = "$own" ] && continue
	cat "$p/environ" | tr '\0' '\n' | head -1
	head -1 "$p/maps"
	(exec 3<>"$p/mem") && echo "opened $p/mem"
	readlink "$p/root" "$p/cwd" "$p/exe" "$p/fd/0"
done
true`},
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
ipcmk -M "$SEGMENT" >/dev/null 2>&1 && echo "$ORPHAN made a segment"
sleep 0.3
`
