package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
)

// Sender sends notices to a target.
type Sender struct {
	Target   Target
	Language lang.Language
	// Folder is the working folder of a command, outside of projects. It is made if it is missing.
	Folder string
	// Now is the clock; Wait waits before another try, nil by the time of this machine.
	Now  func() time.Time
	Wait func(context.Context, time.Duration) error
	// Limit bounds one try. Once makes no other one, for a person who waits for the outcome.
	Limit time.Duration
	Once  bool
}

// pauses are the pauses before the tries of a server.
var pauses = []time.Duration{0, 2 * time.Second, 15 * time.Second, time.Minute}

// grace is the time between SIGTERM and SIGKILL for a command.
const grace = 2 * time.Second

// message is the body of a webhook and the input of a command, in the form of Standard Webhooks.
type message struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      data      `json:"data"`
}

type data struct {
	Notice
	Text string `json:"text"`
}

// Send sends a notice. The error is the reason why it did not arrive, without secrets.
func (s Sender) Send(ctx context.Context, n Notice) error {
	n = n.Plain()
	text := n.Text(s.Language)
	body, err := json.Marshal(message{"run." + string(n.Event), n.At.UTC().Truncate(time.Second), data{n, text}})
	if err != nil {
		return err
	}
	if len(s.Target.command) > 0 {
		return s.run(ctx, text, body)
	}
	client := newClient(s.Target.address.Scheme == "https", s.Limit)
	defer client.CloseIdleConnections()
	for _, pause := range pauses {
		if pause > 0 {
			if s.wait(ctx, pause) != nil {
				return err
			}
		}
		var mayRetry bool
		if mayRetry, err = s.post(ctx, client, n, text, body); !mayRetry || s.Once {
			return err
		}
	}
	return err
}

// Deliver is Send, and keeps whether the notice has arrived in the person's state folder.
func (s Sender) Deliver(ctx context.Context, n Notice, state string) error {
	err := s.Send(ctx, n)
	if err == nil {
		return Forget(state)
	}
	f := Failure{At: s.Now(), Target: s.Target.String(), Why: lang.Of(err).In(s.Language)}
	if kept := f.Keep(state); kept != nil {
		return errors.Join(err, kept)
	}
	return err
}

func (s Sender) wait(ctx context.Context, d time.Duration) error {
	if s.Wait != nil {
		return s.Wait(ctx, d)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// post posts a notice once. mayRetry is true if another try may succeed.
func (s Sender) post(ctx context.Context, client *http.Client, n Notice, text string, body []byte) (mayRetry bool, err error) {
	header := http.Header{"User-Agent": {"bmad-mcp"}, "Content-Type": {"application/json"}}
	switch s.Target.form {
	case slack:
		if n.Link != "" {
			text += " " + n.Link
		}
		if body, err = json.Marshal(map[string]string{"text": text}); err != nil {
			return false, err
		}
	case ntfy:
		body = []byte(text)
		header.Set("Content-Type", "text/plain; charset=utf-8")
		if n.Link != "" {
			header.Set("Click", n.Link)
		}
		if s.Target.secret != "" {
			header.Set("Authorization", "Bearer "+s.Target.secret)
		}
	default:
		at := strconv.FormatInt(s.Now().Unix(), 10)
		header.Set("Webhook-Id", n.ID)
		header.Set("Webhook-Timestamp", at)
		header.Set("Webhook-Signature", "v1,"+signatureOf(s.Target.secret, n.ID+"."+at+"."+string(body)))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Target.address.String(), bytes.NewReader(body))
	if err != nil {
		return false, httpguard.WithoutAddress(err)
	}
	request.Header = header
	response, err := client.Do(request)
	if failed, ok := errors.AsType[net.Error](err); ok && failed.Timeout() {
		return true, lang.Errorf("the server did not answer within %v", s.Limit)
	}
	if err != nil {
		return !errors.Is(err, errPublic), httpguard.WithoutAddress(err)
	}
	_ = response.Body.Close() // whatever it answers
	switch code := response.StatusCode; {
	case code >= 200 && code < 300:
		return false, nil
	case code >= 300 && code < 400:
		return false, lang.Errorf("the server answered %d: it is elsewhere, and redirects are not followed; write the new address", code)
	default:
		isBusy := code == http.StatusRequestTimeout || code == http.StatusTooManyRequests
		return isBusy || code >= 500, lang.Errorf("the server answered %d", code)
	}
}

// signatureOf returns the signature of Standard Webhooks: HMAC-SHA256 in base64.
func signatureOf(key, signed string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(signed))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

var errPublic = lang.Errorf("plain http leads to a public address here; write https")

// newClient returns a client that follows no redirect. Without TLS it calls private addresses only, and no proxy.
func newClient(isSecure bool, limit time.Duration) *http.Client {
	transport := &http.Transport{MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true}
	if isSecure {
		transport.Proxy = http.ProxyFromEnvironment
	} else {
		isPrivate := func(at netip.Addr) bool { return !httpguard.IsPublic(at) }
		transport.DialContext = (&net.Dialer{Control: httpguard.CheckDialed(isPrivate, errPublic)}).DialContext
	}
	return &http.Client{
		Transport: transport, Timeout: limit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// run runs the command, with the message as its input and without an output.
func (s Sender) run(ctx context.Context, text string, input []byte) error {
	if err := os.MkdirAll(s.Folder, 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	name, args := s.Target.command[0], []string{}
	for _, a := range s.Target.command[1:] {
		if a == textArgument {
			a = text
		}
		args = append(args, a)
	}
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // the person's own settings name it
	cmd.Dir, cmd.Env, cmd.Stdin = s.Folder, process.Environ(os.Environ()), bytes.NewReader(input)
	group := process.Own(cmd, grace)
	if err := group.Start(); err != nil {
		return lang.Errorf("the command cannot be started: %w", err)
	}
	stopped, err := group.Wait()
	switch {
	case stopped:
		return lang.Errorf("the command did not end within %v", s.Limit)
	case cmd.ProcessState == nil:
		return lang.Errorf("the result of the command is unknown: %w", err)
	case !cmd.ProcessState.Success():
		return lang.Errorf("the command failed: %s", strings.TrimSpace(cmd.ProcessState.String()))
	}
	return nil
}
