package remote_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/remote"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/sdkhttp"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// card returns a card whose tasks go to an address.
func card(to, more string) string {
	return fmt.Sprintf(`{"name":"Ann\u001b[2J\u202e\nthe helper","description":"Helps","version":"1","capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"skills":[],
		"supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}]%s}`, to, more)
}

func TestParseAddress(t *testing.T) {
	for given, want := range map[string]string{
		"https://agents.acme":               "https://agents.acme/.well-known/agent-card.json",
		" https://agents.acme:8443/x.json ": "https://agents.acme:8443/x.json",
		"http://127.0.0.1:7788/":            "http://127.0.0.1:7788/.well-known/agent-card.json",
		"http://localhost:7788/a2a/pm":      "http://localhost:7788/a2a/pm/.well-known/agent-card.json",
		"http://[::1]:7788/a2a/pm/":         "http://[::1]:7788/a2a/pm/.well-known/agent-card.json",
	} {
		if got, err := remote.ParseAddress(given); got != want || err != nil {
			t.Errorf("%q: %q, %v", given, got, err)
		}
	}
	for _, given := range []string{
		"", "agents.acme", "//agents.acme", "http://agents.acme", "ftp://agents.acme", "file:///etc/passwd", "https://", "https://u:p@agents.acme",
		"https://agents.acme/#x", "https://agents.acme/?a=b", "https://agents.acme/$(id)", "https://agents.acme/`id`",
		"https://agents.acme/;id", "https://agents.acme/\u202ex", "https://a/\x1b[2J", "https://агенты.acme",
		"https://10.0.0.1/", "https://192.168.0.1", "https://172.16.3.4", "https://169.254.169.254", "https://100.64.0.1",
		"https://0.0.0.0", "https://[fe80::1]", "https://[fd00::1]", "https://[::ffff:10.0.0.1]", "https://[64:ff9b::a00:1]",
		"http://10.0.0.1", "http://127.0.0.1.nip.io/", "http://2130706433/", strings.Repeat("x", 1<<20),
	} {
		if got, err := remote.ParseAddress(given); !fault.Is(err, fault.InvalidArgument) || len(err.Error()) > 1000 {
			t.Errorf("%.80q: %q, %.200v", given, got, err)
		}
	}
}

