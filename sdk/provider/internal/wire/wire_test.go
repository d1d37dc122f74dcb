package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

func events(text string) (all []string, err error) {
	err = Events(strings.NewReader(text), func(data []byte) error {
		all = append(all, string(data))
		return nil
	})
	return all, err
}

func TestEvents(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"data: a\n\ndata: b\n\n":            "a|b",
		"data:a\r\n\r\ndata: b":             "a|b",
		": keep-alive\n\n\n\ndata: a\n\n":   "a",
		"event: x\nid: 1\ndata: a\n\n":      "a",
		"data: a\ndata: b\n\n":              "a\nb",
		"retry: 1\n\nevent: nothing\n\n":    "",
		"data:  two blanks\n\ndata\n\n":     " two blanks",
		"data: {\"x\":\n: note\ndata: 1}\n": "{\"x\":\n1}",
	} {
		got, err := events(text)
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	stop := errors.New("stop")
	n := 0
	if err := Events(strings.NewReader("data: a\n\ndata: b\n\n"), func([]byte) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Errorf("%v after %d events; want the first error", err, n)
	}
	if _, err := events("data: " + strings.Repeat("x", maxLine+1)); err == nil {
		t.Error("an endless line is read")
	}
	if _, err := events(strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 17)); err == nil {
		t.Error("an endless event is read")
	}
}

// FuzzEvents: however a stream arrives, its events are the same, and hold no line ends of the form.
func FuzzEvents(f *testing.F) {
	f.Add("data: a\n\ndata: {\"b\":1}\r\n\r\n: c\n", 1)
	f.Add("event: x\ndata:\ndata: y", 3)
	f.Fuzz(func(t *testing.T, text string, size int) {
		whole, err := events(text)
		if err != nil {
			t.Skip()
		}
		var again []string
		err = Events(slow{strings.NewReader(text), max(size%7, 1)}, func(data []byte) error {
			again = append(again, string(data))
			return nil
		})
		if err != nil || strings.Join(again, "\x00") != strings.Join(whole, "\x00") {
			t.Errorf("in pieces %q, %v; want %q", again, err, whole)
		}
		for _, data := range whole {
			if data == "" || len(data) > len(text) {
				t.Errorf("event %q of %q", data, text)
			}
		}
	})
}

// slow reads a few bytes at a time.
type slow struct {
	r    io.Reader
	size int
}

func (s slow) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), s.size)]) }

// TestAnswersAreBounded: in bytes, and in silence; but the time of the reader does not count.
func TestAnswersAreBounded(t *testing.T) {
	t.Run("HTTP/1.1", func(t *testing.T) { answersAreBounded(t, false) })
	t.Run("HTTP/2", func(t *testing.T) { answersAreBounded(t, true) })
}

