package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/harness/symposium"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/harness/workspace"
)

// targets are the things planted on the machine for the attacks to reach, each holding a canary.
type targets struct {
	vars      map[string]string
	key       string
	hostDir   string // a folder in the user's home; the outside runs work in it
	made      []string
	listeners []net.Listener
	packets   []net.PacketConn
	process   *exec.Cmd
	shm       string
	undo      []func()
}

// plant puts the targets in place. What it made is removed by remove, also after an error.
func plant(b *harness.Batch) (t *targets, err error) {
	id, err := workspace.NewID()
	if err != nil {
		return nil, err
	}
	t = &targets{vars: map[string]string{}, key: os.Getenv(KeyVariable)}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("attack: planting targets: %w", err), t.remove())
		}
	}()
	if t.key == "" {
		return t, fmt.Errorf("%s is not set", KeyVariable)
	}
	canary := "canary-" + id
	home, err := os.UserHomeDir()
	if err != nil {
		return t, err
	}
	if t.hostDir, err = t.folder(home, "."+ownPrefix()+"*"); err != nil {
		return t, err
	}
	place := b.Place()
	v := t.vars
	v["CANARY"], v["KEY"], v["USERHOME"], v["HOMEDIR"] = canary, t.key, home, t.hostDir
	v["PRIVATE"] = place.PrivateTmp
	v["EVALS"], v["TASK"], v["TASKDIR"], v["SCRATCH"] = place.Evals, b.Task.Name, b.Task.Dir, place.Scratch
	v["ORPHAN"], v["PROCESS"] = "orphan-"+id, "process-"+id
	v["SEGMENT"] = unusedSize()
	if err := t.tell(place.Evals); err != nil {
		return t, err
	}
	files := map[string]os.FileMode{"secret": 0o600, "other-name": 0o755, "bin/cargo-agents": 0o755}
	for name, mode := range files {
		path := filepath.Join(t.hostDir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return t, err
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho "+canary+"\n"), mode); err != nil {
			return t, err
		}
	}
	v["TOOLS"] = strings.Join(append(installedCargoAgents(home), filepath.Join(t.hostDir, "bin/cargo-agents")), " ")

	for name, at := range map[string]struct{ parent, pattern, file string }{
		"RESULTS": {place.Results, ".attack-*", "result.json"},
		"SIBLING": {place.Batch, "*", "project/secret"},
		"BATCH":   {place.Scratch, "x-*", "secret"},
		"SANDBOX": {place.PrivateTmp, ownPrefix() + "*", "secret"},
	} {
		dir, err := t.folder(at.parent, at.pattern)
		if err != nil {
			return t, err
		}
		path := filepath.Join(dir, filepath.FromSlash(at.file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return t, err
		}
		if err := os.WriteFile(path, []byte(canary+"\n"), 0o644); err != nil {
			return t, err
		}
		v[name] = dir
	}
	if err := t.listen(canary); err != nil {
		return t, err
	}
	if err := t.plantInSystem(canary); err != nil {
		return t, err
	}
	return t, t.start()
}

// tell sets what gives something away, of every task of the evals root: a trial of one is open to the
// others' too. $TELLING are find's tests, $CHECKS and $SKILLNAMES choices of a regular expression.
func (t *targets) tell(evals string) error {
	tasks, err := task.LoadAll(evals)
	if err != nil {
		return err
	}
	tests := []string{"-name cargo-agents", "-name SKILL.md"}
	var checks, skills []string
	for _, task := range tasks {
		for _, c := range task.Checks {
			name := filepath.Base(c.File)
			tests, checks = append(tests, "-name "+sandbox.Quote(name)), append(checks, regexp.QuoteMeta(name))
		}
		for _, p := range task.Plugins {
			found, err := symposium.Skills(task.PluginDir(p))
			if err != nil {
				return err
			}
			for _, s := range found {
				skills = append(skills, regexp.QuoteMeta(s.Name))
			}
		}
	}
	for name, choices := range map[string][]string{"CHECKS": checks, "SKILLNAMES": skills} {
		slices.Sort(choices)
		t.vars[name] = strings.Join(slices.Compact(choices), "|")
	}
	t.vars["TELLING"] = strings.Join(tests, " -o ")
	return nil
}

