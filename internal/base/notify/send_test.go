package notify

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

var example = Notice{
	ID: "msg_1", Event: Decision, Run: "dark-mode", Project: "clock", Stage: "po", Link: "http://127.0.0.1:7778/r/1",
	At: time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC),
}

// sender returns a sender to a target, and the pauses that it has made.
func sender(t *testing.T, values ...string) (s Sender, paused *[]time.Duration) {
	t.Helper()
	target, err := Parse(values)
	if err != nil {
		t.Fatal(err)
	}
	paused = &[]time.Duration{}
	return Sender{
		Target: target, Language: lang.English, Folder: t.TempDir(), Limit: 30 * time.Second,
		Now:  func() time.Time { return time.Unix(1614265330, 0) },
		Wait: func(_ context.Context, d time.Duration) error { *paused = append(*paused, d); return nil },
	}, paused
}

// TestSignature checks the signature against the example of Standard Webhooks.
func TestSignature(t *testing.T) {
	s, _ := sender(t, "https://host.example/ "+secret)
	got := signatureOf(s.Target.secret, `msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}`)
	if want := "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestForms posts a notice in each form.
func TestForms(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = fmt.Sprintf("%s %s %s\n", r.Method, r.URL, body)
		for _, name := range []string{"Content-Type", "Click", "Authorization", "Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
			if value := r.Header.Get(name); value != "" {
				got += name + ": " + value + "\n"
			}
		}
	}))
	defer server.Close()
	const body = `{"type":"run.decision","timestamp":"2026-03-04T05:06:07Z","data":{"id":"msg_1","event":"decision","run":"dark-mode","project":"clock",` +
		`"stage":"po","link":"http://127.0.0.1:7778/r/1","at":"2026-03-04T05:06:07.000000008Z","text":"bmad-mcp: dark-mode in clock waits for your decision at po"}}`
	for setting, want := range map[string]string{
		server.URL + "/in?k=v " + secret: "POST /in?k=v " + body + "\nContent-Type: application/json\nWebhook-Id: msg_1\nWebhook-Timestamp: 1614265330\n" +
			"Webhook-Signature: v1," + signatureOf(mustKey(t), "msg_1.1614265330."+body) + "\n",
		"ntfy " + server.URL + "/topic": "POST /topic bmad-mcp: dark-mode in clock waits for your decision at po\n" +
			"Content-Type: text/plain; charset=utf-8\nClick: http://127.0.0.1:7778/r/1\n",
		"ntfy " + server.URL + "/topic tk_1": "POST /topic bmad-mcp: dark-mode in clock waits for your decision at po\n" +
			"Content-Type: text/plain; charset=utf-8\nClick: http://127.0.0.1:7778/r/1\nAuthorization: Bearer tk_1\n",
		"slack " + server.URL + "/services/x": `POST /services/x {"text":"bmad-mcp: dark-mode in clock waits for your decision at po http://127.0.0.1:7778/r/1"}` +
			"\nContent-Type: application/json\n",
	} {
		s, _ := sender(t, setting)
		if err := s.Send(t.Context(), example); err != nil || got != want {
			t.Errorf("%s: %v\n got %s\nwant %s", s.Target, err, got, want)
		}
	}
}

func mustKey(t *testing.T) string {
	t.Helper()
	target, err := Parse([]string{"https://host.example/ " + secret})
	if err != nil {
		t.Fatal(err)
	}
	return target.secret
}

// TestAnswers tries servers of all kinds: only some are asked again, and nothing of them is followed or read.
func TestAnswers(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer other.Close()
	status := func(codes ...int) func(http.ResponseWriter, *http.Request, int) {
		return func(w http.ResponseWriter, _ *http.Request, n int) { w.WriteHeader(codes[min(n, len(codes))-1]) }
	}
	for _, c := range []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request, n int)
		tries  int
		want   string
	}{
		{"taken", status(204), 1, ""},
		{"broken once", status(500, 200), 2, ""},
		{"busy twice", status(429, 503, 202), 3, ""},
		{"broken", status(500), 4, "the server answered 500"},
		{"unknown", status(404), 1, "the server answered 404"},
		{"gone", status(410), 1, "the server answered 410"},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request, _ int) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, 1, "the server answered 307: it is elsewhere"},
		{"long", func(w http.ResponseWriter, _ *http.Request, _ int) {
			for range 10 << 10 {
				if _, err := w.Write(make([]byte, 1<<10)); err != nil {
					return
				}
			}
		}, 1, ""},
		{"long headers", func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
		}, 4, "net/http"},
		{"cut", func(http.ResponseWriter, *http.Request, int) { panic(http.ErrAbortHandler) }, 4, "EOF"},
		{"hanging", func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() }, 4, "the server did not answer within 50ms"},
	} {
		var mu sync.Mutex
		tries, ids := 0, map[string]bool{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			mu.Lock()
			tries++
			n := tries
			ids[r.Header.Get("Webhook-Id")] = true
			mu.Unlock()
			c.answer(w, r, n)
		}))
		s, paused := sender(t, server.URL+"/hush "+secret)
		if c.name == "hanging" {
			s.Limit = 50 * time.Millisecond
		}
		err := s.Send(t.Context(), example)
		server.CloseClientConnections()
		server.Close()
		if got := fmt.Sprint(err); err == nil != (c.want == "") || !strings.Contains(got, c.want) || strings.Contains(got, "hush") {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		if tries != c.tries || len(ids) != 1 || len(*paused) != c.tries-1 {
			t.Errorf("%s: %d tries with %d ids after %v, want %d", c.name, tries, len(ids), *paused, c.tries)
		}
	}
}

// TestNothingSecretIsShown sends to servers that are not there, or may not be called.
func TestNothingSecretIsShown(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for setting, want := range map[string]struct {
		text  string
		tries int
	}{
		gone.URL + "/hush " + secret:         {"connect", 4},
		"ntfy http://192.0.2.1/hush":         {"plain http leads to a public address here", 1},
		"slack http://[2001:db9::1]/hush":    {"plain http leads to a public address here", 1},
		"ntfy https://hush.invalid/hush tk_": {"", 4},
	} {
		s, paused := sender(t, setting)
		s.Target.address.Host = strings.ReplaceAll(s.Target.address.Host, "hush", "none")
		err := s.Send(t.Context(), example)
		if got := fmt.Sprint(err); err == nil || !strings.Contains(got, want.text) || strings.Contains(got, "hush") {
			t.Errorf("%s: %v, want %s", s.Target, err, want.text)
		}
		if len(*paused) != want.tries-1 {
			t.Errorf("%s: %d pauses", s.Target, len(*paused))
		}
	}
}

// TestOnce: a person who waits for the outcome gets that of the first try.
func TestOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	defer server.Close()
	s, paused := sender(t, "ntfy "+server.URL+"/x")
	s.Once = true
	if err := s.Send(t.Context(), example); err == nil || len(*paused) > 0 {
		t.Errorf("%v after %v", err, *paused)
	}
}

// TestSendGivesUp: a program that ends waits for no other try.
func TestSendGivesUp(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	defer server.Close()
	s, _ := sender(t, "ntfy "+server.URL+"/x")
	s.Wait = func(context.Context, time.Duration) error { return context.Canceled }
	if err := s.Send(t.Context(), example); err == nil || !strings.Contains(err.Error(), "500") {
		t.Errorf("%v, want the server's answer", err)
	}
}
