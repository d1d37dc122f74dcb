package storetest

import (
	"context"
	"crypto/ed25519"
	"slices"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// testMembers checks that each public key is kept once, as it was added first.
func testMembers(t *testing.T, b Backend, reopen func() Backend) {
	members := b.(store.Members)
	if list, _, err := members.Members(context.Background()); err != nil || len(list) != 0 {
		t.Fatalf("before the first: %v, %v", list, err)
	}
	var want []workflow.Member
	for n := range 3 {
		seed := make([]byte, ed25519.SeedSize)
		seed[0] = byte(n)
		want = append(want, workflow.NewMember(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey), "ana\x00 <b>", "Ana \"É\""))
	}
	var all sync.WaitGroup
	for range 4 {
		for _, m := range want {
			all.Go(func() {
				if err := members.AddMember(context.Background(), m); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	other := want[0]
	other.Subject = "eve"
	if err := members.AddMember(context.Background(), other); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(want, func(a, b workflow.Member) int { return slices.Compare([]byte(a.Key), []byte(b.Key)) })
	if list, _, err := reopen().(store.Members).Members(context.Background()); err != nil || !slices.Equal(list, want) {
		t.Errorf("%+v, %v", list, err)
	}
}
