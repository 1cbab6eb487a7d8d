package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/setup"
)

// stageClient copies the client into the batch, once for all its trials, and refuses one that is
// too old to be understood.
func (b *Batch) stageClient(ctx context.Context) error {
	e := b.run.engine
	name := b.adapter.Name()
	if e.opts.ClientPath == "" {
		tool := b.run.tools.ByName[name]
		path, err := b.stageTool(tool)
		if err != nil {
			return err
		}
		b.clientLinks = map[string]string{name: path}
		b.client = result.Client{Name: name, Version: tool.Version, SHA256: tool.SHA256}
		return client.CheckVersion(b.adapter, tool.Version)
	}
	if err := b.stageOwnClient(name, e.opts.ClientPath); err != nil {
		return fmt.Errorf("PROCTOR_CLIENT_PATH: %w", err)
	}
	if b.addStandIn(e.opts.ClientPath) {
		b.client.Version = "0.0.0-stand-in"
		return nil
	}
	version, err := b.clientVersion(ctx)
	if err != nil {
		return fmt.Errorf("PROCTOR_CLIENT_PATH: %w", err)
	}
	b.client.Version = version
	return client.CheckVersion(b.adapter, version)
}

// stageTool stages an installed client: its one file, or its folder with what it has unpacked there.
func (b *Batch) stageTool(tool setup.Tool) (string, error) {
	if tool.Dir == "" {
		return b.space.Stage(workspace.Common, tool.Name, tool.Path, tool.SHA256)
	}
	rel, err := filepath.Rel(tool.Dir, tool.Path)
	if err != nil {
		return "", err
	}
	dir, err := b.space.StageStored(workspace.Common, tool.Name+"-package", tool.Dir, tool.SHA256)
	b.clientPackage = dir
	return filepath.Join(dir, rel), err
}

// stageOwnClient stages the caller's client: a native binary, or the entry script of an npm package
// with the Node.js that runs it.
func (b *Batch) stageOwnClient(name, path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	node, err := isNodeScript(real)
	if err != nil {
		return err
	}
	if !node {
		sum, err := fileSHA256(real)
		if err != nil {
			return err
		}
		staged, err := b.space.Stage(workspace.Common, name, real, sum)
		b.clientLinks = map[string]string{name: staged}
		b.client = result.Client{Name: name, SHA256: sum}
		return err
	}
	root := packageRoot(real)
	if root == "" {
		return fmt.Errorf("%s is a Node.js script outside any npm package: no package.json above it", real)
	}
	dir, sum, err := b.space.StageTree(workspace.Common, name+"-package", root)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(root, real)
	if err != nil {
		return err
	}
	runtime := b.run.tools.ByName[setup.Node]
	if runtime.Path == "" {
		return fmt.Errorf("%s needs Node.js: install it with `proctor setup sandbox`", real)
	}
	staged, err := b.space.Stage(workspace.Common, "node", runtime.Path, runtime.SHA256)
	b.clientLinks = map[string]string{name: filepath.Join(dir, rel), "node": staged}
	b.client = result.Client{Name: name, SHA256: sum}
	return err
}

// isNodeScript tells whether the file starts with a line that hands it to node.
func isNodeScript(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false, err
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return bytes.HasPrefix(line, []byte("#!")) && bytes.Contains(line, []byte("node")), nil
}

// packageRoot is the nearest folder above path with a package.json, or "".
func packageRoot(path string) string {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "package.json")); err == nil {
			return dir
		}
	}
	return ""
}

// clientVersion asks the staged client, in a run directory of its own.
func (b *Batch) clientVersion(ctx context.Context) (version string, err error) {
	links := map[string]string{"sh": "/bin/sh"}
	for name, target := range b.clientLinks {
		links[name] = target
	}
	run, err := b.space.NewRun(workspace.Layout{Starter: b.Task.Starter, Links: links})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, run.Remove()) }()
	var out bytes.Buffer
	ended, err := b.boundary.Run(ctx, sandbox.Launch{
		Argv: []string{run.Path("bin", b.adapter.Name()), "--version"},
		Env:  run.Env(b.run.tools.Toolchain.Bin), Dir: run.Path("project"), Home: run.Path("home"),
		Policy: b.space.TrialPolicy(run, b.denied, b.readable, ""), PolicyFile: run.Path("srt.json"), StartFile: run.Path("bin", "start"),
		Stdout: &out, Stderr: io.Discard, MaxOutput: maxConfig,
	})
	switch {
	case err != nil:
		return "", err
	case len(ended.Survivors) > 0:
		return "", fmt.Errorf("processes %v of the client could not be killed", ended.Survivors)
	case ended.Cause != nil:
		return "", ended.Cause
	case !ended.Started:
		return "", &sandboxError{ended.Diagnosis}
	case ended.ExitCode != 0:
		return "", fmt.Errorf("the client's --version ended with exit code %d", ended.ExitCode)
	}
	version = versionNumber.FindString(out.String())
	if version == "" {
		return "", fmt.Errorf("the client's --version names no version: %q", strings.TrimSpace(out.String()))
	}
	return version, nil
}
