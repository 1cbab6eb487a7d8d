package grade

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// oddities are what Rust code and build files can hold to lead a grader astray, where ordinary code
// seldom does. The search is by text: it can miss and it can be wrong, so it decides nothing.
var oddities = []struct {
	what string
	form *regexp.Regexp
}{
	{"takes a symbol's name", form(`\b(no_mangle|export_name|link_name)\b`)},
	{"has the name of what a check calls", form(`\b(memcmp|bcmp|memcpy|memmove|strlen)\b`)},
	{"chooses a section of the program", form(`\b(link_section|init_array|preinit_array|ctors?|dtors?)\b`)},
	{"holds assembly", form(`\b(global_asm|asm|naked_asm)\b`)},
	{"calls what is not Rust", form(`\blibc\b|\bnix~::|\brustix\b|\bextern~(r?#*"|\{)|\bdl(open|sym)\b`)},
	{"holds unsafe code", form(`\bunsafe~(\{|\(|(impl|fn|extern|trait)\b)`)},
	{"handles all memory of the program", form(`\b(global_allocator|GlobalAlloc)\b`)},
	{"runs while it is compiled", form(`\bproc_macro`)},
	{"ends the process", form(`\b(process~::~(exit|abort)|_exit|libc~::~exit|intrinsics~::~abort|use~std~::~process)\b`)},
	{"catches or redirects panics", form(`\b(set_hook|take_hook|update_hook|catch_unwind|panic_handler)\b`)},
	{"looks at the running program", form(`/proc\b|"proc\b|\bself/(exe|mem|maps|fd)\b|/dev/(fd|std)|\bcurrent_exe\b|\bargs_os\b|\bargv\b|\bargs~\(~\)|\benv~::~(args|\*|\{[^}]*\bargs)\b?|\bptrace\b|\bmprotect\b|\bdl_iterate_phdr\b`)},
	{"starts or ends processes", form(`\bprocess~(::~(\{|\*|r#|[A-Z])|\bas\b)|\bstd~::~\{[^;]*\bprocess\b|\bCommand~>?~::|\bCommandExt\b|\bexec(v|ve|vp|vpe|l|le|lp|veat)\b|\.~exec~\(|\bposix_spawnp?\b|\bv?fork\b|\bkill\b|\bgetppid\b|\bparent_id\b`)},
	{"prints what a test harness prints", form(`test result|running \d+ test`)},
	{"replaces standard macros", form(`macro_rules~!~(assert|debug_assert|panic|unreachable|format|write|print)`)},
	{"takes in code from another file", form(`\binclude~!|\b(std|core)~::~include\b|\binclude~\bas\b|#~!?~\[[^\]]*\bpath~=`)},
	{"takes in a file from elsewhere", form(`\b(include|include_str|include_bytes)~!~[({\[]~(concat~!|env~!|r?#*"(/|\.\./|[^"\n]*/\.\./))|#~!?~\[[^\]]*\bpath~=~(r?#*"(/|\.\.)|[^r"\s/])`)},
	{"takes a file for code that is none by its name", form(`#~!?~\[[^\]]*\bpath~=~r?#*"([^"]*([^s"]|[^r]s|[^.]rs)|r?s?)"`)},
	{"is kept from formatting", form(`\brustfmt~::~skip\b|\brustfmt_skip\b`)},
	{"hangs on being tested", form(`#~!~\[~cfg|\bcfg~!~\(|\boption_env~!|\benv~!~\(`)},
}

// form is a pattern in which ~ stands for what Rust allows between two words: spaces, line ends, comments.
func form(pattern string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(pattern, "~", `(?:\s|/\*[^*]*\*/|//[^\n]*\n)*`))
}

// buildFiles are files that Cargo, rustc or rustfmt obey wherever they lie.
var buildFiles = []string{"build.rs", "Cargo.toml", "Cargo.lock", "rustfmt.toml", ".rustfmt.toml", "clippy.toml", ".clippy.toml", "rust-toolchain", "rust-toolchain.toml"}

const (
	mostSuspicious  = 40      // entries; more are counted
	maxSourceLooked = 1 << 20 // bytes of one file that are searched
	maxAllLooked    = 4 << 20 // bytes of all files together
)

// suspicious searches the editable paths of a submission: every file, since Rust takes in code from any,
// and comments too, since text does not tell where one ends. Every entry is quoted and cut: it goes into
// a record, and the submission wrote it.
func suspicious(submission string, editable []string) []string {
	entries, err := treecopy.List(submission, treecopy.Options{Untrusted: true})
	if err != nil {
		return []string{fmt.Sprintf("the submission was not searched: %.200q", err)}
	}
	var out []string
	more, left := 0, maxAllLooked
	add := func(format string, args ...any) {
		if len(out) < mostSuspicious {
			out = append(out, fmt.Sprintf(format, args...))
		} else {
			more++
		}
	}
	// Rust's own files first: data must not use up what is searched, nor what is listed.
	slices.SortStableFunc(entries, func(a, b treecopy.Entry) int { return rank(a.Path) - rank(b.Path) })
	for _, e := range entries {
		if e.Kind != treecopy.File || !slices.ContainsFunc(editable, func(root string) bool { return within(e.Path, root) }) {
			continue
		}
		if slices.Contains(buildFiles, path.Base(e.Path)) || path.Base(path.Dir(e.Path)) == ".cargo" {
			add("%.200q steers the build or the format check where it is obeyed", e.Path)
		}
		data, cut, err := treecopy.ReadFile(submission, e.Path, int64(min(maxSourceLooked, left)))
		if err != nil || cut {
			add("%.200q was not searched to its end", e.Path)
		}
		left -= len(data)
		for _, f := range findOddities(data) {
			add("%.200q line %d %s: %.60q", e.Path, f.line, f.what, f.word)
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return out
}

func rank(file string) int {
	if strings.HasSuffix(file, ".rs") || slices.Contains(buildFiles, path.Base(file)) || path.Base(path.Dir(file)) == ".cargo" {
		return 0
	}
	return 1
}

type oddity struct {
	line int
	what string
	word []byte
}

// findOddities are those of one file, in the order of its lines, each kind once a line.
func findOddities(data []byte) []oddity {
	var out []oddity
	for _, o := range oddities {
		line, from, last := 1, 0, 0
		for _, at := range o.form.FindAllIndex(data, -1) {
			line += bytes.Count(data[from:at[0]], []byte("\n"))
			from = at[0]
			if line != last {
				out = append(out, oddity{line, o.what, data[at[0]:at[1]]})
			}
			last = line
		}
	}
	slices.SortStableFunc(out, func(a, b oddity) int { return a.line - b.line })
	return out
}
