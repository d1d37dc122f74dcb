package httpguard

import (
	"testing"
)

// TestParseOrigin reads origins as people write them, and refuses those that no browser sends.
func TestParseOrigin(t *testing.T) {
	for given, want := range map[string]string{
		"http://localhost:6274":         "http://localhost:6274",
		"https://inspector.example":     "https://inspector.example",
		"https://Inspector.EXAMPLE":     "https://inspector.example",
		"HTTPS://inspector.example":     "https://inspector.example",
		"https://inspector.example:443": "https://inspector.example",
		"http://inspector.example:80":   "http://inspector.example",
		"https://inspector.example:80":  "https://inspector.example:80",
		"http://127.0.0.1:3000":         "http://127.0.0.1:3000",
		"http://[::1]:3000":             "http://[::1]:3000",
		"http://[::1]":                  "http://[::1]",
		"http://[::1]:80":               "http://[::1]",
		"https://xn--fiqs8s.example":    "https://xn--fiqs8s.example",
		"chrome-extension://abcdef":     "chrome-extension://abcdef",
		"vscode-webview://0a1b2c":       "vscode-webview://0a1b2c",

		"":                                  "",
		"*":                                 "",
		"null":                              "",
		"Null":                              "",
		"localhost":                         "",
		"localhost:6274":                    "",
		"//localhost:6274":                  "",
		"http://":                           "",
		"http://:6274":                      "",
		"file://":                           "",
		"file:///home/ana/page.html":        "",
		"data:text/html,x":                  "",
		"about:blank":                       "",
		"http://localhost:6274/":            "",
		"http://localhost:6274/page":        "",
		"http://localhost:6274?x":           "",
		"http://localhost:6274#x":           "",
		"http://ana@localhost:6274":         "",
		"http://localhost:":                 "",
		"http://localhost:0":                "",
		"http://localhost:65536":            "",
		"http://localhost:port":             "",
		"http://localhost.":                 "",
		"http://localhost.:6274":            "",
		"http://*":                          "",
		"https://*.example":                 "",
		"http://*:6274":                     "",
		"http://a.example,http://b.example": "",
		"http://a.example http://b.example": "",
		" http://a.example":                 "",
		"http://a.example\n":                "",
		"http://中国.example":                 "",
		"http://localho\u017ft":             "",
	} {
		got, err := ParseOrigin(given)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("ParseOrigin(%q) = %q, %v, want %q", given, got, err, want)
		}
	}
}
