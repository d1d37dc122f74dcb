package mcpwire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf16"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
)

func utf16Of(text string, high, low int) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		pair := [2]byte{byte(unit >> 8), byte(unit)}
		out = append(out, pair[high], pair[low])
	}
	return string(out)
}

func allMessages(in io.Reader) (out []string, err error) {
	r := newMessages(in)
	for {
		message, err := r.next()
		if err != nil {
			return out, err
		}
		out = append(out, string(message))
	}
}

// TestMessages reads messages as clients of all kinds put them into a stream.
func TestMessages(t *testing.T) {
	const a, b, c = `{"id":1}`, `{"jsonrpc":"2.0","id":2,"x":"}\"{[é😀"}`, `{"jsonrpc":"2.0","id":3}`
	for name, tt := range map[string]struct{ in, want string }{
		"lines":                    {a + "\n" + b + "\n", a + "|" + b},
		"CR LF":                    {a + "\r\n" + b + "\r\n", a + "|" + b},
		"no line end":              {a + "\n" + b, a + "|" + b},
		"blank lines":              {"\n\r\n \t\n" + a + "\n\n\n" + b + "\n\n", a + "|" + b},
		"a byte order mark":        {"\ufeff" + a + "\n\ufeff" + b, a + "|" + b},
		"NUL and separators":       {"\x00" + a + "\x00\n\x1e" + b + "\n", a + "|" + b},
		"several in a line":        {a + b + " " + c + "\n", a + "|" + b + "|" + c},
		"several lines":            {"{\n  \"id\":\r\n1\n}\n" + b, "{   \"id\":\r 1 }|" + b},
		"a batch":                  {"[" + a + "," + b + "]\n" + c, a + "|" + b + "|" + c},
		"an open bracket":          {"[\n" + b + "\n[{\"id\":1}\n" + c, "[ |" + b + "|[{\"id\":1} |" + c},
		"an empty batch":           {"[]\n" + a, "[]|" + a},
		"headers":                  {"Content-Length: 8\r\n\r\n" + a + "content-length: 9\r\nContent-Type: x\r\n\r\n" + b, a + "|" + b},
		"little endian":            {"\xff\xfe" + utf16Of(a+"\r\n"+b, 1, 0), a + "|" + b},
		"big endian":               {"\xfe\xff" + utf16Of(a+"\n"+b, 0, 1), a + "|" + b},
		"half a character":         {"\xff\xfe" + utf16Of(a, 1, 0) + "\n", a + "|\xbd"},
		"words":                    {"hello: x\n" + a, "hello: x |" + a},
		"an unfinished line":       {`{"id":7,` + "\n" + c + "\n" + a, `{"id":7, |` + c + " |" + a},
		"an unfinished text":       {`{"id":"7` + "\n" + a, `{"id":"7 |` + a},
		"a message in a message":   {"{\"x\":\n{\"jsonrpc\":\"2.0\"}}\n" + a, `{"x": {"jsonrpc":"2.0"}}|` + a},
		"an unfinished end":        {a + "\n" + `{"id":[1`, a + `|{"id":[1`},
		"one bracket too many":     {a + "}\n" + b, a + "|} |" + b},
		"nothing":                  {"", ""},
		"nothing but a blank line": {"\r\n", ""},
	} {
		for way, in := range map[string]io.Reader{"": strings.NewReader(tt.in), ", byte by byte": iotest.OneByteReader(strings.NewReader(tt.in))} {
			got, err := allMessages(in)
			if joined := strings.ReplaceAll(strings.Join(got, "|"), "\n", ""); joined != tt.want || !errors.Is(err, io.EOF) {
				t.Errorf("%s%s: got %q, %v; want %q", name, way, joined, err, tt.want)
			}
		}
	}
}

// FuzzMessages reads a line by itself and behind anything: neither is lost, and each message is one line.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{"", "{", "[{}", `{"a":"`, "\xff\xfe{\x00", "Content-Length: 2\n\n{}", `{"jsonrpc":"2.0"` + "\n{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, before []byte) {
		got, _ := allMessages(bytes.NewReader(before))
		for _, message := range got {
			if strings.Count(message, "\n") != 1 || !strings.HasSuffix(message, "\n") {
				t.Errorf("%q is not one line", message)
			}
		}
		if json.Valid(before) && bytes.HasPrefix(before, []byte("{")) && len(got) != 1 {
			t.Errorf("%q is %d messages, want one", before, len(got))
		}
	})
}

