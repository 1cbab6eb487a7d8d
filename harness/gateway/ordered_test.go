package gateway

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The threads of cargo test end in any order: a recording plays all the same, and a test that fails is another answer.
func TestOrdered(t *testing.T) {
	body := func(lines string) string {
		return normaliser{}.request([]byte(`{"input":[{"output":"   Compiling x v1\n` + lines + `\ntest result: ok. 2 passed\n"}]}`))
	}
	const a, b, c = `test tests::a ... ok\n`, `test tests::b - should panic ... ok\n`, `test tests::c ... FAILED\n`
	assert.Equal(t, body(`running 3 tests\n`+a+b+c), body(`running 3 tests\n`+c+b+a))
	assert.Contains(t, body(`running 3 tests\n`+b+a), `running 3 tests\n`+a+b+`\ntest result: ok`)
	assert.NotEqual(t, body(a+c), body(a+`test tests::c ... ok\n`))
	assert.NotEqual(t, body(a+`between\n`+b), body(b+`between\n`+a), "only lines that follow each other")
	assert.Equal(t, body(`   Compiling z v1\n   Compiling y v2 (/p)\n`), body(`   Compiling y v2 (/p)\n   Compiling z v1\n`))
	for _, s := range []string{"", "test", `"test a ... ok"`, body(a + b)} {
		assert.Equal(t, ordered(s), ordered(ordered(s)))
	}
}