func answersAreBounded(t *testing.T, second bool) {
	hold := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 1000))
		if r.URL.Path == "/silent" {
			_ = http.NewResponseController(w).Flush()
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
	}))
	server.EnableHTTP2 = second
	if second {
		server.StartTLS()
	} else {
		server.Start()
	}
	defer server.Close()
	defer close(hold)
	for _, c := range []struct {
		path  string
		limit int64
		want  error
	}{{"/", 1000, nil}, {"/", 999, errTooLong}, {"/silent", 5000, errSilent}} {
		client := boundClient(server.Client(), 30*time.Millisecond, c.limit)
		res, err := client.Get(server.URL + c.path)
		if err != nil {
			t.Fatal(err)
		}
		if (res.ProtoMajor == 2) != second {
			t.Fatalf("the server speaks %s", res.Proto)
		}
		if c.want == nil {
			<-time.After(60 * time.Millisecond) // the reader is slow, not the server
		}
		data, err := io.ReadAll(res.Body)
		if !errors.Is(err, c.want) || c.want == nil && len(data) != 1000 {
			t.Errorf("%s up to %d bytes: %d bytes, %v; want %v", c.path, c.limit, len(data), err, c.want)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestExplained(t *testing.T) {
	for body, want := range map[string][2]string{
		`{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`:       {"overloaded_error", "busy"},
		`{"error":{"message":"bad","type":"invalid_request_error","code":"x"}}`:       {"invalid_request_error", "bad"},
		`{"error":"model 'x' not found"}`:                                             {"", `{"error":"model 'x' not found"}`},
		`{"object":"error","message":"too long","type":"BadRequestError","code":400}`: {"BadRequestError", "too long"},
		`{"detail":"Not Found"}`:                                                      {"", `{"detail":"Not Found"}`},
		"<html>502</html>\n":                                                          {"", "<html>502</html>"},
		`[1]`:                                                                         {"", "[1]"},
		strings.Repeat("ä", 1000):                                                     {"", strings.Repeat("ä", 498) + "…"},
		`{"error":{"message":"","type":"x"},"message":"outer","type":"other","code":1}`: {"x", "outer"},
	} {
		if kind, message := readError([]byte(body)); kind != want[0] || message != want[1] {
			t.Errorf("%s: %q, %q; want %q", body, kind, message, want)
		}
	}
}

func TestAfter(t *testing.T) {
	for _, c := range []struct {
		header http.Header
		want   time.Duration
	}{
		{http.Header{}, 0},
		{http.Header{"Retry-After": {"1.5"}}, 1500 * time.Millisecond},
		{http.Header{"Retry-After": {"-3"}}, 0},
		{http.Header{"Retry-After": {"NaN"}}, 0},
		{http.Header{"Retry-After": {"1e300"}}, 1e9 * time.Millisecond},
		{http.Header{"Retry-After": {"soon"}}, 0},
		{http.Header{"Retry-After": {"Sun, 22 Nov 2009 10:00:09 GMT"}}, 0},
		{http.Header{"Retry-After": {"Sun, 22 Nov 2026 10:00:09 GMT"}, "Date": {"Sun, 22 Nov 2026 10:01:00 GMT"}}, 0},
	} {
		if got := retryAfter(c.header); got != c.want {
			t.Errorf("%v: %s; want %s", c.header, got, c.want)
		}
	}
	soon := http.Header{"Retry-After": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}} // of a server that names no date
	if got := retryAfter(soon); got < 59*time.Minute || got > time.Hour {
		t.Errorf("%v: %s", soon, got)
	}
}

func TestBackoff(t *testing.T) {
	for attempt, want := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 8 * time.Second} {
		for range 100 {
			if got := backoffTime(attempt + 1); got > want || got < want*3/4 {
				t.Fatalf("wait %d is %s; want %s or up to a quarter less", attempt+1, got, want)
			}
		}
	}
}

func TestSleepEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("sleep: %v", err)
	}
	if err := sleep(t.Context(), time.Nanosecond); err != nil {
		t.Errorf("sleep: %v", err)
	}
}

// TestOtherFailures: an answer that cannot be read is not asked for again.
func TestOtherFailures(t *testing.T) {
	key, err := Find(Source{"", "none"}, Source{"sk-0123456789", "a test"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Options{Wait: func(context.Context, time.Duration) error { return nil }}, "https://user:password@host/v1", key)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	_, err = c.Do(t.Context(), nil, func(context.Context) (*provider.Response, error) {
		calls++
		return nil, Malformed(errors.New("near sk-0123456789"))
	})
	var e *provider.Error
	if !errors.As(err, &e) || e.Retryable || calls != 1 || strings.Contains(e.Error(), "sk-0") {
		t.Errorf("malformed: %v after %d calls", err, calls)
	}
	e = c.Fail(401, http.Header{}, []byte("no"))
	if !strings.Contains(e.Message, "a test") || strings.Contains(e.Message, "password") || bytes.Contains([]byte(e.Message), []byte("sk-")) {
		t.Errorf("refused: %s", e.Message)
	}
	if e := (&Caller{base: "b"}).Fail(401, http.Header{}, nil); !strings.Contains(e.Message, "none is set") {
		t.Errorf("refused without a key: %s", e.Message)
	}
}
