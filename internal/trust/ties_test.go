package trust_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// tie has a folder claim a project, and returns why it may not.
func tie(t *testing.T, u trust.UserState, folder, home, project string) *trust.Untied {
	t.Helper()
	c := trust.Claim{Tie: trust.Tie{Folder: folder, Project: project}, Path: folder, Home: home}
	if home != "" {
		c.Folder = home
	}
	list, err := u.Ties()
	if err != nil {
		t.Fatal(err)
	}
	known, judged := c.Judge(list)
	err = u.Tie(context.Background(), c)
	if after, readErr := u.Ties(); err != nil && (!slices.Equal(list, after) || readErr != nil) {
		t.Errorf("%s: a refused claim has changed %v to %v, %v", project, list, after, readErr)
	}
	var refused *trust.Untied
	if errors.As(err, &refused) != (judged != nil) || known && err != nil || err != nil && !fault.Is(err, fault.NotAllowed) {
		t.Fatalf("%s: judged %v, %v; then %v", project, known, judged, err)
	}
	return refused
}

func TestTies(t *testing.T) {
	root := t.TempDir()
	u := trust.UserState(filepath.Join(root, "state"))
	folder := func(name string) string {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
		return name
	}
	one, tree, clone, alone := folder("one"), folder("tree"), folder("clone"), folder("alone")
	home := folder("one/.git")
	for range 2 {
		if tie(t, u, one, home, "h/a") != nil || tie(t, u, tree, home, "h/a") != nil || tie(t, u, alone, "", "local:1") != nil {
			t.Fatal("what a folder names first does not hold, or not for the work tree of a repository")
		}
	}
	if list, err := u.Ties(); err != nil || len(list) != 2 {
		t.Errorf("remembered: %v, %v", list, err)
	}
	for what, c := range map[string]struct{ folder, home, project, before, other string }{
		"another remote":                {one, home, "h/b", "h/a", ""},
		"no remote any more":            {one, "", "h/a", "", home},
		"a repository that was none":    {alone, folder("alone/.git"), "h/b", "local:1", ""},
		"a clone":                       {clone, folder("clone/.git"), "h/a", "", home},
		"the id of another folder":      {clone, "", "local:1", "", alone},
		"the project of another folder": {alone, "", "h/a", "local:1", ""},
	} {
		refused := tie(t, u, c.folder, c.home, c.project)
		if refused == nil || refused.Before != c.before || refused.Other != c.other {
			t.Errorf("%s: got %+v", what, refused)
		}
	}

	// The person says so.
	ctx, repository := context.Background(), folder("clone/.git")
	said := trust.Claim{Tie: trust.Tie{Folder: repository, Project: "h/a"}, Path: clone, Home: repository}
	if err := u.Retie(ctx, said); err != nil || tie(t, u, clone, repository, "h/a") != nil || tie(t, u, one, home, "h/a") != nil {
		t.Errorf("the clone of which the person has said that it is one: %v", err)
	}
	said.Project = "h/b"
	if err := u.Retie(ctx, said); err != nil || tie(t, u, clone, repository, "h/b") != nil || tie(t, u, clone, repository, "h/a") == nil {
		t.Errorf("another project that the person has named: %v", err)
	}
	said.Project = ""
	if err := u.Retie(ctx, said); err != nil || tie(t, u, clone, repository, "h/c") != nil {
		t.Errorf("a folder of which nothing is remembered any more: %v", err)
	}

	// A folder that is gone keeps none from its project, and is forgotten.
	if err := os.RemoveAll(alone); err != nil {
		t.Fatal(err)
	}
	if moved := folder("moved"); tie(t, u, moved, "", "local:1") != nil {
		t.Error("the project of a folder that is gone cannot be shown")
	}
	if list, err := u.Ties(); err != nil || slices.Contains(list, trust.Tie{Folder: alone, Project: "local:1"}) {
		t.Errorf("remembered: %v, %v", list, err)
	}
}

// TestTiesAtOnce: of folders that name one project at once, one is remembered.
func TestTiesAtOnce(t *testing.T) {
	root := t.TempDir()
	u := trust.UserState(filepath.Join(root, "state"))
	var all sync.WaitGroup
	results := make([]error, 8)
	for i := range results {
		folder := filepath.Join(root, string(rune('a'+i)))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			results[i] = u.Tie(context.Background(), trust.Claim{Tie: trust.Tie{Folder: folder, Project: "h/a"}, Path: folder})
		})
	}
	all.Wait()
	list, err := u.Ties()
	if n := len(slices.DeleteFunc(results, func(err error) bool { return err != nil })); n != 1 || len(list) != 1 || err != nil {
		t.Errorf("%d folders were told that they are remembered; there are %v, %v", n, list, err)
	}
}

func TestTiesThatCannotBeRead(t *testing.T) {
	if _, err := trust.UserState("").Ties(); !fault.Is(err, fault.Storage) {
		t.Errorf("without a state folder: %v", err)
	}
	u := trust.UserState(t.TempDir())
	if err := os.WriteFile(filepath.Join(string(u), "ties.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Ties(); !fault.Is(err, fault.Storage) {
		t.Errorf("broken: %v", err)
	}
	if err := u.Tie(context.Background(), trust.Claim{Tie: trust.Tie{Folder: "/x", Project: "h/a"}, Path: "/x"}); !fault.Is(err, fault.Storage) {
		t.Errorf("a broken file is replaced: %v", err)
	}
}

// TestTiedStore checks that a variable takes the runs of a folder to no other store than the one in which they were.
func TestTiedStore(t *testing.T) {
	folder := t.TempDir()
	u := trust.UserState(t.TempDir())
	stored := trust.Claim{Tie: trust.Tie{Folder: folder, Project: "h/a", Store: "postgres://db/team"}, Path: folder}
	if err := u.Tie(context.Background(), stored); err != nil {
		t.Fatal(err)
	}
	elsewhere := stored
	elsewhere.Store = "postgres://mallory/team"
	var refused *trust.Untied
	if err := u.Tie(context.Background(), elsewhere); !errors.As(err, &refused) || refused.BeforeStore != stored.Store {
		t.Errorf("another store: %v", err)
	}
	elsewhere.OwnStore = true // her own settings name it
	if err := u.Tie(context.Background(), elsewhere); err != nil {
		t.Error(err)
	}
	named := trust.Claim{Tie: trust.Tie{Folder: "/clone", Project: "h/a"}, Path: "/clone", OwnProject: true}
	if known, err := named.Judge([]trust.Tie{{Folder: folder, Project: "h/a"}}); known || err != nil {
		t.Errorf("a project that her own settings name: %v, %v", known, err)
	}
}
