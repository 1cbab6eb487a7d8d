// Package tomlspot says where in a TOML file a syntax error is. The TOML module's own column is that
// behind the line above when the error stands at the beginning of a line (v1.6.0).
package tomlspot

import (
	"strings"

	"github.com/BurntSushi/toml"
)

// Of is the line and the column of an error in the text, both from 1, the column in bytes.
func Of(text string, err toml.ParseError) (line, col int) {
	line = max(err.Position.Line, 1)
	start := err.Position.Start
	if start < 0 || start > len(text) || strings.Count(text[:start], "\n")+1 != line {
		return line, 1 // the two do not fit together
	}
	return line, start - strings.LastIndexByte(text[:start], '\n')
}
