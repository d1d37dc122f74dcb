// Package storetest is the suite for every backend of package store.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Backend is the interface under test.
type Backend = store.Backend

// Files returns the store of the project in dir, which stays the caller's to close. It reads every
// session file for each list.
func Files(dir *durable.Dir) *filestore.Store {
	return filestore.NewSummaries(func() time.Time { return time.Time{} }).Store(dir)
}

// At returns the store of a project as Files does.
func At(place store.Place) (Backend, error) { return Files(place.Dir), nil }

// Run runs the suite. open returns an empty backend; reopen returns another
// handle on the same data, as a second process would have it.
func Run(t *testing.T, open func(t *testing.T) (b Backend, reopen func() Backend)) {
	t.Helper()
	tests := map[string]func(*testing.T, Backend, func() Backend){
		"CreateAndGet":     testCreateAndGet,
		"CreateTwice":      testCreateTwice,
		"Names":            testNames,
		"NamesInParallel":  testNamesInParallel,
		"Find":             testFind,
		"List":             testList,
		"Latest":           testLatest,
		"ListsFollow":      testListsFollow,
		"Update":           testUpdate,
		"UpdateRefused":    testUpdateRefused,
		"UpdateInParallel": testUpdateInParallel,
		"UpdateFails":      testUpdateFails,
		"CancelledContext": testCancelledContext,
		"Contents":         testContents,
		"ContentsInUpdate": testContentsInUpdate,
		"Stored":           testStored,
		"Query":            testQuery,
		"Pages":            testPages,
		"CopiesAreApart":   testCopiesAreApart,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b, reopen := open(t)
			test(t, b, reopen)
		})
	}
}

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func newSession(n int) *workflow.Session {
	return workflow.Default().NewSession(uuid.NewString(), fmt.Sprintf("objective %d <&> 界", n), "/p", "test", epoch.Add(time.Duration(n)*time.Second))
}

// Numbered proposes base, base-1, base-2, …
func Numbered(base string) store.Names {
	return store.Names{Candidate: func(n int) string {
		if n == 0 {
			return base
		}
		return fmt.Sprintf("%s-%d", base, n)
	}}
}

func createSession(t *testing.T, b Backend, n int, base string) *workflow.Session {
	t.Helper()
	s := newSession(n)
	if err := b.Create(context.Background(), s, Numbered(base)); err != nil {
		t.Fatal(err)
	}
	return s
}

func testCreateAndGet(t *testing.T, b Backend, reopen func() Backend) {
	s := createSession(t, b, 1, "task")
	for _, h := range []Backend{b, reopen()} {
		got, err := h.Get(context.Background(), s.SessionID)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := store.Encode(s)
		have, _ := store.Encode(got)
		if string(want) != string(have) {
			t.Errorf("got\n%s\nwant\n%s", have, want)
		}
	}
	if _, err := b.Get(context.Background(), uuid.NewString()); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown id gives %v", err)
	}
	if _, err := b.Get(context.Background(), "../../etc/passwd"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a path gives %v", err)
	}
}

func testCreateTwice(t *testing.T, b Backend, _ func() Backend) {
	s := createSession(t, b, 1, "task")
	if err := b.Create(context.Background(), s, Numbered("task")); !fault.Is(err, fault.Conflict) {
		t.Errorf("got %v", err)
	}
	if id, err := b.Find(context.Background(), "task-1"); err == nil {
		t.Errorf("the refused create took a name for %s", id)
	}
}

func testNames(t *testing.T, b Backend, _ func() Backend) {
	for n, want := range []string{"task", "task-1", "task-2", "task-3", "task-4", "task-5"} {
		if s := createSession(t, b, n, "task"); s.TaskName != want {
			t.Errorf("got %q, want %q", s.TaskName, want)
		}
	}
	s := newSession(9)
	names := Numbered("doc")
	names.Taken = func(name string) bool { return name == "doc" || name == "doc-1" }
	if err := b.Create(context.Background(), s, names); err != nil || s.TaskName != "doc-2" {
		t.Errorf("got %q, %v", s.TaskName, err)
	}
}