// TestIDsComeBack sends requests with ids and progress tokens that a floating point number cannot hold, or that look
// like others, over both ways; each comes back as it was sent.
func TestIDsComeBack(t *testing.T) {
	ids := []string{
		"0", "-1", "1.5", "9007199254740992", "9007199254740993", "-9007199254740993", "18446744073709551615", "123456789012345678901234567890",
		"1e3", "1.0", "1E400", `"5"`, "5", `"9007199254740993"`, `""`, `"é\"\\"`, `"<&>"`,
	}
	newWire := func() *Wire {
		w := testWire()
		w.MCP.AddTool(mcp.NewTool("works"), func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("done"), SendProgress(ctx, map[string]any{"progressToken": call.Params.Meta.ProgressToken, "progress": 1})
		})
		return w
	}
	check := func(t *testing.T, way, id string, out *bufio.Scanner) {
		t.Helper()
		token, answered := "", ""
		for answered == "" && out.Scan() {
			line, found := strings.CutPrefix(out.Text(), "data: ")
			if way == "HTTP" && !found {
				continue
			}
			var m struct {
				Method string          `json:"method"`
				ID     json.RawMessage `json:"id"`
				Params struct {
					Token json.RawMessage `json:"progressToken"`
				} `json:"params"`
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("%s: %v in %s", id, err, line)
			}
			token, answered = token+string(m.Params.Token), string(m.ID)
		}
		var want, got any
		_ = json.Unmarshal([]byte(id), &want)
		_ = json.Unmarshal([]byte(answered), &got)
		same := answered == id || strings.HasPrefix(id, `"`) && got == want
		if !same || token != answered {
			t.Errorf("%s: the id %s came back as %s, the token as %s", way, id, answered, token)
		}
	}
	in, out := onStdio(t, newWire())
	send(t, in, hello, "")
	next(t, out)
	_, ts := overHTTP(t, newWire(), limits{httpguard.Limits{Streams: 10, PeerStreams: 10, SessionStreams: 2, Write: time.Minute}, 10, 10})
	session, _ := post(t, ts.URL, "", false, 1, "initialize", greeting)
	for _, id := range ids {
		call := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"works","_meta":{"progressToken":%s}}}`, id, id)
		send(t, in, "%s", call)
		check(t, "stdio", id, out)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ts.URL, strings.NewReader("\ufeff"+call+"\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {session}}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		check(t, "HTTP", id, bufio.NewScanner(res.Body))
		_ = res.Body.Close()
	}
}

// TestCancelledByID cancels one of two calls whose ids the library alone would take for one.
func TestCancelledByID(t *testing.T) {
	for _, ids := range [][2]string{{"9007199254740993", "9007199254740992"}, {`"5"`, "5"}, {"5", `"5"`}} {
		w := testWire()
		began := make(chan struct{})
		w.MCP.AddTool(mcp.NewTool("waits"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			began <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		})
		in, out := onStdio(t, w)
		send(t, in, hello, "")
		next(t, out)
		for _, id := range ids {
			send(t, in, `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"waits"}}`, id)
			<-began
		}
		for _, id := range ids {
			send(t, in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
			if out.Scan(); !strings.Contains(out.Text(), `"id":`+id+`,`) {
				t.Errorf("%s was cancelled, and %s ended", id, out.Text())
			}
		}
	}
}

// TestNullIsNoID refuses requests whose id is null over both ways, and takes notifications with one.
func TestNullIsNoID(t *testing.T) {
	const null, batch = `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`
	in, out := onStdio(t, testWire())
	send(t, in, hello, "")
	next(t, out)
	send(t, in, `{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}`)
	send(t, in, `{"jsonrpc":"2.0","id":9,"method":"tools/list","params":[]}`)
	if m := next(t, out); m["result"] == nil {
		t.Errorf("an empty list of params got %v", m)
	}
	send(t, in, null)
	if m := next(t, out); m["id"] != nil || !strings.Contains(fmt.Sprint(m["error"]), "-32600") {
		t.Errorf("on stdio a request with the id null got %v", m)
	}
	_, ts := limited(t, limits{httpguard.Limits{Streams: 10, PeerStreams: 10, SessionStreams: 2, Write: time.Minute}, 10, 10})
	session, _ := post(t, ts.URL, "", false, 1, "initialize", greeting)
	for body, want := range map[string]string{null: "the id of a request is null", batch: "post each message by itself"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ts.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Mcp-Session-Id": {session}}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), want) {
			t.Errorf("%s got %d, %s", body, res.StatusCode, text)
		}
	}
}