// installedCargoAgents finds what the user may have installed.
func installedCargoAgents(home string) []string {
	dirs := append(filepath.SplitList(os.Getenv("PATH")), filepath.Join(home, ".cargo/bin"), "/usr/local/bin", "/opt/cargo/bin")
	var out []string
	for _, d := range dirs {
		path := filepath.Join(d, "cargo-agents")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !slices.Contains(out, path) && !strings.ContainsAny(path, " \t\n") {
			out = append(out, path)
		}
	}
	return out
}

// folder makes a temporary folder below parent, which is made too (and removed) where it is missing.
func (t *targets) folder(parent, pattern string) (string, error) {
	for dir := parent; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil {
			break
		}
		defer func() { t.made = append(t.made, dir) }()
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(parent, pattern)
	if err == nil {
		t.made = append(t.made, dir)
	}
	return dir, err
}

// listen opens a service on loopback, IPv6 too where there is one, and unix sockets in the home and
// in the machine's temporary folder. Each answers every connection with the canary.
func (t *targets) listen(canary string) error {
	answer := func(l net.Listener) {
		t.listeners = append(t.listeners, l)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					_, _ = io.WriteString(c, "HTTP/1.0 200 OK\r\n\r\n"+canary+"\n")
					_ = c.Close()
				}()
			}
		}()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	answer(l)
	_, t.vars["PORT"], _ = net.SplitHostPort(l.Addr().String())
	if l6, err := net.Listen("tcp", "[::1]:"+t.vars["PORT"]); err == nil {
		answer(l6)
	}
	tmp, err := t.folder(os.TempDir(), ownPrefix()+"*")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, "secret"), []byte(canary+"\n"), 0o644); err != nil {
		return err
	}
	t.vars["SHAREDTMP"] = tmp
	var sockets []string
	for _, dir := range []string{t.hostDir, tmp} {
		path := filepath.Join(dir, "s")
		l, err := net.Listen("unix", path)
		if err != nil {
			return err
		}
		answer(l)
		sockets = append(sockets, path)
	}
	t.vars["SOCKETS"] = strings.Join(sockets, " ")
	if err := t.listenBeyondLoopback(canary, answer); err != nil {
		return err
	}
	abstract := filepath.Base(t.hostDir)
	if l, err := net.Listen("unix", "@"+abstract); err == nil {
		answer(l)
		t.vars["ABSTRACT"] = abstract
	}
	// What is listening anyway: nothing is said to it, a connection is enough.
	var services []string
	for _, path := range serviceSockets() {
		if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
			_ = c.Close()
			services = append(services, path)
		}
	}
	t.vars["SERVICES"] = strings.Join(append(services, sockets[0]), " ")
	return nil
}

// listenBeyondLoopback opens a TCP and a UDP service on an address of the machine's that is not
// loopback, where it has one.
func (t *targets) listenBeyondLoopback(canary string, answer func(net.Listener)) error {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return err
	}
	for _, a := range addrs {
		ip, ok := a.(*net.IPNet)
		if !ok || ip.IP.IsLoopback() || ip.IP.To4() == nil {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort(ip.IP.String(), "0"))
		if err != nil {
			continue
		}
		answer(l)
		host, port, _ := net.SplitHostPort(l.Addr().String())
		if u, err := net.ListenPacket("udp", net.JoinHostPort(host, port)); err == nil {
			t.packets = append(t.packets, u)
			go func() {
				var buf [64]byte
				for {
					_, from, err := u.ReadFrom(buf[:])
					if err != nil {
						return
					}
					_, _ = u.WriteTo([]byte(canary+"\n"), from)
				}
			}()
		}
		t.vars["ADDRESS"] = host + " " + port
		break
	}
	// A machine without a name server has nothing to attack.
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	const name = "example.com" // reserved for documentation, RFC 2606
	if found, err := net.DefaultResolver.LookupHost(ctx, name); err == nil && len(found) > 0 {
		t.vars["NAME"] = name
	}
	return nil
}

