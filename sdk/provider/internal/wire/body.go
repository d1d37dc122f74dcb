package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

var (
	errSilent   = errors.New("the stream was silent for too long")
	errTooLong  = fmt.Errorf("the answer is longer than %d MB", maxAnswer>>20)
	errRedirect = errors.New("the server redirects to another host, which does not get the key; set the base URL to that host if it is the right one")
)

// boundClient returns a client that ends silent streams and endless answers.
func boundClient(base *http.Client, idle time.Duration, limit int64) *http.Client {
	var c http.Client
	if base != nil {
		c = *base
	}
	c.Transport = transport{cmp.Or(c.Transport, http.DefaultTransport), idle, limit}
	if c.CheckRedirect == nil {
		c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
			if r.URL.Host != via[0].URL.Host || len(via) > 3 {
				return errRedirect
			}
			return nil
		}
	}
	return &c
}

type transport struct {
	base  http.RoundTripper
	idle  time.Duration
	limit int64
}

// RoundTrip sends a request whose answer has the bounds.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	res, err := t.base.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel(err)
		return nil, err
	}
	timer := time.AfterFunc(t.idle, func() { cancel(errSilent) })
	timer.Stop()
	res.Body = &body{ReadCloser: res.Body, cancel: cancel, cause: func() error { return context.Cause(ctx) }, timer: timer, idle: t.idle, left: t.limit}
	return res, nil
}

// body counts the bytes of an answer, and the time of silence in it. The reader's own time does not count.
type body struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
	cause  func() error
	timer  *time.Timer
	idle   time.Duration
	left   int64
}

// Read reads the next bytes.
func (b *body) Read(p []byte) (int, error) {
	b.timer.Reset(b.idle)
	n, err := b.ReadCloser.Read(p)
	b.timer.Stop()
	b.left -= int64(n)
	switch {
	case b.left < 0:
		return n, errTooLong
	case err != nil && !errors.Is(err, io.EOF) && errors.Is(b.cause(), errSilent):
		return n, errSilent
	}
	return n, err
}

// Close ends the answer.
func (b *body) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
