// Package pgtest starts PostgreSQL servers for tests.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// Password is the password of all accounts. Tests look for it in all output.
const Password = "s3cret-of-the-store"

// Server is a running server, which accepts connections over loopback alone.
type Server struct {
	Port int

	bin, folder string
	options     []string
	running     *exec.Cmd
	stop        func() error
}

var shared = struct {
	sync.Once
	server *Server
	err    error
	names  atomic.Int64
}{}

// Main runs the tests of a package, and ends their shared server.
func Main(m *testing.M) {
	code := m.Run()
	Stop()
	os.Exit(code)
}

// Stop ends the server shared by the tests of a package.
func Stop() {
	if shared.server != nil {
		shared.server.Close()
	}
}

// New returns the address of an empty database for one test, on a server shared by all tests of the
// package. The account owns it, and has no rights beyond it. Without PostgreSQL the test is skipped.
func New(t testing.TB) (address string) {
	t.Helper()
	address, err := Fresh()
	requireServer(t, err)
	return address
}

// Fresh is New without a test; the error matches exec.ErrNotFound without PostgreSQL.
func Fresh() (address string, err error) {
	shared.Do(func() { shared.server, shared.err = startServer("fsync=off", "full_page_writes=off") })
	if shared.err != nil {
		return "", shared.err
	}
	return shared.server.newDatabase()
}

// requireServer ends a test without a server.
func requireServer(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no PostgreSQL on the PATH or in /usr/lib/postgresql: install Debian's package postgresql")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Start starts a server for one test, with options such as synchronous_commit=off.
func Start(t testing.TB, options ...string) *Server {
	t.Helper()
	s, err := startServer(options...)
	requireServer(t, err)
	t.Cleanup(s.Close)
	return s
}

// Database makes an empty database, and returns the address.
func (s *Server) Database(t testing.TB) (address string) {
	t.Helper()
	address, err := s.newDatabase()
	requireServer(t, err)
	return address
}

func (s *Server) newDatabase() (address string, err error) {
	name := fmt.Sprintf("db%d", shared.names.Add(1))
	return s.Address(name, name), runStatements(s.Address("postgres", "postgres"), `create role `+name+` login password '`+Password+`'`, `create database `+name+` owner `+name)
}

// Address returns the address of a database for an account.
func (s *Server) Address(account, database string) string {
	return fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/%s?sslmode=disable", account, Password, s.Port, database)
}

// Do runs statements in the database at an address.
func Do(t testing.TB, address string, statements ...string) {
	t.Helper()
	requireServer(t, runStatements(address, statements...))
}

func runStatements(address string, statements ...string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// Standby starts a copy which follows a server. From then on the server acknowledges only data on the
// copy's disk.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	from := fmt.Sprintf("host=127.0.0.1 port=%d user=postgres password=%s application_name=standby", s.Port, Password)
	standby, err := launchServer(func(standby *Server) error {
		return standby.runProgram("pg_basebackup", "-D", standby.dataFolder(), "-d", from, "-R", "-X", "stream", "-c", "fast", "--no-sync")
	}, s.options)
	requireServer(t, err)
	t.Cleanup(standby.Close)
	admin := s.Address("postgres", "postgres")
	Do(t, admin, `alter system set synchronous_standby_names = 'standby'`, `select pg_reload_conf()`)
	const ready = `do $$ begin if not exists (select from pg_stat_replication where sync_state = 'sync') then raise 'it does not follow yet'; end if; end $$`
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for err = runStatements(admin, ready); err != nil && ctx.Err() == nil; err = runStatements(admin, ready) {
		time.Sleep(20 * time.Millisecond)
	}
	requireServer(t, err)
	return standby
}

// Promote makes a standby the primary.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	Do(t, s.Address("postgres", "postgres"), `select pg_promote()`)
}

// startServer makes the files of a server, and starts it.
func startServer(options ...string) (*Server, error) {
	return launchServer((*Server).makeFiles, options)
}