// serviceSockets are where a user's services listen.
func serviceSockets() []string {
	paths := []string{os.Getenv("SSH_AUTH_SOCK"), "/run/docker.sock", "/var/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock", "/run/dbus/system_bus_socket"}
	for _, pattern := range []string{"/run/user/*/bus", "/run/user/*/docker.sock", "/run/user/*/keyring/*", "/run/user/*/gnupg/S.gpg-agent*", "/run/user/*/podman/podman.sock", "/tmp/.X11-unix/*", "/tmp/ssh-*/agent.*"} {
		found, _ := filepath.Glob(pattern)
		paths = append(paths, found...)
	}
	return slices.DeleteFunc(paths, func(p string) bool { return p == "" || strings.ContainsAny(p, " \t\n") })
}

var shmID = regexp.MustCompile(`\d+`)

// start starts a process and a shared memory segment for the attacks to find.
func (t *targets) start() error {
	// It waits for an input that does not come before remove. Both its command line and its
	// environment name it.
	t.process = exec.Command("/bin/sh", "-c", "read line", t.vars["PROCESS"])
	t.process.Env = []string{"MARK=" + t.vars["PROCESS"]}
	if _, err := t.process.StdinPipe(); err != nil {
		return err
	}
	if err := t.process.Start(); err != nil {
		return err
	}
	out, err := exec.Command("ipcmk", "-M", "4096").Output()
	if err != nil {
		return fmt.Errorf("ipcmk (of util-linux): %w", err)
	}
	t.shm = shmID.FindString(string(out))
	t.vars["SHMID"] = t.shm
	return nil
}

// remove takes everything away again.
func (t *targets) remove() error {
	var errs []error
	for _, l := range t.listeners {
		_ = l.Close()
	}
	for _, p := range t.packets {
		_ = p.Close()
	}
	for _, undo := range slices.Backward(t.undo) {
		undo()
	}
	if t.process != nil && t.process.Process != nil {
		_ = t.process.Process.Kill()
		_ = t.process.Wait()
	}
	if t.shm != "" {
		errs = append(errs, exec.Command("ipcrm", "-m", t.shm).Run())
	}
	for _, dir := range slices.Backward(t.made) {
		errs = append(errs, os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}

// hostEnv is what the outside runs have besides the user's own environment.
func (t *targets) hostEnv() []string {
	return []string{"SSH_AUTH_SOCK=" + filepath.Join(t.hostDir, "s"), "PATH=" + filepath.Join(t.hostDir, "bin") + ":" + os.Getenv("PATH"), "PROCTOR_ATTACK_AT=" + t.hostDir}
}

// inRun sets the variables that tell of the run directory.
func (t *targets) inRun(run *workspace.Run, staged string) {
	t.vars["RUN"], t.vars["WORK"], t.vars["STAGED"] = run.Dir, run.Path("project"), staged
}

// prelude sets the scripts' variables; none is exported.
func (t *targets) prelude() string {
	vars := map[string]string{"WORK": t.hostDir, "UNSURE": unsure}
	for name, value := range t.vars {
		vars[name] = value
	}
	var b strings.Builder
	for name, value := range vars {
		fmt.Fprintf(&b, "%s=%s\n", name, sandbox.Quote(value))
	}
	return b.String()
}

// ownPrefix begins the names of this process's targets, so that two who attack at once can tell
// theirs apart.
func ownPrefix() string { return fmt.Sprintf("proctor-attack-%d-", os.Getpid()) }
