package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// record is install.json, written last into an install folder: where it is and
// fits, the folder is whole.
type record struct {
	SchemaVersion int    `json:"schema_version"` // 1
	Name          string `json:"name"`
	Version       string `json:"version"`
	Source        string `json:"source"`          // the recipe's
	SHA256        string `json:"sha256"`          // the tool's, as Tool has it
	Built         string `json:"built,omitempty"` // with which compiler, if it was compiled here
}

const recordName = "install.json"

// parseRecord reads a record strictly enough to trust it.
func parseRecord(b []byte) (record, error) {
	var r record
	dec := json.NewDecoder(bytes.NewReader(b))
	if err := dec.Decode(&r); err != nil {
		return record{}, err
	}
	if r.SchemaVersion != 1 {
		return record{}, fmt.Errorf("schema_version %d, not 1", r.SchemaVersion)
	}
	if len(r.SHA256) != 64 {
		return record{}, errors.New("sha256 is not 64 characters long")
	}
	return r, nil
}

// load returns an installed tool, or why there is none: the reason completes a
// sentence that begins with the tool.
func (in *installation) load(r *recipe) (Tool, string) {
	dir := filepath.Join(in.cache, r.folder)
	b, err := readSmall(filepath.Join(dir, recordName), 64<<10)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(dir); err == nil {
			return Tool{}, "is only half installed"
		}
		return Tool{}, "is not installed"
	}
	if err != nil {
		return Tool{}, fmt.Sprintf("cannot be read: %v", err)
	}
	rec, err := parseRecord(b)
	if err != nil || rec.Name != r.name || rec.Version != r.version {
		return Tool{}, "is only half installed: its " + recordName + " does not fit"
	}
	if rec.Source != r.source {
		return Tool{}, "was installed from other pinned packages"
	}
	known := loadHashes(filepath.Join(dir, "hashes.json"))
	sum, err := r.hash(known, dir)
	if err != nil {
		return Tool{}, fmt.Sprintf("is damaged: %v", err)
	}
	if sum != rec.SHA256 {
		return Tool{}, fmt.Sprintf("has changed since it was installed (sha256 %s, was %s)", sum, rec.SHA256)
	}
	known.save()
	tool := Tool{Name: r.name, Version: r.version, Path: filepath.Join(dir, r.entry), SHA256: sum}
	if r.staged {
		tool.Dir = filepath.Join(dir, r.whole)
	}
	return tool, ""
}

// ensure returns the tool, installing it if it is not there whole.
func (in *installation) ensure(ctx context.Context, r *recipe) (Tool, error) {
	if tool, reason := in.load(r); reason == "" {
		return tool, nil
	}
	unlock, err := in.lock(ctx, r.name)
	if err != nil {
		return Tool{}, err
	}
	defer unlock()
	tool, reason := in.load(r) // again: another set-up may have installed it
	if reason == "" {
		return tool, nil
	}
	start := time.Now()
	fmt.Fprintf(in.out, "%s %s %s: installing with %s\n", r.name, r.version, reason, r.with)
	if err := in.install(ctx, r); err != nil {
		return Tool{}, fmt.Errorf("installing %s %s: %w", r.name, r.version, err)
	}
	if tool, reason = in.load(r); reason != "" {
		return Tool{}, fmt.Errorf("installing %s %s: just installed, it %s", r.name, r.version, reason)
	}
	fmt.Fprintf(in.out, "%s %s: installed in %s\n", r.name, r.version, time.Since(start).Round(time.Second))
	return tool, nil
}

// install builds the tool in a temporary folder and renames it into place. The
// caller holds the tool's lock, so what lies beside that folder is a killed
// set-up's. Its installer may have outlived it and still write there, so the
// folder is always a new one, and failing to clear the old is no failure.
func (in *installation) install(ctx context.Context, r *recipe) (err error) {
	temps := filepath.Join(in.cache, "tmp", r.name)
	_ = os.RemoveAll(temps)
	if err := os.MkdirAll(temps, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(temps, "")
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, os.RemoveAll(temp))
		_ = os.Remove(temps) // unless something else is in it
	}()
	root, home, work := filepath.Join(temp, "root"), filepath.Join(temp, "home"), filepath.Join(temp, "work")
	for _, dir := range []string{root, home, work} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}

	built, err := r.build(ctx, in, root, work)
	if err != nil {
		return err
	}
	if err := in.checkVersion(ctx, r, root, home); err != nil {
		return err
	}
	known := loadHashes(filepath.Join(root, "hashes.json"))
	sum, err := r.hash(known, root)
	if err != nil {
		return err
	}
	known.save()
	rec := record{SchemaVersion: 1, Name: r.name, Version: r.version, Source: r.source, SHA256: sum, Built: built}
	b, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, recordName), append(b, '\n'), 0o644); err != nil {
		return err
	}
	final := filepath.Join(in.cache, r.folder)
	if err := os.MkdirAll(filepath.Dir(final), 0o755); err != nil {
		return err
	}
	if err := os.Rename(final, filepath.Join(temp, "old")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(root, final)
}

// checkVersion runs the new tool once, with a home it may dirty and, for tools
// that update themselves, no program in reach to do it with.
func (in *installation) checkVersion(ctx context.Context, r *recipe, root, home string) error {
	path, args := filepath.Join(root, r.entry), []string{"--version"}
	if r.runner != "" {
		runner, ok := in.lookPath(r.runner)
		if !ok {
			return fmt.Errorf("%s is not on PATH", r.runner)
		}
		path, args = runner, []string{path, "--version"}
	}
	printed, err := in.probeEnv(ctx, []string{"HOME=" + home, "TMPDIR=" + home, "PATH=" + r.path(in.host, home)}, path, args...)
	if err != nil {
		return err
	}
	if number, _, _ := parseVersion(printed); number != r.version {
		return fmt.Errorf("%s says its version is %q, not %s", r.entry, clip(printed), r.version)
	}
	return nil
}

// lock takes a lock across processes, saying so when it has to wait.
func (in *installation) lock(ctx context.Context, name string) (unlock func(), err error) {
	dir := filepath.Join(in.cache, "locks")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	type taken struct {
		unlock func()
		err    error
	}
	got := make(chan taken, 1)
	go func() {
		unlock, err := lockedfile.MutexAt(filepath.Join(dir, name+".lock")).Lock()
		got <- taken{unlock, err}
	}()
	stop := in.out.every(in.tick, func(gone time.Duration) string {
		return fmt.Sprintf("%s: waiting %s for another set-up to finish with it", name, gone)
	})
	defer stop()
	select {
	case t := <-got:
		return t.unlock, t.err
	case <-ctx.Done():
		go func() {
			// The wait cannot be called off; give the lock back when it comes.
			if t := <-got; t.err == nil {
				t.unlock()
			}
		}()
		return nil, fmt.Errorf("waiting for another set-up of %s: %w", name, context.Cause(ctx))
	}
}
