package attack

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
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

// Bounds of the searches through the machine's disks, of which each policy has one.
const (
	oneSearch   = 20 * time.Second
	allSearches = 35 * time.Second
)

// searches are the searches through the machine's disks of one session.
type searches struct {
	left time.Duration
	// done are the answers by what the policy lets a trial read: the same policy need not be searched
	// twice.
	done map[string]map[string]Result
}

// readableBy tells policies apart by what they let a trial read, whatever the run and the batch are.
func readableBy(p sandbox.Policy, run, batch string) string {
	var paths [3][]string
	for i, in := range [][]string{p.DenyRead, p.AllowRead, p.AllowWrite} {
		for _, path := range in {
			for _, own := range []struct{ dir, here string }{{run, "RUN"}, {batch, "BATCH"}} {
				if rest, ok := strings.CutPrefix(path, own.dir); ok && (rest == "" || rest[0] == '/') {
					path = own.here + rest
				}
			}
			paths[i] = append(paths[i], path)
		}
		slices.Sort(paths[i])
	}
	key, _ := json.Marshal(paths) // strings cannot fail
	return string(key)
}

// searchScript sets FOUND to a line for each file below the given folders whose name may give something
// away, its kind first, and CUT to 124 when the time was over before the end. It needs GNU find.
func searchScript(roots []string, limit time.Duration) string {
	var b strings.Builder
	b.WriteString("set --")
	for _, root := range roots {
		b.WriteString(" " + sandbox.Quote(root))
	}
	fmt.Fprintf(&b, `
FOUND=$(eval "timeout %d find \"\$@\" $SEARCH" </dev/null 2>/dev/null)
CUT=$?
set --
`, max(int(limit/time.Second), 1))
	return b.String()
}

// cut is what a script that reads FOUND ends with.
const cut = `
[ "$CUT" -ne 124 ] || echo "$UNSURE the search was cut short by its time limit"`

// giveaways are what a search is for: the files of all tasks that no trial may have.
type giveaways struct {
	checks    []string        // names of the hidden checks' files
	compiled  []string        // names of the checks' test targets
	checkSums []string        // SHA-256
	solutions map[string]bool // find's test of name and size, for each file of a solution
	solveSums []string
	skills    []string // names
}

// smallestSolution is the size below which a file of a solution says nothing, in bytes.
const smallestSolution = 64

// giveawaysOf reads the tasks. What a trial is given (starters and fixtures) is none.
func giveawaysOf(tasks []*task.Task) (giveaways, error) {
	g := giveaways{solutions: map[string]bool{}}
	given := map[string]bool{}
	for _, t := range tasks {
		dirs := []string{t.Starter}
		for _, f := range t.Fixtures {
			dirs = append(dirs, t.FixtureDir(f))
		}
		for _, dir := range dirs {
			if err := eachFile(dir, func(_ string, _ int64, sum string) { given[sum] = true }); err != nil {
				return g, err
			}
		}
	}
	for _, t := range tasks {
		for _, c := range t.Checks {
			_, sum, err := sumOf(c.File)
			if err != nil {
				return g, err
			}
			g.checks, g.compiled, g.checkSums = append(g.checks, filepath.Base(c.File)), append(g.compiled, regexp.QuoteMeta(c.Name)), append(g.checkSums, sum)
		}
		err := eachFile(filepath.Join(t.Dir, "solution"), func(name string, size int64, sum string) {
			if size >= smallestSolution && !given[sum] {
				g.solutions[fmt.Sprintf("-name %s -size %dc", sandbox.Quote(literal(name)), size)] = true
				g.solveSums = append(g.solveSums, sum)
			}
		})
		if err != nil {
			return g, err
		}
		for _, p := range t.Plugins {
			skills, err := symposium.Skills(t.PluginDir(p))
			if err != nil {
				return g, err
			}
			for _, s := range skills {
				g.skills = append(g.skills, regexp.QuoteMeta(s.Name))
			}
		}
	}
	for _, list := range []*[]string{&g.checks, &g.compiled, &g.checkSums, &g.solveSums, &g.skills} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return g, nil
}

// eachFile calls do for each regular file below dir, which may be missing.
func eachFile(dir string, do func(name string, size int64, sum string)) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) && path == dir {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		size, sum, err := sumOf(path)
		if err == nil {
			do(d.Name(), size, sum)
		}
		return err
	})
}

