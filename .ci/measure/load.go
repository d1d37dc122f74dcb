//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// The load of a server over HTTP: clients at once, and the calls of each that are counted.
const (
	clients = 50
	calls   = 20
)

// address matches what a server says of itself when it can be called.
var address = regexp.MustCompile(`http://[^\s,]+`)

// client is a session with a server over HTTP.
type client struct {
	url, session string
	http         *http.Client
	asked        int
}

// request sends a request and returns its result.
func (c *client) request(method string, params any) (json.RawMessage, error) {
	c.asked++
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.asked, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
		r.Header.Set("Mcp-Protocol-Version", protocol)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it has been read
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	var reply struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(data, &reply); err != nil || reply.Result == nil {
		return nil, fmt.Errorf("%s: %s %s, %w", method, response.Status, data, err)
	}
	return reply.Result, nil
}

// listened is a server over HTTP with its clients, each in a session of its own.
type listened struct {
	server
	clients []*client
}

// connect starts a server over HTTP in a project of its own, and connects the clients.
func (b *bench) connect(program string, arguments ...string) (*listened, error) {
	project, err := b.folder()
	if err != nil {
		return nil, err
	}
	l := &listened{server: server{cmd: exec.Command(program, arguments...)}}
	l.cmd.Dir, l.cmd.Env = project, b.environ(filepath.Dir(project))
	said, err := l.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := l.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(said)
	url := ""
	for url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("%s says no address: %w", filepath.Base(program), err)
		}
		url = address.FindString(line)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }() // until the server ends
	for range clients {
		c := &client{url: url, http: &http.Client{Transport: &http.Transport{}}}
		if _, err := c.request("initialize", greeting); err != nil {
			return nil, err
		}
		l.clients = append(l.clients, c)
	}
	return l, nil
}

// end ends the server.
func (l *listened) end() error {
	for _, c := range l.clients {
		c.http.CloseIdleConnections()
	}
	if err := l.cmd.Process.Kill(); err != nil {
		return err
	}
	_ = l.cmd.Wait() // it was killed
	return nil
}

// each has every client send a request some times, all clients at once.
func (l *listened) each(times int, method string, params any) error {
	var all sync.WaitGroup
	problems := make([]error, len(l.clients))
	for n, c := range l.clients {
		all.Go(func() {
			for range times {
				if _, err := c.request(method, params); err != nil {
					problems[n] = err
					return
				}
			}
		})
	}
	all.Wait()
	return errors.Join(problems...)
}

// perCall is the server's processor time for one request of a client.
func (l *listened) perCall(method string, params any) (float64, error) {
	if err := l.each(2, method, params); err != nil { // connections are open, and caches are full
		return 0, err
	}
	before, err := l.cpu()
	if err != nil {
		return 0, err
	}
	if err := l.each(calls, method, params); err != nil {
		return 0, err
	}
	after, err := l.cpu()
	return ms(after-before) / float64(clients*calls), err
}

// httpCall returns the measure of a request of the program over HTTP, in a project with one task.
func httpCall(method string, params map[string]any) func(*bench, string) (float64, error) {
	return func(b *bench, program string) (float64, error) {
		l, err := b.connect(program, "serve", "--http", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		start := map[string]any{"name": "bmad-task", "arguments": map[string]any{"action": "start", "objective": "Build a thing"}}
		result, err := l.clients[0].request("tools/call", start)
		if err == nil && strings.Contains(string(result), `"isError":true`) {
			err = fmt.Errorf("start: %s", result)
		}
		if err != nil {
			return 0, errors.Join(err, l.end())
		}
		took, err := l.perCall(method, params)
		return took, errors.Join(err, l.end())
	}
}

// bareCall returns the measure of the same of the bare server.
func bareCall(method string, params map[string]any) func(*bench, string) (float64, error) {
	return func(b *bench, program string) (float64, error) {
		l, err := b.connect(program, "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		took, err := l.perCall(method, params)
		return took, errors.Join(err, l.end())
	}
}
