package transcript

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var testRoots = SkillRoots{"/t/project/.claude/skills", "/t/home/.claude/skills"}

// shellLoad is the state of skill "a" after a command; "" for none.
func shellLoad(command string, status Status, output string) LoadState {
	scan := ScanShell(command, "/t/project", "/t/home")
	for _, l := range testRoots.ShellLoads(scan, []string{"a", "b"}, status, output) {
		if l.Skill == "a" || l.Skill == "" {
			return l.State
		}
	}
	return ""
}

const frontA = "---\nname: a\ndescription: d\n---\nbody\n"

// TestShellLoads is the table of shell readers: what a successful command with
// some output (no front matter in it) says of the skill "a".
func TestShellLoads(t *testing.T) {
	for command, want := range map[string]LoadState{
		// Readers.
		"cat .claude/skills/a/SKILL.md":                                                             LoadLoaded,
		"cat ./.claude/skills/a/SKILL.md":                                                           LoadLoaded,
		"cat /t/project/.claude/skills/a/SKILL.md":                                                  LoadLoaded,
		"/bin/cat .claude/skills/a/SKILL.md":                                                        LoadLoaded,
		"cat ~/.claude/skills/a/SKILL.md":                                                           LoadLoaded,
		`cat "$HOME/.claude/skills/a/SKILL.md"`:                                                     LoadLoaded,
		`cat "${PWD}/.claude/skills/a/SKILL.md"`:                                                    LoadLoaded,
		`cat '.claude/skills/a/SKILL.md'`:                                                           LoadLoaded,
		`cat .claude/"skills"/a/SKILL\.md`:                                                          LoadLoaded,
		"head -n 20 .claude/skills/a/SKILL.md":                                                      LoadLoaded,
		"tail -5 .claude/skills/a/SKILL.md":                                                         LoadLoaded,
		"sed -n '1,40p' .claude/skills/a/SKILL.md":                                                  LoadLoaded,
		"less .claude/skills/a/SKILL.md":                                                            LoadLoaded,
		"nl -ba .claude/skills/a/SKILL.md":                                                          LoadLoaded,
		"cat < .claude/skills/a/SKILL.md":                                                           LoadLoaded,
		"cat README.md .claude/skills/a/SKILL.md":                                                   LoadLoaded,
		"cat src/../.claude/skills/a/SKILL.md":                                                      LoadLoaded,
		"# look\ncat .claude/skills/a/SKILL.md # yes":                                               LoadLoaded,
		"cat \\\n  .claude/skills/a/SKILL.md":                                                       LoadLoaded,
		"cd .claude/skills/a && cat SKILL.md":                                                       LoadLoaded,
		"cd .claude/skills/a && cat SKILL.md\n":                                                     LoadLoaded,
		"cd .claude/skills; cat a/SKILL.md":                                                         LoadLoaded,
		"cd /t/project/.claude && cd skills/b && cat ../a/SKILL.md":                                 LoadLoaded,
		"(cd .claude/skills/a; cat SKILL.md)":                                                       LoadLoaded,
		"cat .claude/skills/a/SKILL.md | head -50":                                                  LoadLoaded,
		"cat .claude/skills/a/SKILL.md | sed 's/x/y/' | tail -5":                                    LoadLoaded,
		"cat .claude/skills/a/SKILL.md 2>&1 | head":                                                 LoadLoaded,
		"ls; cat .claude/skills/a/SKILL.md; pwd":                                                    LoadLoaded,
		"ls && cat .claude/skills/a/SKILL.md":                                                       LoadLoaded,
		"bash -lc 'cat .claude/skills/a/SKILL.md'":                                                  LoadLoaded,
		`sh -c "cd .claude/skills/a && cat SKILL.md"`:                                               LoadLoaded,
		"env LC_ALL=C timeout 5 cat .claude/skills/a/SKILL.md":                                      LoadLoaded,
		"f=.claude/skills/a/SKILL.md; cat $f":                                                       LoadLoaded,
		"S=.claude/skills && cat $S/a/SKILL.md":                                                     LoadLoaded,
		"cat .claude/skills/a/SKILL.md 2>/dev/null":                                                 LoadLoaded, // it alone can have printed something
		"test -f .claude/skills/a/SKILL.md && cat .claude/skills/a/SKILL.md":                        LoadLoaded,
		"if [ -f .claude/skills/a/SKILL.md ]; then cat .claude/skills/a/SKILL.md; fi":               LoadLoaded,
		"for s in a b; do cat .claude/skills/$s/SKILL.md; done":                                     LoadLoaded,
		"cat .claude/skills/a/SKILL.md 2>/dev/null || true":                                         LoadLoaded,
		"cat <<'EOF' > notes.md\ncat .claude/skills/b/SKILL.md\nEOF\ncat .claude/skills/a/SKILL.md": LoadLoaded,

		// Nothing of the file is shown.
		"head -n 0 .claude/skills/a/SKILL.md; ls":   "",
		"head -0 .claude/skills/a/SKILL.md; ls":     "",
		"tail -c0 .claude/skills/a/SKILL.md; ls":    "",
		"head --lines=0 .claude/skills/a/SKILL.md":  "",
		"head -n 10 .claude/skills/a/SKILL.md":      LoadLoaded,
		"sed -n 0p .claude/skills/a/SKILL.md":       LoadUnclear,
		"sed d .claude/skills/a/SKILL.md; ls":       LoadUnclear,
		"sed -n '$=' .claude/skills/a/SKILL.md":     LoadUnclear,
		"sed -n '1,$p' .claude/skills/a/SKILL.md":   LoadLoaded,
		"sed -n 5p .claude/skills/a/SKILL.md":       LoadLoaded,
		"sed 's/a/b/' .claude/skills/a/SKILL.md":    LoadLoaded,
		"sed -e 's/a/b/' .claude/skills/a/SKILL.md": LoadLoaded,

		// Perhaps: nobody can tell without running it.
		"if false; then cat .claude/skills/a/SKILL.md; fi; ls":                  LoadUnclear,
		"for i in 1; do false && cat .claude/skills/a/SKILL.md; done; ls":       LoadUnclear,
		"false && cat .claude/skills/a/SKILL.md; ls":                            LoadUnclear,
		"ls || cat .claude/skills/a/SKILL.md; ls":                               LoadUnclear,
		"cat .claude/skills/a/SKILL.md 2>/dev/null; ls":                         LoadUnclear,
		"python3 -c \"print(open('.claude/skills/a/SKILL.md').read())\"":        LoadUnclear,
		"awk '{print}' .claude/skills/a/SKILL.md":                               LoadUnclear,
		"grep -n flush .claude/skills/a/SKILL.md":                               LoadUnclear,
		"cat .claude/skills/a/SKILL.md | python3 -":                             LoadUnclear,
		"cp .claude/skills/a/SKILL.md /tmp/x; cat /tmp/x":                       LoadUnclear,
		"cat .claude/skills/a/SKILL.md > x; cat x":                              LoadUnclear,
		"echo \"$(cat .claude/skills/a/SKILL.md)\"":                             LoadUnclear,
		"echo `cat .claude/skills/a/SKILL.md`":                                  LoadUnclear,
		"find . -name SKILL.md -exec cat {} +":                                  LoadUnclear,
		"find .claude/skills -name '*.md' | xargs cat":                          LoadUnclear,
		"ls .claude/skills/*/SKILL.md | while read f; do cat $f; done":          LoadUnclear,
		"cat .claude/skills/*/SKILL.md":                                         LoadUnclear,
		"cat .claude/skills/{a,b}/SKILL.md":                                     LoadUnclear,
		"python3 <<'EOF'\nprint(open('.claude/skills/a/SKILL.md').read())\nEOF": LoadUnclear,
		"case x in x) cat .claude/skills/a/SKILL.md;; esac":                     LoadUnclear,
		"f() { cat .claude/skills/a/SKILL.md; }; f":                             LoadUnclear,
		"git show HEAD:.claude/skills/a/SKILL.md":                               LoadUnclear,
		"cd $X && cat .claude/skills/a/SKILL.md":                                LoadUnclear,

		// Not a read.
		"ls .claude/skills/a/SKILL.md":                              "",
		"ls -R .claude/skills | head":                               "",
		"ls .claude/skills | grep a":                                "",
		"find . -name SKILL.md":                                     "",
		"find .claude/skills -name SKILL.md | head -5":              "",
		"stat .claude/skills/a/SKILL.md":                            "",
		"wc -l .claude/skills/a/SKILL.md":                           "",
		"cat .claude/skills/a/SKILL.md | wc -l":                     "",
		"cat .claude/skills/a/SKILL.md > /dev/null":                 "",
		"test -f .claude/skills/a/SKILL.md && echo yes":             "",
		"grep -rl flush .claude/skills":                             "",
		"grep -q flush .claude/skills/a/SKILL.md && echo yes":       "",
		"echo .claude/skills/a/SKILL.md":                            "",
		"echo 'cat .claude/skills/a/SKILL.md'":                      "",
		"echo hi # cat .claude/skills/a/SKILL.md":                   "",
		"rm .claude/skills/a/SKILL.md; ls":                          "",
		"cat > notes <<EOF\ncat .claude/skills/a/SKILL.md\nEOF\nls": "",
		"cat .claude/skills/b/SKILL.md":                             "",
		"cat SKILL.md":                                              "",
		"cat skills/a/SKILL.md":                                     "",
		"cat /other/.claude/skills/a/SKILL.md":                      "",
		"cat .claude/skills/a/README.md":                            "",
		"cat .claude/skills/a/skill.md":                             "",
		"cargo test":                                                "",
		"python3 gen.py > SKILL.md; ls":                             "",
		"sed -i s/x/y/ SKILL.md; ls":                                "",
	} {
		assert.Equal(t, want, shellLoad(command, StatusOK, "some output"), command)
	}
}

