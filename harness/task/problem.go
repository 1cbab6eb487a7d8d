package task

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one thing that is wrong with a task.
type Problem struct {
	File    string // slash path below the evals root
	Line    int    // from 1; 0 when the file as such is meant
	Col     int    // from 1, in bytes; 0 when the line as such is meant
	Message string // what is wrong
	Fix     string // what to do about it
}

// String is "file:line:column: what; what to do", on one line.
func (p Problem) String() string {
	s := printable(p.File)
	if p.Line > 0 {
		s += fmt.Sprintf(":%d", p.Line)
		if p.Col > 0 {
			s += fmt.Sprintf(":%d", p.Col)
		}
	}
	s += ": " + p.Message
	if p.Fix != "" {
		s += "; " + p.Fix
	}
	return s
}

// Problems are everything that is wrong with the tasks that were to be loaded,
// sorted by file and line.
type Problems []Problem

// Error prints one problem a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// err is the sorted problems, or nil when there are none.
func (ps Problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps.Sorted()
}

// Sorted is the problems by file and place. Each is kept once: two tasks may name
// the same broken fixture.
func (ps Problems) Sorted() Problems {
	sorted := slices.Clone(ps)
	slices.SortStableFunc(sorted, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(sorted)
}

// printable is a path as it may be shown: quoted when it holds anything odd.
func printable(path string) string {
	if q := strconv.Quote(path); q != `"`+path+`"` {
		return q
	}
	return path
}

// closest is the candidate that a typing error may have turned into got, or "".
func closest(got string, candidates []string) string {
	best, at := "", 3
	for _, c := range candidates {
		if d := distance(got, c); d < at && d < len(c) {
			best, at = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance of two short strings, in bytes.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
