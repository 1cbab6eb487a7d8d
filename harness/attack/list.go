package attack

import (
	"fmt"
	"strings"

	"github.com/proctor-evals/proctor/harness/plan"
)

// list is every attack on one configuration, apart from those for which this machine has no target.
// vars are the targets, which targets.prelude gives the scripts as variables.
func list(configuration string, vars map[string]string) (attacks, without []attack) {
	for _, a := range all {
		switch {
		case configuration == plan.WithSymposium && a.only == plan.Baseline:
		case a.needs != "" && vars[a.needs] == "":
			without = append(without, a)
		default:
			attacks = append(attacks, a)
		}
	}
	return attacks, without
}

// searchSecs bounds the one search of all disks that a configuration's attacks share.
const searchSecs = 12

// search lists the files in sight whose names give something away, in $FOUND. Outside, where all is in
// sight, it looks at the places that the attacks are about.
func search(outside bool) string {
	where := `/ \( -path /proc -o -path /sys -o -path /dev -o -path "$RUN" \) -prune -o`
	if outside {
		where = `"$HOMEDIR" "$EVALS/tasks" "$EVALS/plugins"`
	}
	return fmt.Sprintf(`FOUND=$WORK/found
eval "timeout %d find %s \\( -type f -o -type l \\) \\( $TELLING \\) -print" >"$FOUND" 2>/dev/null
SEARCH=$?
command -v find >/dev/null && command -v timeout >/dev/null && command -v xargs >/dev/null || SEARCH=124
searched() { [ $SEARCH -ne 124 ] || echo "$UNSURE the search of the disks was cut short after %d s, or find, xargs or timeout is missing"; }
`, searchSecs, strings.ReplaceAll(strings.ReplaceAll(where, `\`, `\\`), `"`, `\"`), searchSecs)
}

// all attacks print only what they reached. A guarantee is worded as what holds.
var all = []attack{
	{guarantee: "cargo-agents is not on PATH", only: plan.Baseline, script: `command -v cargo-agents`},
	{guarantee: "no installed cargo-agents can be read or run by its path", only: plan.Baseline, script: `
for f in $TOOLS; do
	head -c 1 "$f" >/dev/null && echo "read $f"
	"$f" --version >/dev/null && echo "ran $f"
done`},
	{guarantee: "no cargo-agents is anywhere in sight", only: plan.Baseline,
		fix:    "a cargo-agents is readable on this machine; add its folder to deny_read in proctor.toml",
		script: `grep '/cargo-agents$' "$FOUND"; searched`},
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
	{guarantee: "files your shell holds open cannot be read", needs: "HELD", without: "no file of your shell's to hold open", script: `
# bash, since dash knows no descriptor above 9.
bash -c 'cat <&'"$HELD" | grep -o "$CANARY"
for p in /proc/[0-9]* /proc/self; do grep -o "$CANARY" "$p/fd/$HELD" && echo "through $p/fd/$HELD"; done`,
		outside: `bash -c 'exec '"$HELD"'<"$1"; cat <&'"$HELD" - "$HOMEDIR/secret" | grep -o "$CANARY"`},
	{guarantee: "the machine's temporary folder cannot be read", script: `grep -o "$CANARY" "$SHAREDTMP/secret"; ls "$SHAREDTMP"`},
	{guarantee: "your home cannot be written", script: `true >"$HOMEDIR/written" && echo "wrote $HOMEDIR/written"`},

	{guarantee: "hidden checks cannot be read", script: `grep -l "" "$TASKDIR"/checks/*`},
	{guarantee: "the solution and the task cannot be read", script: `grep -l "" "$TASKDIR"/task.toml "$EVALS"/proctor.toml; ls "$EVALS" | grep -x tasks`},
	{guarantee: "no task's hidden checks are anywhere in sight while the agent runs", needs: "CHECKS", without: "no hidden check",
		fix:    "another copy of the evals root is readable on this machine; add it to deny_read in proctor.toml",
		script: `grep -E "/($CHECKS)\$" "$FOUND"; searched`},
	{guarantee: "no copy of a task's skills can be read outside its own folders", needs: "SKILLNAMES", without: "no skill of a plugin",
		fix: "a folder with the skill is readable on this machine; add it to deny_read in proctor.toml",
		script: `
grep '/SKILL.md$' "$FOUND" | tr '\n' '\0' | xargs -0r grep -lE "^name:[[:space:]]*[\"']?($SKILLNAMES)[\"']?[[:space:]]*\$"
searched`},
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
	{guarantee: "abstract unix sockets of other programs cannot be reached", needs: "ABSTRACT", without: "no abstract unix sockets", script: `
socat -T 2 - "ABSTRACT-CONNECT:$ABSTRACT" | grep -o "$CANARY"
grep -o "$ABSTRACT" /proc/net/unix`},
	{guarantee: "your ssh agent, message buses, docker and keyring services cannot be reached", needs: "SERVICES", without: "no such service listening", script: `
for s in $SERVICES; do socat -u OPEN:/dev/null "UNIX-CONNECT:$s" && echo "by $s"; done`},
	{guarantee: "no variable leads to your ssh agent, message bus or display",
		outside: `printf '%s\n' "$SSH_AUTH_SOCK"`, script: `env | grep -E '^(SSH_|DBUS_|GPG_|XDG_|DISPLAY|WAYLAND_|DOCKER_)'`},
	{guarantee: "the machine's other addresses cannot be reached", needs: "ADDRESS", without: "no address but loopback", script: `
bash -c 'exec 3<>/dev/tcp/'"${ADDRESS% *}/${ADDRESS#* }"' && cat <&3' | grep -o "$CANARY" && echo "by TCP"
echo x | socat -T 1 - "UDP:${ADDRESS% *}:${ADDRESS#* }" | grep -o "$CANARY" && echo "by UDP"`},
	{guarantee: "names cannot be resolved", needs: "NAME", without: "no name server that answers", script: `getent ahosts "$NAME"`},
	{guarantee: "the network has no interface but the sandbox's own loopback", outside: `tail -n +3 /proc/net/dev; cat /proc/net/route`, script: `
tail -n +3 /proc/net/dev | grep -v '^ *lo:'
tail -n +2 /proc/net/route`},
	{guarantee: "your keys in the kernel's keyring cannot be read", needs: "KEYNAME", without: "no kernel keyring to put a key in", script: `
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
	{guarantee: "the kernel's list of keys cannot be read", needs: "KEYNAME", without: "no kernel keyring to put a key in", script: `cat /proc/keys /proc/key-users`},
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
	{guarantee: "/dev/shm of other programs cannot be seen", needs: "SHMDIR", without: "no /dev/shm to write in", script: `
grep -o "$CANARY" "$SHMDIR/secret"; ls /dev/shm /run/shm | grep -F "$(basename "$SHMDIR")"; true >"$SHMDIR/written" && echo "wrote $SHMDIR"; true`},
	{guarantee: "the machine's settings cannot be changed", needs: "SETTINGS", without: "no settings that this user could change", outside: `test -w /proc/sys/kernel/core_pattern && echo writable`, script: `
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
