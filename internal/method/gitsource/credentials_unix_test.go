//go:build unix

package gitsource_test

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// TestCredentials looks for a password in everything that is written, said or started.
func TestCredentials(t *testing.T) {
	t.Parallel()
	const user, password = "alice", "hunter22/+x"
	header := "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	dir := t.TempDir()
	log, logged := logTo()
	c, at := newCache(t)
	c.Log = log
	c.Git = fake(t, `echo "$*" >>'`+dir+`/argv'
cat /proc/$$/cmdline >>'`+dir+`/argv' 2>/dev/null
git config --get-urlmatch http.extraHeader https://127.0.0.1:1/org/repo.git >'`+dir+`/header'
git config --get-urlmatch http.extraHeader https://127.0.0.1:1/org/other.git >'`+dir+`/other'
echo "fatal: Authentication failed for 'https://alice:hunter22%2F%2Bx@127.0.0.1:1/org/repo.git', alice, hunter22/+x, `+header+`" >&2
exit 128`)
	s := parseSpec(t, "git+https://"+user+":hunter22%2F%2Bx@127.0.0.1:1/org/repo.git#main:/src")
	_, _, err := c.Update(t.Context(), s)
	at.move(time.Hour)
	told := make(chan bool)
	c.Refresh(s, func(changed bool) { told <- changed })
	<-told
	_, missing := c.Copy(s)

	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if read("header") != header+"\n" || read("other") != "" {
		t.Errorf("git sends %q, elsewhere %q", read("header"), read("other"))
	}
	if !strings.Contains(read("argv"), "http.followRedirects=false") || !strings.Contains(read("argv"), "https://127.0.0.1:1/org/repo.git") {
		t.Errorf("the arguments: %s", read("argv"))
	}
	if err == nil || missing == nil || !strings.Contains(err.Error(), "Authentication failed") || !strings.Contains(logged(), "Authentication failed") {
		t.Fatalf("nothing is told: %v, %v, %s", err, missing, logged())
	}
	everything := map[string]string{
		"arguments": read("argv"), "error": err.Error() + fault.From(err).Hint, "cause": errorTree(err),
		"error of Copy": missing.Error() + fault.From(missing).Hint, "log": logged(), "String": s.String(), "Key": s.Key(),
	}
	for name, text := range files(t, c.Folder) {
		everything["file "+name] = name + text
	}
	if len(everything) < 9 {
		t.Errorf("too little was looked at: %d", len(everything))
	}
	for where, text := range everything {
		for _, secret := range []string{user, "hunter22", strings.TrimPrefix(header, "Authorization: Basic ")} {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows %q: %s", where, secret, text)
			}
		}
	}
}

func errorTree(err error) string {
	var out string
	for ; err != nil; err = errors.Unwrap(err) {
		out += err.Error() + "\n"
	}
	return out
}