func sumOf(path string) (size int64, sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// literal is a pattern of find's -name that matches name alone.
func literal(name string) string {
	return regexp.MustCompile(`[*?\[\]\\]`).ReplaceAllString(name, `\$0`)
}

// vars are the variables of the scripts that speak of g; what there is none of is not set.
func (g giveaways) vars() map[string]string {
	v := map[string]string{}
	anyOf := func(tests []string) string {
		if len(tests) == 0 {
			return "-false"
		}
		return `\( ` + strings.Join(tests, " -o ") + ` \)`
	}
	var names, solutions []string
	for _, name := range g.checks {
		names = append(names, "-name "+sandbox.Quote(literal(name)))
	}
	for test := range g.solutions {
		solutions = append(solutions, test)
	}
	slices.Sort(solutions)
	compiled := "-false"
	if len(g.compiled) > 0 { // <target>-<16 digits>, as Cargo names what it builds
		compiled = "-regex " + sandbox.Quote(".*/("+strings.Join(g.compiled, "|")+")-[0-9a-f]{16}([.](d|exe))?")
		v["CHECKSUMS"] = strings.Join(g.checkSums, "|")
	}
	if len(g.solveSums) > 0 {
		v["SOLUTIONSUMS"] = strings.Join(g.solveSums, "|")
	}
	if len(g.skills) > 0 {
		v["SKILLNAMES"] = strings.Join(g.skills, "|")
	}
	v["SEARCH"] = `-regextype posix-extended \( -path /proc -o -path /sys -o -path /dev \) -prune -o \( ` +
		anyOf(names) + ` -xtype f -printf 'check %p\n' , ` +
		compiled + ` -xtype f -printf 'compiled %p\n' , ` +
		anyOf(solutions) + ` -xtype f -printf 'solution %p\n' , ` +
		`-name SKILL.md ! -path "$RUN/*" -xtype f -printf 'skill %p\n' , ` +
		`-name cargo-agents ! -type d -printf 'agents %p\n' \)`
	return v
}

// searched are the attacks that look through the machine's disks, in the one search that
// [searchScript] makes.
var searched = []attack{
	{guarantee: "no task's hidden checks are anywhere in sight while the agent runs", search: true, needs: "CHECKSUMS",
		fix: "another copy of the evals root is readable on this machine; add it to deny_read in proctor.toml",
		script: `
is() { sha256sum <"$1" | grep -qE "^($CHECKSUMS) "; }
printf '%s\n' "$FOUND" | while read -r kind f; do
	case $kind in
	compiled) echo "$f" ;;
	check)
		# In the run's own folders, the toolchain and the system's a name alone says nothing.
		case $f in
		"$RUN"/*|"$TOOLCHAIN"/*) is "$f" && echo "$f" ;;
		*/checks/*|/usr/local/*|/usr/src/*) echo "$f" ;;
		/bin/*|/boot/*|/etc/*|/lib*/*|/run/*|/sbin/*|/usr/*) is "$f" && echo "$f" ;;
		*) echo "$f" ;;
		esac ;;
	esac
done` + cut},
	{guarantee: "no task's solution is anywhere in sight", search: true, needs: "SOLUTIONSUMS",
		fix: "a copy of a solution is readable on this machine; add it to deny_read in proctor.toml",
		script: `
printf '%s\n' "$FOUND" | sed -n 's/^solution //p' | while read -r f; do
	sha256sum <"$f" | grep -qE "^($SOLUTIONSUMS) " && echo "$f"
done` + cut},
	{guarantee: "no copy of a task's skills can be read outside its own folders", search: true, needs: "SKILLNAMES",
		fix: "a folder with the skill is readable on this machine; add it to deny_read in proctor.toml",
		script: `
printf '%s\n' "$FOUND" | sed -n 's/^skill //p' | while read -r f; do
	grep -lE "^name:[[:space:]]*[\"']?($SKILLNAMES)[\"']?[[:space:]]*\$" "$f"
done` + cut},
	{guarantee: "no cargo-agents is anywhere in sight", search: true, only: baselines,
		fix: "add it to deny_read in proctor.toml",
		script: `
printf '%s\n' "$FOUND" | sed -n 's/^agents //p' | while read -r f; do
	head -c 1 "$f" | grep -q . && echo "read $f"
	"$f" --version </dev/null >/dev/null && echo "ran $f"
done` + cut},
}

// plantSearch sets what the searching attacks look for, and where it is known to be: the control.
func (t *targets) plantSearch(b *harness.Batch) error {
	place := b.Place()
	g, err := giveawaysOf(place.Tasks)
	if err != nil {
		return err
	}
	for name, value := range g.vars() {
		t.vars[name] = value
	}
	t.vars["TOOLCHAIN"] = place.Toolchain
	return nil
}

// searchInside is the search of a launch: of all disks, or, where the same policy was searched before,
// of what is this batch's own.
func (s *searches) searchInside(l *sandbox.Launch, run *workspace.Run, place harness.Place) (script, key string, whole bool) {
	key = readableBy(l.Policy, run.Dir, place.Batch)
	if s.done[key] != nil {
		return searchScript([]string{place.Staged}, oneSearch), key, false
	}
	limit := min(oneSearch, s.left)
	if limit < time.Second {
		return "FOUND=\nCUT=124\n", key, true
	}
	return searchScript([]string{"/"}, limit), key, true
}

// join puts the answers of the searching attacks together with those an earlier launch of the same
// policy had, and keeps them.
func (s *searches) join(key string, results []Result) {
	earlier := s.done[key]
	if earlier == nil {
		earlier = map[string]Result{}
		if s.done == nil {
			s.done = map[string]map[string]Result{}
		}
		s.done[key] = earlier
	}
	for i, r := range results {
		if !slices.ContainsFunc(searched, func(a attack) bool { return a.guarantee == r.Guarantee }) {
			continue
		}
		before, known := earlier[r.Guarantee]
		switch {
		case !known || r.Verdict == Broken:
			earlier[r.Guarantee] = r
		case r.Verdict == Held && before.Verdict != Held:
			results[i].Verdict, results[i].Detail = before.Verdict, before.Detail
		}
	}
}
