package setup

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseVersion(t *testing.T) {
	for _, c := range []struct {
		printed, number string
		want            version
	}{
		{"v20.20.2", "20.20.2", version{20, 20, 2}},
		{"cargo 1.95.0 (f2d3ce0bd 2026-03-21)", "1.95.0", version{1, 95, 0}},
		{"rustc 1.97.0-nightly (abc 2026-05-01)", "1.97.0", version{1, 97, 0}},
		{"bubblewrap 0.8.0", "0.8.0", version{0, 8, 0}},
		{"socat by Gerhard Rieger - see www.dest-unreach.org\nsocat version 1.7.4.4 on 06 Nov", "1.7.4.4", version{1, 7, 4}},
		{"2.1.197 (Claude Code)", "2.1.197", version{2, 1, 197}},
		{"go1.26", "1.26", version{1, 26, 0}},
		{"1:20.19.2+dfsg-1", "20.19.2", version{20, 19, 2}},
		{"", "", version{}},
		{"version 7", "", version{}},
		{"99999999999.1", "999999999.1", version{999999999, 1, 0}},
	} {
		number, v, ok := parseVersion(c.printed)
		if c.printed == "99999999999.1" {
			// The last nine digits of a number too long: nonsense, but no panic.
			assert.True(t, ok)
			continue
		}
		assert.Equal(t, c.number != "", ok, c.printed)
		assert.Equal(t, c.number, number)
		assert.Equal(t, c.want, v)
	}
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		have, floor string
		want        bool
	}{
		{"20.11.0", "20.11.0", false}, {"20.10.9", "20.11.0", true}, {"20.11.1", "20.11.0", false},
		{"22.0", "20.11.0", false}, {"9.99.99", "20.11.0", true}, {"1.100.0", "1.88.0", false}, {"1.9.0", "1.88.0", true},
	} {
		_, v, _ := parseVersion(c.have)
		assert.Equal(t, c.want, v.older(c.floor), "%s before %s", c.have, c.floor)
	}
}

func FuzzParseVersion(f *testing.F) {
	for _, s := range []string{"v20.20.2", "socat version 1.7.4.4", "....", "1.2.", "999999999999.9", "1.٢.3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		number, v, ok := parseVersion(s)
		if ok != (number != "") || !strings.Contains(s, number) {
			t.Fatalf("%q: number %q, ok %v", s, number, ok)
		}
		again, w, _ := parseVersion(number)
		if again != number || v != w || min(v[0], v[1], v[2]) < 0 {
			t.Fatalf("%q: %v as %q, then %v as %q", s, v, number, w, again)
		}
		if v.older(number) {
			t.Fatalf("%q is older than itself", number)
		}
	})
}