// TestShellLoadsByResult holds the command fixed and changes its end.
func TestShellLoadsByResult(t *testing.T) {
	const cat = "cat .claude/skills/a/SKILL.md"
	for _, c := range []struct {
		command string
		status  Status
		output  string
		want    LoadState
	}{
		{cat, StatusOK, frontA, LoadLoaded},
		{cat, StatusError, "Exit code 1\ncat: .claude/skills/a/SKILL.md: No such file or directory", LoadAttempted},
		{cat, StatusError, "Exit code 1", LoadAttempted},
		{cat, StatusDenied, "requires approval", LoadAttempted},
		{cat, StatusRejected, "bad arguments", LoadAttempted},
		{cat, StatusUnfinished, "", LoadUnclear},
		{cat, StatusAborted, "", LoadUnclear},
		{cat, StatusOK, " \n", LoadAttempted},
		{cat + "; true", StatusOK, "cat: .claude/skills/a/SKILL.md: No such file or directory", LoadAttempted},
		{cat + " | head", StatusOK, "cat: .claude/skills/a/SKILL.md: Permission denied", LoadAttempted},
		{"cd .claude/skills/a; cat SKILL.md; true", StatusOK, "cat: SKILL.md: No such file or directory", LoadAttempted},
		{"cat .claude/skills/b/SKILL.md " + "; " + cat, StatusOK, "cat: .claude/skills/b/SKILL.md: No such file or directory\nx", LoadLoaded},
		{cat + " && cargo test", StatusError, "Exit code 101\n" + frontA + "error[E0308]", LoadLoaded},
		{"sed -n 5,9p .claude/skills/a/SKILL.md && cargo test", StatusError, "Exit code 101\nx", LoadUnclear},
		{"cat .claude/skills/*/SKILL.md", StatusOK, frontA, LoadLoaded},
		{"cat .claude/skills/{b,a}/SKILL.md", StatusOK, "---\nname: b\n---\n" + frontA, LoadLoaded},
		{"find . -name SKILL.md -exec cat {} +", StatusOK, frontA, LoadUnclear},
		// Nothing here names the skill's file, and its front matter stands in the output all the same.
		{"find . -type f | xargs cat", StatusOK, frontA, LoadUnclear},
		{"grep -rh '' .claude", StatusOK, "x\n" + frontA, LoadUnclear},
		{"cat $(git ls-files '*.md')", StatusOK, frontA, LoadUnclear},
		{"./show.sh", StatusOK, frontA, LoadUnclear},
		{"./show.sh", StatusOK, "---\nname: not-listed\n---\n", ""},
		{"./show.sh", StatusOK, "name: a\n", ""},
		{"cat docs/SKILL.md", StatusOK, frontA, ""}, // a copy elsewhere
		{"cat docs/SKILL.md | head -5 && ls", StatusOK, frontA, ""},
		{"awk 1 .claude/skills/a/SKILL.md", StatusOK, frontA, LoadLoaded},
		{"awk 1 .claude/skills/a/SKILL.md", StatusOK, "", ""},
		{"nl .claude/skills/a/SKILL.md 2>/dev/null; ls", StatusOK, "     1\t---\n     2\tname: a\n     3\t---", LoadLoaded},
		// Commands that succeed and show nothing of the file; the output is another's.
		{"sed -n 100,200p .claude/skills/a/SKILL.md; echo x", StatusOK, "x", LoadUnclear},
		{"tail -n +100 .claude/skills/a/SKILL.md; echo x", StatusOK, "x", LoadUnclear},
		{"tail -n +1 .claude/skills/a/SKILL.md; echo x", StatusOK, "x", LoadLoaded},
		{"head -n -100 .claude/skills/a/SKILL.md; echo x", StatusOK, "x", LoadUnclear},
		{"cut -s -d: -f9 .claude/skills/a/SKILL.md; echo x", StatusOK, "x", LoadUnclear},
		{"uniq -d .claude/skills/a/SKILL.md; echo x", StatusOK, "x", LoadUnclear},
		{cat + " | sed -n '/z/p'; echo x", StatusOK, "x", LoadUnclear},
		{cat + " | tail -n +100 | head; echo x", StatusOK, "x", LoadUnclear},
		{cat + " | tail -n +100 | head", StatusOK, "line 100", LoadLoaded},
		{cat + " | head -0; echo x", StatusOK, "x", ""},
		{cat + " | tail -n 0; echo x", StatusOK, "x", ""},
		{"sort -c .claude/skills/a/SKILL.md; echo x", StatusOK, "x", LoadUnclear},
		{"sort .claude/skills/a/SKILL.md -o out; echo x", StatusOK, "x", LoadUnclear},
		{"cat --help .claude/skills/a/SKILL.md", StatusOK, "Usage: cat", LoadUnclear},
		{"bat .claude/skills/a/SKILL.md; ls", StatusOK, "bash: line 1: bat: command not found\nsrc", LoadUnclear},
		{"bat .claude/skills/a/SKILL.md; ls", StatusOK, "zsh: command not found: bat\nsrc", LoadUnclear},
		{"bat .claude/skills/a/SKILL.md; ls", StatusOK, "sh: 1: bat: not found\nsrc", LoadUnclear},
		{cat + "; foo", StatusOK, "x\nbash: line 1: foo: command not found", LoadLoaded},
		{"ls; grep -h name: .claude/skills/*/SKILL.md", StatusOK, "name: a\nname: b", LoadUnclear},
	} {
		assert.Equal(t, c.want, shellLoad(c.command, c.status, c.output), "%s | %s | %s", c.command, c.status, c.output)
	}
}

