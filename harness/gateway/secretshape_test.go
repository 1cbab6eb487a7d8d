package gateway

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A key at the beginning of a line stands behind a line end's escape in JSON text; the letter of it is no part of a word.
func TestSecretBehindAnEscape(t *testing.T) {
	keys := []string{"sk-ant-" + strings.Repeat("a1", 20), "ghp_" + strings.Repeat("b2", 18), "AKIA" + strings.Repeat("C3", 8), "-----BEGIN RSA PRIVATE KEY-----"}
	for _, key := range keys {
		for _, before := range []string{"", " ", "=", "\n", "\r\n", "\t", `\n`} {
			body := encodeJSON(map[string]string{"input": "x" + before + key + "\n"})
			if before == "" {
				body = encodeJSON(map[string]string{"input": key})
			}
			request := normaliser{}.request(body)
			assert.NotContains(t, request, key, "%q", before)
			assert.Contains(t, request, markSecret, "%q", before)
			assert.True(t, asJSON(request)[0] == '{', "still JSON: %s", request)
			leaks := ScanCassette(body)
			require.Len(t, leaks, 1, "%q", before)
			assert.Equal(t, key[:4]+"…", leaks[0].Text)
			assert.Equal(t, strings.Index(string(body), key)+1, leaks[0].Column)
		}
	}
	pem := "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/IBAAKCAQEA\nabc=\n"
	for _, whole := range []string{pem + "-----END RSA PRIVATE KEY-----\n", pem} {
		request := normaliser{}.request(encodeJSON(map[string]string{"input": whole + "\"and on\""}))
		assert.NotContains(t, request, "MIIEow", "the key itself goes, not its title alone")
		assert.NotContains(t, request, "abc=")
		assert.Contains(t, request, "and on")
		assert.True(t, asJSON(request)[0] == '{', "still JSON: %s", request)
	}
	assert.Empty(t, ScanCassette([]byte(`{"input":"task-management-application-for-everyone"}`)))
}
