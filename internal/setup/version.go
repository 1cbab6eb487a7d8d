package setup

import (
	"cmp"
	"regexp"
	"strconv"
)

// version is major, minor, patch.
type version [3]int

// numberRE finds the first dotted number: programs print it after their name
// and often after a "v" ("v20.20.2", "cargo 1.95.0 (f2d3ce0bd 2026-03-21)",
// "socat version 1.7.4.4 on ..."). Components are short so that they fit an int.
var numberRE = regexp.MustCompile(`\d{1,9}(?:\.\d{1,9})+`)

// parseVersion finds a version in what a program printed. It returns the number
// as printed and its first three components; a missing patch is 0. Suffixes
// such as -nightly are ignored. ok is false when there is no dotted number.
func parseVersion(printed string) (number string, v version, ok bool) {
	number = numberRE.FindString(printed)
	if number == "" {
		return "", version{}, false
	}
	part, n := 0, 0
	for i := 0; i <= len(number) && part < len(v); i++ {
		if i < len(number) && number[i] != '.' {
			continue
		}
		// The pattern leaves nothing here that Atoi can reject.
		v[part], _ = strconv.Atoi(number[n:i])
		part, n = part+1, i+1
	}
	return number, v, true
}

// older reports whether v is before the version written in floor.
func (v version) older(floor string) bool {
	_, f, _ := parseVersion(floor)
	for i := range v {
		if c := cmp.Compare(v[i], f[i]); c != 0 {
			return c < 0
		}
	}
	return false
}