func TestScanShellCwd(t *testing.T) {
	for command, want := range map[string]string{
		"ls": "/p", "cd src": "/p/src", "cd ..": "/", "cd /a/b && cd ../c": "/a/c", "cd": "/h", "cd ~/x": "/h/x", "cd $X": "",
		"(cd src)": "/p", "cd a; cd -": "/p", "bash -c 'cd a'": "/p", "cd a | cat": "/p/a", "pushd a": "/p/a", "pushd a; popd": "",
	} {
		assert.Equal(t, want, ScanShell(command, "/p", "/h").Cwd, command)
	}
}

func TestSkillRoots(t *testing.T) {
	r := SkillRoots{"/private/tmp/x/.claude/skills"}
	for file, want := range map[string]string{
		"/tmp/x/.claude/skills/a/SKILL.md":         "a",
		"/private/tmp/x/.claude/skills/a/SKILL.md": "a",
		"/tmp/x/.claude/skills/a/b/SKILL.md":       "",
		"/tmp/x/.claude/skills/SKILL.md":           "",
		"/tmp/x/.claude/skills/a/../b/SKILL.md":    "b",
		"/SKILL.md":                                "", "": "",
	} {
		got, ok := r.Skill(file)
		assert.Equal(t, want, got, file)
		assert.Equal(t, want != "", ok, file)
	}
}