func launchServer(files func(*Server) error, options []string) (s *Server, err error) {
	s = &Server{options: options}
	if s.bin, err = programsFolder(); err != nil {
		return nil, err
	}
	if s.folder, err = os.MkdirTemp("", "bmad-pg-"); err != nil {
		return nil, err
	}
	if err = giveToServer(s.folder); err == nil {
		err = files(s)
	}
	if err == nil {
		err = s.Up()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// programsFolder returns the folder of the newest server's programs.
func programsFolder() (string, error) {
	if name, err := exec.LookPath("postgres"); err == nil {
		name, err = filepath.EvalSymlinks(name) // the other programs need not be on the PATH
		return filepath.Dir(name), err
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		return "", exec.ErrNotFound
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return versionOf(a) - versionOf(b) })), nil
}

func versionOf(name string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(name))))
	return n
}

func (s *Server) makeFiles() error {
	file := filepath.Join(s.folder, "password")
	if err := os.WriteFile(file, []byte(Password+"\n"), 0o600); err != nil {
		return err
	}
	if err := giveToServer(file); err != nil {
		return err
	}
	return s.runProgram("initdb", "-D", s.dataFolder(), "-U", "postgres", "-A", "scram-sha-256", "--pwfile", file, "-E", "UTF8", "--locale=C", "--no-sync")
}

// runProgram runs a program of the server to the end.
func (s *Server) runProgram(name string, args ...string) error {
	cmd := exec.CommandContext(context.Background(), filepath.Join(s.bin, name), args...) //nolint:gosec // the programs of the server
	cmd.Dir = s.folder
	asAnother(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

func (s *Server) dataFolder() string { return filepath.Join(s.folder, "data") }

// Up starts the server, and returns when it accepts connections.
func (s *Server) Up() error {
	if s.Port == 0 {
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		s.Port = l.Addr().(*net.TCPAddr).Port
		_ = l.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		said, err := s.tryStart(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("the server does not start: %w: %s", err, said)
		}
		_ = s.stop() // it has ended
	}
}

// tryStart starts the server once. An error before the context's end means that the server has not yet found the
// memory of a killed one free; said is the server's log.
func (s *Server) tryStart(ctx context.Context) (said string, err error) {
	args := []string{"-D", s.dataFolder(), "-k", s.folder, "-h", "127.0.0.1", "-p", strconv.Itoa(s.Port), "-c", "max_connections=200"}
	for _, o := range s.options {
		args = append(args, "-c", o)
	}
	_ = os.Remove(filepath.Join(s.folder, "log")) // what an earlier try has said
	// The shell ends the server when the test has ended, in any way.
	const untilTheEnd = `"$@" >log 2>&1 & read -r _; kill -QUIT $!; wait`
	cmd := exec.CommandContext(context.Background(), "/bin/sh", append([]string{"-c", untilTheEnd, "sh", filepath.Join(s.bin, "postgres")}, args...)...) //nolint:gosec // as above
	cmd.Dir = s.folder
	asAnother(cmd)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", err
	}
	s.running = cmd
	s.stop = func() error {
		_ = in.Close()
		return cmd.Wait()
	}
	for {
		conn, err := pgx.Connect(ctx, s.Address("postgres", "postgres"))
		if err == nil {
			return "", conn.Close(ctx)
		}
		log, _ := durable.ReadPath(filepath.Join(s.folder, "log"), durable.MaxText)
		if ctx.Err() != nil || strings.Contains(string(log), "is still in use") {
			return string(log), err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Kill ends all processes of the server at once.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	data, err := durable.ReadPath(filepath.Join(s.dataFolder(), "postmaster.pid"), durable.MaxText)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(data), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := killTree(pid); err != nil {
		t.Fatal(err)
	}
	_ = s.stop() // the shell reports it as killed
	s.stop = nil
}

// StopAtOnce stops the server as its owner can: without waiting for anybody, and without the end of its log on the disk.
func (s *Server) StopAtOnce() {
	_ = s.stop() // the shell reports how it has ended
	s.stop = nil
}

// Close ends the server, and removes the files.
func (s *Server) Close() {
	if s.stop != nil {
		_ = s.stop()
	}
	_ = os.RemoveAll(s.folder)
}
