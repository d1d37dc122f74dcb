package trust

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// at returns a simulated disk as the state folder; it has no links.
func at(disk *durabletest.Disk) dir {
	return dir{disk.Dir("/simulated/trust"), func(string, string) error { return errors.ErrUnsupported }}
}

// TestKeySurvives has every step of making the key fail: one that was handed out is there
// after that, and whoever asks next gets one.
func TestKeySurvives(t *testing.T) {
	ctx := context.Background()
	var got []byte
	_, outcomes := durabletest.Sweep(t, durabletest.New(), func(d *durabletest.Disk) (err error) {
		got, err = at(d).ensureKey(ctx)
		return err
	}, func(o durabletest.Outcome) {
		next, err := at(o.Disk).ensureKey(ctx)
		if err != nil || len(next) != keyBytes {
			t.Errorf("%v: then %d bytes, %v", o, len(next), err)
		}
		if o.Acknowledged && !bytes.Equal(got, next) {
			t.Errorf("%v: the key is another one", o)
		}
	})
	if outcomes < 10 {
		t.Errorf("%d outcomes", outcomes)
	}
}

// TestAllowancesSurvive does the same for the list: it is the old or the new one.
func TestAllowancesSurvive(t *testing.T) {
	ctx := context.Background()
	first := Allowance{Project: "/p", Kind: KindVerify, Text: "one"}.normalize()
	second := Allowance{Project: "/p", Kind: KindVerify, Text: "two"}.normalize()
	for name, c := range map[string]struct {
		do            func(dir) error
		before, after int
	}{
		"allow": {func(d dir) error { return d.addAllowance(ctx, second) }, 1, 2},
		"disallow": {func(d dir) error {
			_, err := allowances.removeFrom(ctx, d, func(a Allowance) bool { return a.Project == first.Project && a.Kind == first.Kind })
			return err
		}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			disk := durabletest.New()
			if err := at(disk).addAllowance(ctx, first); err != nil {
				t.Fatal(err)
			}
			durabletest.Sweep(t, disk, func(d *durabletest.Disk) error { return c.do(at(d)) }, func(o durabletest.Outcome) {
				list, err := allowances.readFrom(at(o.Disk))
				if err != nil || len(list) != c.before && len(list) != c.after || o.Acknowledged && len(list) != c.after {
					t.Errorf("%v: %d allowances, %v", o, len(list), err)
				}
				if err := c.do(at(o.Disk)); err != nil {
					t.Errorf("%v: again: %v", o, err)
				}
				for _, later := range o.Disk.Images() { // whatever the power takes after that
					if list, err := allowances.readFrom(at(later)); err != nil || len(list) != c.after {
						t.Errorf("%v: then %d allowances, %v", o, len(list), err)
					}
				}
			})
		})
	}
}

// TestCheckpointsSurvive does the same for the record of a session: it is the old or the new one, and never one
// that would be taken for another's.
func TestCheckpointsSurvive(t *testing.T) {
	ctx := context.Background()
	const id = "11111111-2222-4333-8444-555555555555"
	s, err := newSigner(bytes.Repeat([]byte{7}, keyBytes))
	if err != nil {
		t.Fatal(err)
	}
	write := func(d *durabletest.Disk, revision int) error {
		return CheckpointsIn(d.Dir("/simulated/trust")).Write(ctx, s, "/p", id, workflow.Checkpoint{Entries: revision, Revision: revision})
	}
	read := func(d *durabletest.Disk) workflow.Checkpoint {
		return CheckpointsIn(d.Dir("/simulated/trust")).Read(s, "/p", id)[id]
	}
	for _, before := range []int{0, 1} {
		disk := durabletest.New()
		if before > 0 {
			if err := write(disk, before); err != nil {
				t.Fatal(err)
			}
		}
		_, outcomes := durabletest.Sweep(t, disk, func(d *durabletest.Disk) error { return write(d, 2) }, func(o durabletest.Outcome) {
			if c := read(o.Disk); c.Foreign || c.Revision != before && c.Revision != 2 || o.Acknowledged && c.Revision != 2 {
				t.Errorf("%v: %+v", o, c)
			}
			if err := write(o.Disk, 3); err != nil || read(o.Disk).Revision != 3 {
				t.Errorf("%v: again: %+v, %v", o, read(o.Disk), err)
			}
		})
		if outcomes < 10 {
			t.Errorf("%d outcomes", outcomes)
		}
	}
}

// TestKeyOfAnother has somebody make the key while this process holds a lock that holds
// nobody back: theirs is the key.
func TestKeyOfAnother(t *testing.T) {
	d, err := openDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	theirs := bytes.Repeat([]byte{7}, keyBytes)
	link := d.link
	d.link = func(from, to string) error {
		if err := d.CreateUnsynced(keyFile, theirs); err != nil {
			t.Error(err)
		}
		return link(from, to)
	}
	if got, err := d.ensureKey(t.Context()); err != nil || !bytes.Equal(got, theirs) {
		t.Errorf("got %x, %v", got, err)
	}
}

// appearing is a disk on which a file is made just after it was first looked for.
type appearing struct {
	durable.FS
	once sync.Once
	make func()
}

func (a *appearing) Tree() fs.FS { return appearingTree{a.FS.Tree(), a} }

type appearingTree struct {
	fs.FS
	disk *appearing
}

func (a appearingTree) Open(name string) (fs.File, error) {
	f, err := a.FS.Open(name)
	a.disk.once.Do(a.disk.make)
	return f, err
}

func (a appearingTree) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(a.FS, name) }
func (a appearingTree) ReadLink(name string) (string, error)   { return fs.ReadLink(a.FS, name) }

// TestMadeWhileItIsRead has another process make the key between two looks of a reader.
func TestMadeWhileItIsRead(t *testing.T) {
	disk := durabletest.New()
	var made []byte
	fsys := &appearing{FS: disk.Dir("/simulated/appearing"), make: func() {
		var err error
		if made, err = at(disk).ensureKey(context.Background()); err != nil {
			t.Error(err)
		}
	}}
	got, _, err := dir{Dir: durable.NewDir("/simulated/appearing", fsys)}.readIfExists(keyFile)
	if err != nil || len(got) != keyBytes || !bytes.Equal(got, made) {
		t.Errorf("got %x, %v", got, err)
	}
}