func testNamesInParallel(t *testing.T, b Backend, reopen func() Backend) {
	handles := []Backend{b, reopen(), reopen()}
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[string]string{}
	for n := range 30 {
		wg.Go(func() {
			s := newSession(n)
			if err := handles[n%len(handles)].Create(context.Background(), s, Numbered("task")); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if other := got[s.TaskName]; other != "" {
				t.Errorf("%s and %s are both %q", other, s.SessionID, s.TaskName)
			}
			got[s.TaskName] = s.SessionID
		})
	}
	wg.Wait()
	for name, id := range got {
		if found, err := b.Find(context.Background(), name); err != nil || found != id {
			t.Errorf("%q: %s, %v", name, found, err)
		}
	}
	if len(got) != 30 {
		t.Errorf("%d of 30 were created", len(got))
	}
}

func testFind(t *testing.T, b Backend, _ func() Backend) {
	s := createSession(t, b, 1, "任务-a")
	for _, ref := range []string{s.SessionID, s.TaskName} {
		if id, err := b.Find(context.Background(), ref); err != nil || id != s.SessionID {
			t.Errorf("%q: %q, %v", ref, id, err)
		}
	}
	for _, ref := range []string{"", "other", "../names/task", "a/b", uuid.NewString(), strings.Repeat("x", 5000), "a\x00b"} {
		if _, err := b.Find(context.Background(), ref); !fault.Is(err, fault.NotFound) {
			t.Errorf("%.40q: %v", ref, err)
		}
	}
}

func testList(t *testing.T, b Backend, reopen func() Backend) {
	if page, err := listPage(context.Background(), b, store.Query{}); err != nil || len(page.Sessions)+len(page.Broken)+page.Total != 0 {
		t.Errorf("an empty store lists %+v, %v", page, err)
	}
	for _, n := range []int{3, 1, 2} {
		createSession(t, b, n, fmt.Sprintf("task-%d", n))
	}
	page, err := listPage(context.Background(), reopen(), store.Query{})
	if err != nil || len(page.Broken) != 0 {
		t.Fatal(err, page.Broken)
	}
	if got, want := taskNames(page), []string{"task-3", "task-2", "task-1"}; !slices.Equal(got, want) || page.Total != 3 || page.Active != 3 || page.Next != "" {
		t.Errorf("got %v of %+v, want %v", got, page, want)
	}
}

