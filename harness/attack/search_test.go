package attack

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/harness/task"
)

// fill makes files below dir, by slash path.
func fill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o755))
	}
}

const long = "pub fn a_function_long_enough_to_say_something_about_where_it_comes_from() -> u32 { 42 }\n"

// TestSearchFindsWhatIsOfAnyTask: one search finds checks, solutions and skills of every task, and
// cargo-agents, wherever and next to what else they lie. What trials are given anyway it leaves alone.
func TestSearchFindsWhatIsOfAnyTask(t *testing.T) {
	evals, disk := t.TempDir(), t.TempDir()
	fill(t, evals, map[string]string{
		"tasks/one/checks/first.rs": "// one", "tasks/one/solution/src/lib.rs": long + "// one", "tasks/one/starter/src/lib.rs": "", "tasks/one/solution/short": "short",
		"tasks/two/checks/sec[o]nd.rs": "// two", "tasks/two/solution/src/it's.rs": long + "// two", "tasks/two/starter/given.rs": long, "tasks/two/solution/given.rs": long,
		"plugins/p/SKILL.md": "---\nname: skill-of-one\ndescription: d\n---\n", "plugins/q/SKILL.md": "---\nname: \"skill.of.two\"\ndescription: d\n---\n",
	})
	make := func(name, check, plugin string) *task.Task {
		dir := filepath.Join(evals, "tasks", name)
		return &task.Task{Name: name, Root: evals, Dir: dir, Starter: filepath.Join(dir, "starter"), Plugins: []string{plugin},
			Checks: []task.Check{{Name: strings.TrimSuffix(check, ".rs"), File: filepath.Join(dir, "checks", check)}}}
	}
	g, err := giveawaysOf([]*task.Task{make("one", "first.rs", "p"), make("two", "sec[o]nd.rs", "q")})
	require.NoError(t, err)
	fill(t, disk, map[string]string{
		"backup/sec[o]nd.rs": "// changed since", "backup/seco.rs": "another name", "deps/first-0123456789abcdef": "", "deps/first-012345678": "", "old/checks/first.rs": "",
		"chain/src/first.rs": "// a compiler's own", "chain/copied/first.rs": "// one", "run/project/first.rs": "// the starter's own",
		"solved/it's.rs": long + "// two", "solved/lib.rs": long + "// 0ne", "solved/given.rs": long, "solved/short": "short",
		"skills/SKILL.md": "---\nname: skill.of.two\n---\n", "others/SKILL.md": "---\nname: skill-of-two\n---\n", "run/project/SKILL.md": "---\nname: skill-of-one\n---\n",
		"sbin/cargo-agents": "#!/bin/sh\n",
	})
	require.NoError(t, os.Symlink("../backup/sec[o]nd.rs", filepath.Join(disk, "old", "sec[o]nd.rs")))
	require.NoError(t, os.Mkdir(filepath.Join(disk, "cargo-agents"), 0o755))

	vars := g.vars()
	vars["RUN"], vars["TOOLCHAIN"] = filepath.Join(disk, "run"), filepath.Join(disk, "chain")
	want := map[string][]string{
		"no task's hidden checks are anywhere in sight while the agent runs": {"/backup/sec[o]nd.rs", "/chain/copied/first.rs", "/deps/first-0123456789abcdef", "/old/checks/first.rs", "/old/sec[o]nd.rs"},
		"no task's solution is anywhere in sight":                            {"/solved/it's.rs"},
		"no copy of a task's skills can be read outside its own folders":     {"/skills/SKILL.md"},
		"no cargo-agents is anywhere in sight":                               {"read /sbin/cargo-agents", "ran /sbin/cargo-agents"},
	}
	require.Len(t, want, len(searched))
	look := func(search string) map[string][]string {
		found := map[string][]string{}
		for _, a := range searched {
			script := (&targets{vars: vars}).prelude() + search + a.script
			out, err := exec.Command("/bin/sh", "-c", script).Output()
			if err != nil {
				require.IsType(t, &exec.ExitError{}, err) // an attack's failure is its own
			}
			for line := range strings.Lines(strings.ReplaceAll(string(out), disk, "")) {
				found[a.guarantee] = append(found[a.guarantee], strings.TrimSpace(line))
			}
		}
		return found
	}
	got := look(searchScript([]string{disk}, time.Minute))
	for guarantee, lines := range want {
		assert.ElementsMatch(t, lines, got[guarantee], guarantee)
	}
	for _, lines := range look("FOUND=\nCUT=124\n") {
		assert.Equal(t, []string{unsure + " the search was cut short by its time limit"}, lines)
	}
	assert.Empty(t, giveaways{}.vars()["CHECKSUMS"])
	empty, err := exec.Command("/bin/sh", "-c", (&targets{vars: giveaways{}.vars()}).prelude()+searchScript([]string{disk}, time.Minute)+`printf %s "$FOUND"`).Output()
	require.NoError(t, err)
	assert.NotContains(t, string(empty), "check ", "no task, nothing of a task to look for")
	assert.Contains(t, string(empty), "agents ")
}

// TestTheSamePolicyIsSearchedOnce: what lets the same be read has the same answers; another has its own.
func TestTheSamePolicyIsSearchedOnce(t *testing.T) {
	policy := func(run, batch string, more ...string) sandbox.Policy {
		return sandbox.Policy{DenyRead: []string{"/x", "/y"}, AllowRead: append([]string{run + "/bin", batch + "/tools/common"}, more...)}
	}
	one := readableBy(policy("/s/b-1/r1", "/s/b-1"), "/s/b-1/r1", "/s/b-1")
	assert.Equal(t, one, readableBy(policy("/s/b-2/r2", "/s/b-2"), "/s/b-2/r2", "/s/b-2"))
	assert.NotEqual(t, one, readableBy(policy("/s/b-2/r2", "/s/b-2", "/opt"), "/s/b-2/r2", "/s/b-2"))
	assert.NotEqual(t, one, readableBy(policy("/s/b-2/r2", "/s/b-2", "/s/b-22/z"), "/s/b-2/r2", "/s/b-2"))

	s := searches{left: allSearches}
	guarantee := func(i int, v Verdict, detail string) Result {
		return Result{Guarantee: searched[i].guarantee, Verdict: v, Detail: detail}
	}
	s.join(one, []Result{guarantee(0, Broken, "found"), guarantee(1, CouldNotTell, "cut"), guarantee(2, Held, ""), {Guarantee: "another", Verdict: Broken}})
	again := []Result{guarantee(0, Held, ""), guarantee(1, Broken, "its own"), guarantee(2, Held, ""), {Guarantee: "another", Verdict: Held}}
	s.join(one, again)
	assert.Equal(t, []Result{guarantee(0, Broken, "found"), guarantee(1, Broken, "its own"), guarantee(2, Held, ""), {Guarantee: "another", Verdict: Held}}, again)
	other := []Result{guarantee(0, Held, "")}
	s.join("another policy", other)
	assert.Equal(t, []Result{guarantee(0, Held, "")}, other)
}

func TestTimeOver(t *testing.T) {
	assert.Len(t, timeOver(plan.Baseline), len(all()))
	assert.Less(t, len(timeOver(plan.WithSymposium)), len(all()))
	for _, r := range timeOver(plan.Baseline) {
		assert.Equal(t, CouldNotTell, r.Verdict)
	}
}
