// Package wire has the common parts of the providers over HTTP: the source of the credential, the failures
// worth another call, and the longest silence of a stream.
package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// Options are common to all providers. Zero values stand for the defaults.
type Options struct {
	HTTPClient *http.Client
	MaxRetries *int
	Timeout    time.Duration
	Idle       time.Duration
	Wait       func(context.Context, time.Duration) error
}

// Caller makes calls and repeats the ones with a chance to succeed later.
type Caller struct {
	// HTTP has the bounds of the options.
	HTTP    *http.Client
	key     Key
	base    string
	retries int
	timeout time.Duration
	wait    func(context.Context, time.Duration) error
}

const (
	defaultRetries, mostRetries = 2, 6
	defaultTimeout              = 10 * time.Minute
	defaultIdle                 = time.Minute
	// maxAnswer bounds an answer; the longest of a model is a few megabytes.
	maxAnswer = 64 << 20
	// mostWait is the longest wait on a server's wish: with a longer one the call fails.
	mostWait = 2 * time.Minute
)

// New returns a caller of the server at base.
func New(o Options, base string, key Key) (*Caller, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the base URL must be an address such as https://host/path")
	}
	c := &Caller{
		HTTP: boundClient(o.HTTPClient, cmp.Or(max(o.Idle, 0), defaultIdle), maxAnswer),
		key:  key, base: u.Redacted(), retries: defaultRetries, wait: o.Wait,
		timeout: cmp.Or(max(o.Timeout, 0), defaultTimeout),
	}
	if o.MaxRetries != nil {
		c.retries = *o.MaxRetries
	}
	if c.retries < 0 || c.retries > mostRetries {
		return nil, fmt.Errorf("MaxRetries is %d; it must be between 0 and %d", c.retries, mostRetries)
	}
	if c.wait == nil {
		c.wait = sleep
	}
	return c, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// errTimeout is the reason why a call was ended.
var errTimeout = errors.New("timeout")

// Once makes one call.
type Once func(context.Context) (*provider.Response, error)

// Do makes a call, and repeats it if a repetition may help. Each one is announced to on.
func (c *Caller) Do(ctx context.Context, on func(provider.Delta), once Once) (*provider.Response, error) {
	for attempt := 1; ; attempt++ {
		answer, failed := c.callOnce(ctx, once)
		switch {
		case failed == nil:
			return answer, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !failed.Retryable || attempt > c.retries || failed.After > mostWait:
			return nil, failed
		}
		after := failed.After
		if after <= 0 {
			after = backoffTime(attempt)
		}
		if on != nil {
			on(provider.Delta{Retry: &provider.Retry{Attempt: attempt + 1, After: after, Because: failed}})
		}
		if err := c.wait(ctx, after); err != nil {
			return nil, err
		}
	}
}

// callOnce makes a call within the time limit.
func (c *Caller) callOnce(parent context.Context, once Once) (*provider.Response, *provider.Error) {
	ctx, cancel := context.WithTimeoutCause(parent, c.timeout, errTimeout)
	defer cancel()
	answer, err := once(ctx)
	if err == nil {
		return answer, nil
	}
	if known, ok := errors.AsType[*provider.Error](err); ok {
		return nil, known
	}
	failed := &provider.Error{Message: c.removeKey(err.Error()), Err: err}
	switch {
	case errors.Is(context.Cause(ctx), errTimeout):
		failed.Message = fmt.Sprintf("the answer took longer than %s", c.timeout)
	case errors.Is(err, errSilent):
		failed.Message, failed.Retryable = errSilent.Error(), true
	default:
		failed.Retryable = !errors.Is(err, errTooLong) && !errors.Is(err, errRedirect) && !errors.Is(err, ErrMalformed)
	}
	return nil, failed
}

// backoffTime doubles from half a second to eight, less up to a quarter, so many callers do not come back at
// once.
func backoffTime(attempt int) time.Duration {
	d := min(500*time.Millisecond<<(attempt-1), 8*time.Second)
	return d - rand.N(d/4) //nolint:gosec // G404: spreads calls, guards nothing
}