// TestHostileCards: a card that lies, leads elsewhere or does not end is refused, in bounded time and bytes.
func TestHostileCards(t *testing.T) {
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the inner server was called") }))
	defer inner.Close()
	served := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	good := func(to string) string { return card(to, "") }
	secure := httptest.NewTLSServer(served(200, "application/json", good("https://agents.acme/a2a")))
	defer secure.Close()
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	for name, row := range map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"10 MB": {served(200, "application/json", card("http://127.0.0.1/x", `,"iconUrl":"`+strings.Repeat("x", 10<<20)+`"`)), "at most 262144"},
		"endless": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte(strings.Repeat(" ", 4096))); err != nil {
					return
				}
			}
		}, "at most 262144"},
		"a page":                {served(200, "text/html", good("http://127.0.0.1/x")), "not sent as JSON"},
		"no type":               {served(200, "", good("http://127.0.0.1/x")), "not sent as JSON"},
		"no JSON":               {served(200, "application/json", "{"), "unexpected end"},
		"null":                  {served(200, "application/json", "null"), "no address for JSON-RPC"},
		"a list":                {served(200, "application/json", "[]"), "cannot unmarshal"},
		"null addresses":        {served(200, "application/json", `{"supportedInterfaces":[null]}`), "no address for JSON-RPC"},
		"gRPC alone":            {served(200, "application/json", strings.Replace(good("http://127.0.0.1/x"), "JSONRPC", "GRPC", 1)), "no address for JSON-RPC"},
		"an old version":        {served(200, "application/json", strings.Replace(good("http://127.0.0.1/x"), `"1.0"`, `"0.3"`, 1)), "no address for JSON-RPC"},
		"401":                   {served(401, "application/json", "{}"), "401 Unauthorized"},
		"403":                   {served(403, "application/json", "{}"), "403 Forbidden"},
		"429":                   {served(429, "application/json", "{}"), "429 Too Many"},
		"500":                   {served(500, "text/plain", strings.Repeat("x", 1<<20)), "500 Internal"},
		"sent on":               {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inner.URL, http.StatusFound) }, "not followed"},
		"sent on to itself":     {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusPermanentRedirect) }, "not followed"},
		"tasks to a network":    {served(200, "application/json", good("https://10.0.0.1/a2a")), "not of the public network"},
		"tasks to the metadata": {served(200, "application/json", good("http://169.254.169.254/latest")), "does not begin with https"},
		"tasks to a file":       {served(200, "application/json", good("file:///etc/passwd")), "plain characters"},
		"tasks in the clear":    {served(200, "application/json", good("http://agents.acme/a2a")), "does not begin with https"},
		"tasks with a password": {served(200, "application/json", good("https://u:p@agents.acme/a2a")), "plain characters"},
		"hangs up":              {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		ts := httptest.NewServer(row.serve)
		address, err := remote.ParseAddress(ts.URL)
		if err == nil {
			_, err = remote.Fetch(t.Context(), address, "token")
		}
		if err == nil || !strings.Contains(err.Error(), row.want) || len(err.Error()) > 1000 {
			t.Errorf("%s: %.300v; want %q", name, err, row.want)
		}
		ts.Close()
	}
	if _, err := remote.Fetch(t.Context(), secure.URL, ""); err == nil {
		t.Error("a server with a certificate of its own making is believed")
	}
	// A name of the public network that leads to this machine: the address is looked at when it is called.
	if _, err := remote.Fetch(t.Context(), "https://localhost.localdomain/", ""); err == nil {
		t.Error("a name leads to this machine")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	if _, err := remote.Fetch(ctx, silent.URL, ""); err == nil {
		t.Error("a silent server has a card")
	}
}

// TestTokenStays: the token goes to the server of the card alone.
func TestTokenStays(t *testing.T) {
	got := map[string]string{}
	var mu sync.Mutex
	note := func(name string, next http.HandlerFunc) *httptest.Server {
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			got[name] = r.Header.Get("Authorization")
			mu.Unlock()
			w.Header().Set("Content-Type", "application/json")
			next(w, r)
		}))
		t.Cleanup(ts.Close)
		return ts
	}
	done := func(w http.ResponseWriter, r *http.Request) { answerTask(w, r, `"state":"TASK_STATE_COMPLETED"`) }
	other := note("other", done)
	var own *httptest.Server
	own = note("own", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/own":
			_, _ = w.Write([]byte(card(own.URL+"/tasks", "")))
		case "/other":
			_, _ = w.Write([]byte(card(other.URL+"/tasks", "")))
		default:
			done(w, r)
		}
	})
	for path, elsewhere := range map[string]bool{"/own": false, "/other": true} {
		c, err := remote.Fetch(t.Context(), own.URL+path, "secret")
		if err != nil || c.IsElsewhere != elsewhere {
			t.Fatalf("%s: %v", path, err)
		}
		if _, err := c.Give(t.Context(), "", "go"); err != nil {
			t.Error(err)
		}
	}
	if got["own"] != "Bearer secret" || got["other"] != "" {
		t.Errorf("the servers got the tokens %q", got)
	}
}

