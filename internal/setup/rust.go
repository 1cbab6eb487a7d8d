package setup

import (
	"context"
	"fmt"
	"path/filepath"
)

// rustTools finds the toolchain active in the current folder and checks that it
// can build, test and format.
func (in *installation) rustTools(ctx context.Context, tools *Tools) (*Toolchain, []Problem) {
	bin, problems := in.toolchainBin(ctx)
	if problems != nil {
		return nil, problems
	}
	tc := &Toolchain{Dir: filepath.Dir(bin), Bin: bin}
	update, component := in.rustFixes()
	for _, p := range []struct {
		name, oldest, fix string
		line              *string
	}{
		{Cargo, MinRust, update, &tc.Cargo},
		{Rustc, MinRust, update, &tc.Rustc},
		{Rustfmt, "", component, new(string)},
	} {
		path := filepath.Join(bin, p.name)
		if !isExecutable(path) {
			problems = append(problems, Problem{What: fmt.Sprintf("the Rust toolchain in %s has no %s", tc.Dir, p.name), Fix: p.fix})
			continue
		}
		printed, err := in.probe(ctx, path, "--version")
		if err != nil {
			problems = append(problems, Problem{What: fmt.Sprintf("%s does not run: %v", p.name, err), Fix: p.fix})
			continue
		}
		*p.line = printed
		problems = append(problems, in.add(ctx, tools, p.name, path, printed, p.oldest, p.fix)...)
	}
	if !isExecutable(filepath.Join(bin, "cargo-fmt")) && isExecutable(filepath.Join(bin, Rustfmt)) {
		problems = append(problems, Problem{What: fmt.Sprintf("the Rust toolchain in %s has no cargo-fmt", tc.Dir), Fix: component})
	}
	if _, ok := in.lookPath("cc"); !ok {
		problems = append(problems, Problem{
			What: "cc is not on PATH: Rust links with the C compiler",
			Fix:  in.packageFix(NeedRust, "gcc", "libc6-dev"),
		})
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return tc, nil
}

// toolchainBin returns the active toolchain's own bin folder, links resolved.
// rustup's proxies will not do: they need the user's home, which a trial has not.
func (in *installation) toolchainBin(ctx context.Context) (string, []Problem) {
	update, _ := in.rustFixes()
	var failed error
	if rustup, ok := in.lookPath("rustup"); ok {
		// Asking must not start a download of a toolchain the folder's
		// rust-toolchain.toml names.
		cargo, err := in.probeEnv(ctx, in.withEnv("RUSTUP_AUTO_INSTALL=0"), rustup, "which", "cargo")
		if err == nil {
			if dir, err := resolveDir(cargo); err == nil {
				return dir, nil
			}
		}
		failed = err
	}
	rustc, ok := in.lookPath("rustc")
	if ok {
		sysroot, err := in.probeEnv(ctx, in.withEnv("RUSTUP_AUTO_INSTALL=0"), rustc, "--print", "sysroot")
		if err == nil {
			if path := filepath.Join(sysroot, "bin", Cargo); filepath.IsAbs(sysroot) && isExecutable(path) {
				if dir, err := resolveDir(path); err == nil {
					return dir, nil
				}
			}
			err = fmt.Errorf("its sysroot %q has no bin/cargo", clip(sysroot))
		}
		if failed == nil {
			failed = fmt.Errorf("%s: %w", rustc, err)
		}
	}
	if failed != nil {
		return "", []Problem{{What: fmt.Sprintf("no working Rust toolchain: %v", failed), Fix: update}}
	}
	return "", []Problem{{What: "rustc is not on PATH: Rust " + MinRust + " or newer is needed", Fix: update}}
}

// resolveDir returns the folder of a program without links in it. The program
// itself stays: distributions link cargo to a file of another name.
func resolveDir(program string) (string, error) {
	if !filepath.IsAbs(program) {
		return "", fmt.Errorf("%q is not an absolute path", clip(program))
	}
	return filepath.EvalSymlinks(filepath.Dir(program))
}

// rustFixes are the commands for a toolchain that is missing or too old, and
// for one without rustfmt.
func (in *installation) rustFixes() (update, component string) {
	if _, ok := in.lookPath("rustup"); ok {
		return "rustup update stable && rustup default stable", "rustup component add rustfmt"
	}
	return "install Rust with rustup (https://rustup.rs): rustup-init -y --profile minimal --component rustfmt",
		in.packageFix(NeedRust, "rustfmt")
}
