package recent_test

import (
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
)

// TestWhatIsUsedStays keeps one key in use among ten times as many as there is room for.
func TestWhatIsUsedStays(t *testing.T) {
	const limit = 100
	m := recent.New[int, string](limit)
	m.Put(-1, "used")
	for n := range 10 * limit {
		m.Put(n, "once")
		if v, ok := m.Get(-1); !ok || v != "used" {
			t.Fatalf("after %d others: %q, %v", n, v, ok)
		}
		if _, ok := m.Get(n - limit/8); n > limit && !ok { // each turn uses three keys
			t.Fatalf("after %d: one of the last %d is gone", n, limit/8)
		}
	}
	left := 0
	for n := range 10 * limit {
		if _, ok := m.Get(n); ok {
			left++
		}
	}
	if left > limit || !m.Forgot() {
		t.Errorf("%d entries are left of a limit of %d; forgot: %v", left, limit, m.Forgot())
	}
}

func TestForgotOnlyWhatWasThere(t *testing.T) {
	m := recent.New[int, int](10)
	for n := range 10 {
		m.Put(n, n)
		m.Put(n, n+1)
	}
	if m.Forgot() {
		t.Error("ten entries fit")
	}
	m.Delete(3)
	if _, ok := m.Get(3); ok {
		t.Error("3 is still there")
	}
	m.Change(4, func(v int, ok bool) int {
		if v != 5 || !ok {
			t.Errorf("%d, %v", v, ok)
		}
		return 7
	})
	if v, ok := m.Get(4); v != 7 || !ok {
		t.Errorf("%d, %v", v, ok)
	}
}

func TestManyAtOnce(t *testing.T) {
	m := recent.New[int, int](8)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for n := range 1000 {
				m.Change(0, func(v int, _ bool) int { return v + 1 })
				m.Put(n, n)
			}
		})
	}
	wg.Wait()
	if v, ok := m.Get(999); !ok || v != 999 {
		t.Errorf("%d, %v", v, ok)
	}
}
