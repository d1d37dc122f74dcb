//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
	"unsafe"
)

// protocol is the version that the clients speak, greeting their first request.
const protocol = "2025-06-18"

var greeting = map[string]any{
	"protocolVersion": protocol, "clientInfo": map[string]string{"name": "figures", "version": "1"}, "capabilities": map[string]any{},
}

// server is a program that serves on stdio in a project of its own.
type server struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	calls int
	bytes int // of the texts of all replies
}

// environ is that of a person without settings.
func (b *bench) environ(home string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + home + "/state", "XDG_CONFIG_HOME=" + home + "/config", "LANG=C.UTF-8"}
}

// start starts a program in a project, or in a new one if that is "". wrap is a command to start it by.
func (b *bench) start(program, project string, environ []string, wrap ...string) (*server, error) {
	if project == "" {
		var err error
		if project, err = b.folder(); err != nil {
			return nil, err
		}
	}
	line := append(wrap, program)
	s := &server{cmd: exec.Command(line[0], line[1:]...)}
	s.cmd.Dir, s.cmd.Env = project, append(b.environ(filepath.Dir(project)), environ...)
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReaderSize(out, 1<<20)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	_, err = s.request("initialize", greeting)
	return s, err
}

// stop ends the server as a host does, and returns the processor's time of its whole life.
func (s *server) stop() (time.Duration, error) {
	_ = s.in.Close() // that is the end that the server waits for
	_, _ = io.Copy(io.Discard, s.out)
	if err := s.cmd.Wait(); err != nil {
		return 0, err
	}
	return used(s.cmd), nil
}

// used is the processor's time of a command that has ended.
func used(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// request sends a request and returns its result.
func (s *server) request(method string, params any) (json.RawMessage, error) {
	s.calls++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.calls, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		var reply struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(line, &reply); err != nil {
			return nil, err
		}
		if reply.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, reply.Error)
		}
		if reply.ID == s.calls {
			return reply.Result, nil
		}
	}
}

// task calls the tool of the workflow, which has to succeed.
func (s *server) task(arguments map[string]any) error { return s.tool("bmad-task", arguments) }

func (s *server) tool(name string, arguments map[string]any) error {
	result, err := s.request("tools/call", map[string]any{"name": name, "arguments": arguments})
	if err != nil {
		return err
	}
	var reply struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(result, &reply); err != nil {
		return err
	}
	if len(reply.Content) == 0 || reply.IsError {
		return fmt.Errorf("%v: %s", arguments["action"], result)
	}
	for _, c := range reply.Content {
		s.bytes += len(c.Text)
	}
	return nil
}

// cpu is the processor's time of the server up to now: the clock of the process pid is -pid-1 with 2
// in the lowest three bits (CPUCLOCK_SCHED, clock_getcpuclockid(3)).
func (s *server) cpu() (time.Duration, error) {
	var t syscall.Timespec
	clock := uintptr(^s.cmd.Process.Pid<<3 | 2)
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0, errno
	}
	return time.Duration(t.Nano()), nil
}
