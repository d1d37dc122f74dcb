package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseToolServer(t *testing.T) {
	for text, want := range map[string]string{
		"tracker=tracker-mcp":                  "{tracker [] [tracker-mcp] }",
		" tracker = tracker-mcp --stdio  -v ":  "{tracker [] [tracker-mcp --stdio -v] }",
		"t=$A $B_2 npx -y @x/y@1":              "{t [A B_2] [npx -y @x/y@1] }",
		"web=https://host.example/mcp?x=1":     "{web [] [] https://host.example/mcp?x=1}",
		"web=$TOKEN http://localhost:8080/mcp": "{web [TOKEN] [] http://localhost:8080/mcp}",
		"t=cmd $A":                             "{t [] [cmd $A] }",
		"":                                     "error write it as NAME=COMMAND",
		"tracker":                              "error neither",
		"a_b=x":                                "error write it as",
		"a b=x":                                "error write it as",
		strings.Repeat("a", 25) + "=x":         "error write it as",
		"t=$A":                                 "error neither",
		"t=$ cmd":                              "error not the name of a variable",
		"t=$A-B cmd":                           "error not the name of a variable",
		`t="C:\Program Files\x" y`:             "error quotes",
		"t=ftp://host/x":                       "error address",
		"t=https://user:secret@host/x":         "error address",
		"t=https://":                           "error address",
		"t=https://host/x more":                "error address",
		"t=$A $B https://host/x":               "error one variable",
	} {
		s, err := parseToolServer(text)
		got := fmt.Sprint(s)
		if err != nil {
			got = "error " + err.Error()
		}
		if why, fails := strings.CutPrefix(want, "error "); fails && (err == nil || !strings.Contains(got, why)) || !fails && got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		if strings.Contains(got, "secret") {
			t.Errorf("%q: the password is repeated: %s", text, got)
		}
	}
}
