package pgstore_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
)

// smallDisk mounts a small file system for a server, or skips the test.
func smallDisk(t *testing.T, server *pgtest.Server) (folder string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), server.Address("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var data string
	if err := conn.QueryRow(context.Background(), `show data_directory`).Scan(&data); err != nil {
		t.Fatal(err)
	}
	var owner syscall.Stat_t
	folder = filepath.Join(filepath.Dir(data), "small")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Skipf("no folder can be made beside the server's (%v); run as root", err)
	}
	if err := syscall.Stat(data, &owner); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=4m,mode=0700,uid=%d,gid=%d", owner.Uid, owner.Gid)); err != nil {
		t.Skipf("no file system can be mounted here (%v); run as root", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// TestFullDisk: a change for whose text the server has no room is refused as a whole, and the store goes on when
// there is some.
func TestFullDisk(t *testing.T) {
	ctx := context.Background()
	server := pgtest.Start(t)
	folder := smallDisk(t, server)
	address := server.Database(t)
	migrate(t, address)
	name := address[strings.LastIndex(address, "/")+1 : strings.Index(address, "?")]
	pgtest.Do(t, server.Address("postgres", name), `create tablespace small location '`+folder+`'`, `alter table content set tablespace small`)
	b := open(t, address).Store(at)
	s, err := b.Update(ctx, create(t, b).SessionID, step("before"))
	if err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(folder, "filler")
	if err := os.WriteFile(filler, make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 2<<20) // which cannot be compressed
	_, _ = rand.Read(noise)
	large := string(noise)
	for range 2 {
		_, err := b.Update(ctx, s.SessionID, step(large))
		if !fault.Is(err, fault.Storage) || !strings.Contains(fault.From(err).Hint, "free some space") {
			t.Errorf("without room: %v", err)
		}
		have, err := b.Get(ctx, s.SessionID)
		if err != nil || have.Revision != s.Revision {
			t.Fatalf("a part is stored: %v, %v", have, err)
		}
		if body, err := b.Read(ctx, *have.Record("po").FinalResultRef); err != nil || body != "before" {
			t.Errorf("the text is %q, %v", body, err)
		}
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	pgtest.Do(t, address, `vacuum content`) // the server keeps the room of what it has undone
	after, err := b.Update(ctx, s.SessionID, step(large))
	if err != nil || after.Revision != s.Revision+1 {
		t.Fatalf("with room again: %v, %v", after, err)
	}
	if body, err := b.Read(ctx, *after.Record("po").FinalResultRef); err != nil || body != large {
		t.Errorf("the text has %d bytes, %v", len(body), err)
	}
}