func FuzzScanShell(f *testing.F) {
	for _, s := range []string{
		"cat a | b && c || d; (e) { f; } <<X\nbody\nX\n", "for i in 1 2; do $i; done", "a=$b c=${d} e=${f:-g} `h` $(i $(j))",
		`"\"$x" '\' $'a\n'`, "case a in b) c;; esac", "if true; then :; fi", "x() { y; }", "bash -c 'sh -c \"cat z\"'", "cat {a,{b,c}}/*[d]?", "<<A <<B\n1\nA\n2\nB",
	} {
		f.Add(s, "out")
	}
	f.Fuzz(func(t *testing.T, command, output string) {
		scan := ScanShell(command, "/t/project", "/t/home")
		for _, r := range scan.Reads {
			if !strings.HasPrefix(r.Path, "~") {
				require.True(t, path.IsAbs(r.Path), r.Path)
			}
		}
		require.LessOrEqual(t, len(scan.Reads), maxScanItems)
		for _, status := range []Status{StatusOK, StatusError} {
			testRoots.ShellLoads(scan, []string{"a"}, status, output)
		}
	})
}

// A command cannot make the scan grow: variables that double, loops over
// loops, thousands of words.
func TestScanShellBounded(t *testing.T) {
	for name, command := range map[string]string{
		"doubling":    "a=xxxxxxxxxxxxxxxx" + strings.Repeat("; a=$a$a", 200) + "; cat $a; python3 $a",
		"loops":       "for i in " + strings.Repeat("w ", 64) + "; do cat " + strings.Repeat("$i$i$i ", 5000) + "; done",
		"words":       "cat " + strings.Repeat("/x/y ", 50_000),
		"globs":       strings.Repeat("cat .claude/skills/{a,b,c}/SKILL.md; ", 5000),
		"open":        strings.Repeat("$(", 50_000) + strings.Repeat("\"`", 50_000),
		"subshells":   strings.Repeat("(", 100_000),
		"nested":      strings.Repeat("sh -c 'x", 10_000),
		"documents":   strings.Repeat("<<A ", 20_000) + "\nbody",
		"very long":   "cat " + strings.Repeat("x", 10<<20),
		"descriptors": strings.Repeat("2>&1 ", 50_000),
	} {
		scan := ScanShell(command, "/t/project", "/t/home")
		size := 0
		for _, r := range scan.Reads {
			size += len(r.Path)
		}
		for _, o := range scan.Opaque {
			size += len(o.Text)
		}
		assert.LessOrEqual(t, size, len(command)+64*maxScanItems*16, name)
		testRoots.ShellLoads(scan, []string{"a", "b"}, StatusOK, strings.Repeat("cat: a/SKILL.md: No such file\n", 10_000))
	}
}
