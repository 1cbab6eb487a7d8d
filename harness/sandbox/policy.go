package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Policy is what one launch may read, write and reach. Reads are open unless
// DenyRead covers them, and AllowRead reopens paths inside a denied region;
// writes and network are closed unless allowed. All paths are absolute.
type Policy struct {
	DenyRead   []string
	AllowRead  []string
	AllowWrite []string
	DenyWrite  []string
	// AllowedDomains are host or host:port entries; empty means no network at all.
	AllowedDomains []string
}

// srtPolicy is the settings file of srt, in its own field names.
type srtPolicy struct {
	Filesystem struct {
		DenyRead   []string `json:"denyRead"`
		AllowRead  []string `json:"allowRead"`
		AllowWrite []string `json:"allowWrite"`
		DenyWrite  []string `json:"denyWrite"`
	} `json:"filesystem"`
	Network struct {
		AllowedDomains []string `json:"allowedDomains"`
		DeniedDomains  []string `json:"deniedDomains"`
	} `json:"network"`
	// Named, because srt's own look-up of them has a second and fails on a busy machine.
	// Depth 1: srt would protect names such as .bashrc in every folder three levels down, one mount
	// each, so that a submission full of them could keep its own grading from starting.
	Depth     int    `json:"mandatoryDenySearchDepth,omitempty"`
	BwrapPath string `json:"bwrapPath,omitempty"`
	SocatPath string `json:"socatPath,omitempty"`
}

// JSON is the policy as srt's settings file, sorted and without duplicates, so that two equal
// policies are equal bytes.
func (p Policy) JSON() ([]byte, error) { return p.settings("", "") }

// settings is JSON with the programs srt is to use.
func (p Policy) settings(bwrap, socat string) ([]byte, error) {
	out := srtPolicy{BwrapPath: bwrap, SocatPath: socat}
	if bwrap != "" {
		out.Depth = 1
	}
	out.Filesystem.DenyRead = tidy(p.DenyRead)
	out.Filesystem.AllowRead = tidy(p.AllowRead)
	out.Filesystem.AllowWrite = tidy(p.AllowWrite)
	out.Filesystem.DenyWrite = tidy(p.DenyWrite)
	out.Network.AllowedDomains = tidy(p.AllowedDomains)
	out.Network.DeniedDomains = []string{}
	b, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("sandbox policy: %w", err)
	}
	return append(b, '\n'), nil
}

func tidy(in []string) []string {
	out := slices.Clone(in)
	slices.Sort(out)
	out = slices.Compact(out)
	if out == nil {
		out = []string{} // srt wants arrays, not null
	}
	return out
}
