package suite

import (
	"fmt"
	"time"

	"github.com/dlclark/regexp2"
)

// matchTimeout ends a search that would take for ever: these expressions backtrack, and what they
// search is the trial's.
const matchTimeout = 2 * time.Second

// Regexp is a regular expression of Python's re, as agent-exam reads them.
type Regexp struct {
	source string
	re     *regexp2.Regexp
}

// String is the expression as written.
func (r *Regexp) String() string { return r.source }

// Search says whether the expression matches somewhere in s. Its error says that the search was given up.
func (r *Regexp) Search(s string) (bool, error) {
	ok, err := r.re.MatchString(s)
	if err != nil {
		return false, fmt.Errorf("the search for %q was given up after %s: write an expression that backtracks less", r.source, matchTimeout)
	}
	return ok, nil
}

// Compile reads an expression of Python's re.
func Compile(expr string) (*Regexp, error) {
	translated, err := translate(expr)
	if err != nil {
		return nil, fmt.Errorf("invalid regex pattern %q: %w", expr, err)
	}
	re, err := regexp2.Compile(translated, regexp2.None)
	if err != nil {
		return nil, fmt.Errorf("invalid regex pattern %q: %w", expr, err)
	}
	re.MatchTimeout = matchTimeout
	return &Regexp{source: expr, re: re}, nil
}
