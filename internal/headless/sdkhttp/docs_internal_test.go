package sdkhttp

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

var (
	exchanges = regexp.MustCompile("(?ms)^```http\n(.*?)^```$")
	shownKey  = regexp.MustCompile(`"([a-zA-Z]+)"`)
)

// TestPage sends the requests that the page shows, in their order.
func TestPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "agents-http.md"))
	if err != nil {
		t.Fatal(err)
	}
	d := serve(t, Options{}, ask("Who uses it?"), write("/docs/prd.md", "# PRD\n"), fake.Text("Written."), fake.Text("Added."), write("/docs/prd.md", "# PRD\n"), fake.Text("Done."))
	sent, path := 0, ""
	var method, target, body string
	for _, block := range exchanges.FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSpace(line)
			first, rest, _ := strings.Cut(line, " ")
			if first == "GET" || first == "POST" {
				method, target, body = first, strings.Replace(rest, "/api/conversations/ID", path, 1), ""
				continue
			}
			want, err := strconv.Atoi(first)
			if err != nil {
				body = line
				continue
			}
			sent++
			if strings.HasSuffix(target, "/answers") {
				d.until(path, "waiting")
			} else if path != "" && strings.HasPrefix(target, path+"/") {
				d.until(path, "idle")
			}
			status, reply := d.call(method, target, body)
			if status != want {
				t.Errorf("%s %s: %d %v; the page has %d", method, target, status, reply, want)
			}
			for _, key := range shownKey.FindAllStringSubmatch(rest, -1) {
				if _, ok := reply[key[1]]; !ok {
					t.Errorf("%s %s: the reply has no %q, which the page has", method, target, key[1])
				}
			}
			if path == "" {
				path = "/api/conversations/" + text(reply["conversationId"])
			}
		}
	}
	if sent < 6 {
		t.Errorf("the page has %d requests", sent)
	}
}