// answerTask answers each request with a task in a status.
func answerTask(w http.ResponseWriter, r *http.Request, status string) {
	var q struct{ ID, Method string }
	_ = json.NewDecoder(r.Body).Decode(&q)
	artifacts := `[null,{"artifactId":"a","parts":[{"text":"answer"},null,{"raw":"AAAA"},{"data":{"a":1}}]},` +
		`{"artifactId":"b","name":"b\u001b\nc","parts":[{"text":"doc"}]}]`
	task := `{"id":"t1","contextId":"c1","status":{` + status + `},"artifacts":` + artifacts + `}`
	if q.Method == "SendMessage" {
		task = `{"task":` + task + `}`
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%q,"result":%s}`, q.ID, task)
}

// TestAnswers: whatever the far side answers, the caller gets a state and bounded words.
func TestAnswers(t *testing.T) {
	words := func(state, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			quoted, _ := json.Marshal(text)
			answerTask(w, r, fmt.Sprintf(`"state":"TASK_STATE_%s","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":%s}]}`, state, quoted))
		}
	}
	made := "answer\n\n[a file, 3 bytes, is left out]\n\n{\"a\":1}\n\n--- b\\u001b c ---\n\ndoc"
	turns := []string{"WORKING", "SUBMITTED", "WORKING", "COMPLETED"}
	raw := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
	}
	for name, row := range map[string]struct {
		serve              http.HandlerFunc
		status, text, want string
	}{
		"done":             {words("COMPLETED", "fine\x1b[2J"), "answered", `fine\u001b[2J` + "\n\n--- a ---\n\n" + made, ""},
		"done without":     {func(w http.ResponseWriter, r *http.Request) { answerTask(w, r, `"state":"TASK_STATE_COMPLETED"`) }, "answered", made, ""},
		"asks":             {words("INPUT_REQUIRED", "Which?"), "needs_answer", "Which?", ""},
		"never ends":       {words("WORKING", "soon"), "working", "", ""},
		"an unknown state": {words("DANCING", "soon"), "working", "", ""},
		"backwards": {func(w http.ResponseWriter, r *http.Request) {
			state := turns[0]
			turns = turns[1:]
			answerTask(w, r, `"state":"TASK_STATE_`+state+`"`)
		}, "answered", made, ""},
		"failed":         {words("FAILED", "no\u202eway\n"+strings.Repeat("x", 1<<20)), "", "", `(failed): no\u202eway`},
		"canceled":       {words("CANCELED", ""), "", "", "(canceled)"},
		"rejected":       {words("REJECTED", "too much"), "", "", "(rejected): too much"},
		"asks to log in": {words("AUTH_REQUIRED", "at https://evil.example"), "", "", "(auth_required)"},
		"a message":      {raw(`{"jsonrpc":"2.0","id":"1","result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hello"}]}}}`), "answered", "hello", ""},
		"garbage":        {raw(strings.Repeat("<html>", 1000)), "", "", "invalid character"},
		"endless":        {raw(`{"result":"` + strings.Repeat("x", 9<<20)), "", "", "too large"},
		"odd result":     {raw(`{"jsonrpc":"2.0","id":"1","result":{"x":"` + strings.Repeat("y", 1<<20) + `"}}`), "", "", "violates A2A spec"},
		"no result":      {raw(`{"jsonrpc":"2.0","id":"1"}`), "", "", "gives no answer"},
		"null task":      {raw(`{"jsonrpc":"2.0","id":"1","result":{"task":null}}`), "", "", "gives no answer"},
		"an error":       {raw(`{"jsonrpc":"2.0","id":"1","error":{"code":-32603,"message":"no money\u001b"}}`), "", "", `no money\u001b`},
		"a long id": {raw(`{"jsonrpc":"2.0","id":"1","result":{"task":{"id":"` + strings.Repeat("x", 300) + `","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}}`),
			"", "", "too long"},
		"401": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "", "", "401"},
		"429": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, "", "", "429"},
		"sent on": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusTemporaryRedirect)
		}, "", "", "not followed"},
		"hangs up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "", "", "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ts *httptest.Server
			ts = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write([]byte(card(ts.URL+"/tasks", "")))
					return
				}
				row.serve(w, r)
			}))
			defer ts.Close()
			c, err := remote.Fetch(t.Context(), ts.URL, "")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			answer, err := c.Give(ctx, "", "go")
			switch {
			case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want) || len(err.Error()) > 2000 || strings.ContainsAny(err.Error(), "\x1b\n\u202e")):
				t.Errorf("%.300v; want %q", err, row.want)
			case row.want == "" && (err != nil || answer.Status != row.status || answer.Text != row.text || answer.Agent != `Ann\u001b[2J\u202e the helper`):
				t.Errorf("%+v, %v; want %s %q", answer, err, row.status, row.text)
			}
		})
	}
}