func testLatest(t *testing.T, b Backend, reopen func() Backend) {
	if got, err := b.Latest(context.Background(), 3); err != nil || len(got.Sessions) != 0 {
		t.Errorf("an empty store has %v, %v", got, err)
	}
	var ids []string
	for n := range 4 {
		ids = append(ids, createSession(t, b, n, fmt.Sprintf("task-%d", n)).SessionID)
		time.Sleep(5 * time.Millisecond) // file systems tell times apart by no less
	}
	if _, err := b.Update(context.Background(), ids[1], func(_ store.Tx, s *workflow.Session) error {
		s.UpdatedAt = s.UpdatedAt.Add(time.Hour)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	list, err := reopen().Latest(context.Background(), 3)
	var got []string
	for _, s := range list.Sessions {
		got = append(got, s.SessionID)
	}
	// A store without anything to read may have all of them.
	if want := []string{ids[1], ids[3], ids[2]}; err != nil || len(got) < 3 || !slices.Equal(got[:3], want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if list, err := b.Latest(context.Background(), 100); err != nil || len(list.Sessions) != 4 {
		t.Errorf("%v, %v", list, err)
	}
}

func testUpdate(t *testing.T, b Backend, reopen func() Backend) {
	s := createSession(t, b, 1, "task")
	got, err := b.Update(context.Background(), s.SessionID, func(_ store.Tx, s *workflow.Session) error {
		s.CurrentState = workflow.Clarifying
		return nil
	})
	if err != nil || got.Revision != s.Revision+1 || got.CurrentState != workflow.Clarifying {
		t.Fatalf("%+v, %v", got, err)
	}
	again, err := reopen().Get(context.Background(), s.SessionID)
	if err != nil || again.Revision != got.Revision || again.CurrentState != workflow.Clarifying {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := b.Update(context.Background(), uuid.NewString(), func(store.Tx, *workflow.Session) error {
		t.Error("called for an unknown session")
		return nil
	}); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
}

func testUpdateRefused(t *testing.T, b Backend, _ func() Backend) {
	s := createSession(t, b, 1, "task")
	no := errors.New("no")
	_, err := b.Update(context.Background(), s.SessionID, func(_ store.Tx, s *workflow.Session) error {
		s.Objective = "changed"
		return no
	})
	if !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
	got, err := b.Get(context.Background(), s.SessionID)
	if err != nil || got.Objective != s.Objective || got.Revision != s.Revision {
		t.Errorf("a refused update stored %+v, %v", got, err)
	}
}

func testUpdateInParallel(t *testing.T, b Backend, reopen func() Backend) {
	s := createSession(t, b, 1, "task")
	handles := []Backend{b, reopen(), reopen()}
	var wg sync.WaitGroup
	for n := range 30 {
		wg.Go(func() {
			runs := 0
			if _, err := handles[n%len(handles)].Update(context.Background(), s.SessionID, func(_ store.Tx, s *workflow.Session) error {
				s.ReworkCount++
				runs++
				return nil
			}); err != nil || runs != 1 {
				t.Errorf("ran %d times, want once: %v", runs, err)
			}
		})
	}
	wg.Wait()
	got, err := b.Get(context.Background(), s.SessionID)
	if err != nil || got.ReworkCount != 30 || got.Revision != s.Revision+30 {
		t.Errorf("count %d, revision %d, %v", got.ReworkCount, got.Revision, err)
	}
}

func testCancelledContext(t *testing.T, b Backend, _ func() Backend) {
	s := createSession(t, b, 1, "task")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, getErr := b.Get(ctx, s.SessionID)
	_, updateErr := b.Update(ctx, s.SessionID, func(store.Tx, *workflow.Session) error {
		t.Error("changed under a cancelled context")
		return nil
	})
	createErr := b.Create(ctx, newSession(2), Numbered("other"))
	for _, err := range []error{getErr, updateErr, createErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

func testContents(t *testing.T, b Backend, reopen func() Backend) {
	s := createSession(t, b, 1, "task")
	body := "# 文档\n" + strings.Repeat("line\n", 200)
	texts := []store.Text{
		{Stage: workflow.PO, Kind: "claude_result", Body: body, At: epoch},
		{Stage: workflow.PO, Kind: "claude_result", Body: "second in the same instant", At: epoch},
	}
	refs := putTexts(t, b, s.SessionID, texts)
	if refs[0].FilePath == refs[1].FilePath {
		t.Errorf("both are %s", refs[0].FilePath)
	}
	if want := ".bmad-task/temp/" + s.SessionID + "/po_claude_result_"; !strings.HasPrefix(refs[0].FilePath, want) {
		t.Errorf("path %s, want %s…", refs[0].FilePath, want)
	}
	if refs[0].Size != int64(len(body)) || len([]rune(refs[0].Summary)) != workflow.SummaryLimit || len(refs[0].SHA256) != 64 {
		t.Errorf("reference %+v", refs[0])
	}
	for i, ref := range refs {
		if got, err := reopen().Read(context.Background(), ref); err != nil || got != texts[i].Body {
			t.Errorf("read %.20q, %v", got, err)
		}
	}
	gone := refs[0]
	gone.FilePath += ".gone"
	if got, err := b.Read(context.Background(), gone); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a text that is not there: got %q, %v", got, err)
	}
	for _, path := range []string{"missing.md", "../outside", "/etc/hostname"} {
		if _, err := b.Read(context.Background(), workflow.ContentRef{FilePath: path}); !fault.Is(err, fault.Storage) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func testCopiesAreApart(t *testing.T, b Backend, _ func() Backend) {
	s := createSession(t, b, 1, "task")
	one, err := b.Get(context.Background(), s.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	one.Record(workflow.PO).Gaps = []string{"mine"}
	two, err := b.Get(context.Background(), s.SessionID)
	if err != nil || len(two.Record(workflow.PO).Gaps) != 0 {
		t.Errorf("a change of one copy shows in another: %v, %v", two.Record(workflow.PO).Gaps, err)
	}
}
