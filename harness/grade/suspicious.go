package grade

import (
	"bufio"
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// oddities are what Rust code and build files can hold to lead a grader astray, where ordinary code
// seldom does. The search is by text: it can miss and it can be wrong, so it decides nothing.
var oddities = []struct {
	what string
	form *regexp.Regexp
}{
	{"takes a symbol's name", regexp.MustCompile(`\b(no_mangle|export_name|link_name)\b`)},
	{"chooses a section of the program", regexp.MustCompile(`\b(link_section|init_array|ctors?)\b`)},
	{"holds assembly", regexp.MustCompile(`\b(global_asm|asm|naked_asm)!`)},
	{"ends the process", regexp.MustCompile(`\b(process::(exit|abort)|_exit|libc::exit|intrinsics::abort|use\s+std::process)\b`)},
	{"catches or redirects panics", regexp.MustCompile(`\b(set_hook|take_hook|catch_unwind|panic_handler)\b`)},
	{"looks at the running program", regexp.MustCompile(`/proc/|\bcurrent_exe\b|\bargs_os\b|\benv::args\b|\bptrace\b|\bmprotect\b|\bdl_iterate_phdr\b`)},
	{"starts or ends processes", regexp.MustCompile(`\bprocess::\s*(Command|\{|\*)|\bCommand\s*>?\s*::\s*new\b|\bposix_spawnp?\b|\bexecv\w*\b|\bv?fork\b|\bkill\b|\bgetppid\b`)},
	{"has the name of what a check calls", regexp.MustCompile(`\b(memcmp|bcmp|memcpy|memmove|strlen)\b`)},
	{"takes in source by hand", regexp.MustCompile(`\binclude!|#\s*!?\[\s*path\s*=`)},
	{"prints what a test harness prints", regexp.MustCompile(`test result|running \d+ test`)},
	{"replaces standard macros", regexp.MustCompile(`macro_rules!\s*(assert|debug_assert|panic|unreachable|format|write|print)`)},
	{"takes in a file from elsewhere", regexp.MustCompile(`\b(include|include_str|include_bytes)!\s*[({\[]\s*(concat!|env!|"(/|\.\./|.*/\.\./))|#\s*!?\[\s*path\s*=\s*"(/|\.\.)`)},
	{"is kept from formatting", regexp.MustCompile(`\brustfmt::skip\b|\brustfmt_skip\b`)},
	{"hangs on being tested", regexp.MustCompile(`#!\[\s*cfg|\bcfg!\s*\(|option_env!|\benv!\s*\(`)},
}

// buildFiles are files that Cargo, rustc or rustfmt obey wherever they lie.
var buildFiles = []string{"build.rs", "Cargo.toml", "Cargo.lock", "rustfmt.toml", ".rustfmt.toml", "clippy.toml", ".clippy.toml", "rust-toolchain", "rust-toolchain.toml"}

const (
	mostSuspicious  = 40      // entries; more are counted
	maxSourceLooked = 1 << 20 // bytes of one file that are searched
)

// suspicious searches the editable paths of a submission. Every entry is quoted and cut: it goes into
// a record, and the submission wrote it.
func suspicious(submission string, editable []string) []string {
	entries, err := treecopy.List(submission, treecopy.Options{Untrusted: true})
	if err != nil {
		return []string{fmt.Sprintf("the submission was not searched: %.200q", err)}
	}
	var out []string
	more := 0
	add := func(format string, args ...any) {
		if len(out) < mostSuspicious {
			out = append(out, fmt.Sprintf(format, args...))
		} else {
			more++
		}
	}
	for _, e := range entries {
		if e.Kind != treecopy.File || !slices.ContainsFunc(editable, func(root string) bool { return within(e.Path, root) }) {
			continue
		}
		if slices.Contains(buildFiles, path.Base(e.Path)) || path.Base(path.Dir(e.Path)) == ".cargo" {
			add("%.200q steers the build or the format check where it is obeyed", e.Path)
		}
		// Not files of Rust's ending alone: `include!` takes in any.
		data, cut, err := treecopy.ReadFile(submission, e.Path, maxSourceLooked)
		if err != nil || cut {
			add("%.200q was not searched to its end", e.Path)
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, maxSourceLooked+1)
		for n := 1; lines.Scan(); n++ {
			line := bytes.TrimSpace(lines.Bytes())
			// A line comment, unless a block comment ends in it.
			if bytes.HasPrefix(line, []byte("//")) && !bytes.Contains(line, []byte("*/")) {
				continue
			}
			for _, o := range oddities {
				if word := o.form.Find(line); word != nil {
					add("%.200q line %d %s: %.60q", e.Path, n, o.what, word)
				}
			}
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return out
}