// TestTwoServers has an agent of one of our servers do a task, be asked, and be looked at again.
func TestTwoServers(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	dir := t.TempDir()
	layout, err := txtar.ParseFile(filepath.Join("..", "..", "method", "catalog", "testdata", "layouts", "v4.txtar"))
	if err == nil {
		err = txtar.Write(layout, dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	hold := make(chan struct{})
	slow := fake.Text("Done.")
	slow.Before = func(context.Context, provider.Request) error { <-hold; return nil }
	model := fake.New(
		fake.Call("write_file", map[string]string{"file_path": "/docs/prd.md", "content": "# PRD\n"}),
		fake.Call("ask_user", map[string]string{"question": "Who buys?"}),
		fake.Text("Written."),
		slow,
	)
	client, err := sdk.New(sdk.Options{Provider: model, Prices: fake.Prices(), Project: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	h := sdkhttp.New(sdkhttp.Options{Options: httpguard.Options{Token: "0123456789abcdef"}, Client: client, Log: slog.New(slog.DiscardHandler)})
	ts := httptest.NewServer(h)
	defer ts.Close()
	defer h.Close(t.Context())
	address := ts.URL + "/a2a/pm/.well-known/agent-card.json"
	if _, err := remote.Fetch(t.Context(), address, ""); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("without the token: %v", err)
	}
	c, err := remote.Fetch(t.Context(), address, "0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	again, err := remote.Fetch(t.Context(), address, "0123456789abcdef")
	if err != nil || again.SHA256 != c.SHA256 {
		t.Errorf("the card is another one at each look: %v", err)
	}
	asked, err := c.Give(t.Context(), "", "Write the PRD.")
	if err != nil || asked.Status != "needs_answer" || asked.Text != "Who buys?" || asked.Agent != c.Name {
		t.Fatalf("%+v, %v", asked, err)
	}
	done, err := c.Give(t.Context(), asked.TaskID, "Shops")
	if err != nil || done.Status != "answered" || done.Text != "Written.\n\n--- /docs/prd.md ---\n\n# PRD\n" || len(done.Artifacts) != 1 || done.Artifacts[0] != "/docs/prd.md" {
		t.Errorf("%+v, %v", done, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	working, err := c.Give(ctx, "", "More.")
	if err != nil || working.Status != "working" {
		t.Fatalf("%+v, %v", working, err)
	}
	close(hold)
	if done, err = c.Give(t.Context(), working.TaskID, ""); err != nil || done.Text != "Done." {
		t.Errorf("looked at again: %+v, %v", done, err)
	}
	if _, err := c.Give(t.Context(), "nothing.1", ""); err == nil || !strings.Contains(err.Error(), "no task") {
		t.Errorf("an unknown task: %v", err)
	}
}

// FuzzAddress: an address that is taken is taken again as it is, and can be typed into a shell.
func FuzzAddress(f *testing.F) {
	for _, given := range []string{
		"https://agents.acme", "http://127.0.0.1:1/a", "http://[::1%25eth0]/", "https://a/%2e%2e/%00", "https://a//b",
		"HTTPS://A", "https://a:b", "https://[::ffff:7f00:1]/",
	} {
		f.Add(given)
	}
	f.Fuzz(func(t *testing.T, given string) {
		address, err := remote.ParseAddress(given)
		if err != nil {
			return
		}
		if again, err := remote.ParseAddress(address); err != nil || again != address || strings.ContainsAny(address, " \t\n'\"\\$`;&|<>(){}*?!#") {
			t.Errorf("%q becomes %q and then %q, %v", given, address, again, err)
		}
	})
}
