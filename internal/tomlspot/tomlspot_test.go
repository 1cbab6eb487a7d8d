package tomlspot

import (
	"errors"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOf(t *testing.T) {
	for text, want := range map[string][2]int{
		"a = 1\n\nx = = 1\n":               {3, 5},
		"a = 1\na = 1\n":                   {2, 1},
		"a = 1\n\xff":                      {2, 1},
		"a = \"x\n":                        {1, 7},
		"a = 1\n[[t]]\n b = 1\n b = 2\n":   {4, 2},
		"= 1":                              {1, 1},
		"[t]\nx = 1\n[t]\n":                {3, 2},
		"a = 1\r\n\r\nx = = 1\r\n":         {3, 5},
		"a = '''\n\n'''\nb = 1\n\nb = 2\n": {6, 1},
	} {
		var v map[string]any
		var bad toml.ParseError
		require.True(t, errors.As(toml.Unmarshal([]byte(text), &v), &bad), "%q", text)
		line, col := Of(text, bad)
		assert.Equal(t, want, [2]int{line, col}, "%q: %+v", text, bad.Position)
	}
	line, col := Of("a", toml.ParseError{Position: toml.Position{Line: 7, Start: 99}})
	assert.Equal(t, [2]int{7, 1}, [2]int{line, col})
	line, col = Of("", toml.ParseError{})
	assert.Equal(t, [2]int{1, 1}, [2]int{line, col})
}
