package pgstore_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
)

// TestKilledServersLoseNothing kills all processes of a server under writers, several times. Every acknowledged change
// is there afterwards, each revision was acknowledged once, and every text is that of its change.
func TestKilledServersLoseNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says which processes belong to the server")
	}
	server := pgtest.Start(t)
	address := server.Database(t)
	migrate(t, address)
	b := open(t, address).Store(at)
	const writers, enough = 16, 60
	rounds := 1
	if thorough {
		rounds = 10
	}
	var ids []string
	for range writers / 2 { // two on each
		ids = append(ids, create(t, b).SessionID)
	}
	type key struct {
		id       string
		revision int
	}
	var mu sync.Mutex
	acknowledged := map[key]string{}
	refused := 0
	for round := range rounds {
		ctx, stop := context.WithCancel(context.Background())
		var done atomic.Int64
		var work sync.WaitGroup
		for w := range writers {
			work.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					text := fmt.Sprintf("%d %d %d", round, w, n)
					got, err := b.Update(ctx, ids[w%len(ids)], step(text))
					mu.Lock()
					switch {
					case err == nil:
						k := key{got.SessionID, got.Revision}
						if acknowledged[k] != "" {
							t.Errorf("revision %d was acknowledged twice", got.Revision)
						}
						acknowledged[k] = text
						done.Add(1)
					case ctx.Err() == nil:
						time.Sleep(time.Millisecond) // leaves the server the processors
						if refused++; !fault.Is(err, fault.Storage) {
							t.Errorf("got %v", err)
						}
					}
					mu.Unlock()
				}
			})
		}
		for done.Load() < enough {
			time.Sleep(time.Millisecond)
		}
		server.Kill(t)
		if err := server.Up(); err != nil {
			t.Fatal(err)
		}
		again := done.Load() + enough
		for done.Load() < again {
			time.Sleep(time.Millisecond)
		}
		stop()
		work.Wait()
	}
	lost := 0
	for _, id := range ids {
		s, err := b.Get(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		for k := range acknowledged {
			if k.id == id && k.revision > s.Revision {
				lost++
			}
		}
		if want := acknowledged[key{id, s.Revision}]; want != "" {
			if body, err := b.Read(context.Background(), *s.Record("po").FinalResultRef); err != nil || body != want {
				t.Errorf("the last text is %q, %v, want %q", body, err, want)
			}
		}
	}
	t.Logf("%d acknowledged, %d refused, %d lost", len(acknowledged), refused, lost)
	if lost > 0 {
		t.Errorf("%d acknowledged changes are lost", lost)
	}
}
