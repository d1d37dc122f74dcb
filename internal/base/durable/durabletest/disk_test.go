package durabletest_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
)

// TestDiskIsLikeARealOne does the same on a simulated disk and in a folder of the
// system, and expects the same errors and the same files.
func TestDiskIsLikeARealOne(t *testing.T) {
	script := func(d *durable.Dir) string {
		var out strings.Builder
		say := func(what string, err error) {
			kind := "ok"
			for name, target := range map[string]error{"exists": fs.ErrExist, "no such": fs.ErrNotExist} {
				if errors.Is(err, target) {
					kind = name
				}
			}
			if err != nil && kind == "ok" {
				kind = "error"
			}
			fmt.Fprintf(&out, "%s: %s\n", what, kind)
		}
		say("mkdir", mkdirAll(d, "a/b/c"))
		say("mkdir again", mkdirAll(d, "a/b/c"))
		say("mkdir exactly", d.Mkdir("a"))
		say("mkdir in nothing", d.Mkdir("x/y"))
		say("create", d.CreateUnsynced("a/f", []byte("one")))
		say("create again", d.CreateUnsynced("a/f", []byte("two")))
		say("create in nothing", d.CreateUnsynced("x/f", nil))
		say("create in a file", d.CreateUnsynced("a/f/g", nil))
		say("mkdir over a file", mkdirAll(d, "a/f"))
		say("replace", d.Replace("a/f", []byte("three")))
		say("replace a folder", d.Replace("a/b", []byte("three")))
		say("move", d.Move("a/f", "a/b/g"))
		say("move what is gone", d.Move("a/f", "a/b/g"))
		say("move a folder", d.Move("a/b", "b"))
		say("remove a full folder", d.Remove("b"))
		say("remove", d.Remove("b/c"))
		say("remove what is gone", d.Remove("b/c"))
		say("sync", d.SyncDir("b"))
		say("sync nothing", d.SyncDir("x"))
		say("create outside", d.CreateUnsynced("../f", nil))
		lock, err := d.Lock(context.Background(), "l")
		say("lock", err)
		_, ok, err := d.TryLock("l", "")
		say(fmt.Sprint("lock again ", ok), err)
		if holder, err := d.Holder("l"); err != nil || !strings.HasPrefix(holder, "process ") {
			fmt.Fprintf(&out, "held by %q, %v\n", holder, err)
		}
		say("unlock", lock.Unlock())
		_, err = d.ReadFile("b", durable.MaxText)
		say("read a folder", err)
		_, err = d.Stat("x")
		say("stat nothing", err)
		say("walk", fs.WalkDir(d.Tree(), ".", func(name string, e fs.DirEntry, err error) error {
			fmt.Fprint(&out, name, " ", e.IsDir())
			if err == nil && e.Type().IsRegular() && name != "l" {
				data, readErr := d.ReadFile(name, durable.MaxText)
				info, statErr := d.Lstat(name)
				fmt.Fprintf(&out, " %q %d %v", data, info.Size(), errors.Join(readErr, statErr))
			}
			fmt.Fprintln(&out)
			return err
		}))
		return out.String()
	}
	system, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = system.Close() }()
	if want, got := script(system), script(durabletest.New().Dir("/simulated/like")); got != want {
		t.Errorf("simulated:\n%s\nreal:\n%s", got, want)
	}
}

// TestSweepFindsWhatIsNotDurable has a file replaced rightly and in every wrong way:
// the sweep finds fault with each wrong one and with no right one.
func TestSweepFindsWhatIsNotDurable(t *testing.T) {
	write := func(d *durable.Dir, name string, sync bool) error {
		f, err := d.Create(name)
		if err != nil {
			return err
		}
		if _, err := f.Write([]byte("new bytes")); err != nil {
			return err
		}
		if sync {
			if err := f.Sync(); err != nil {
				return err
			}
		}
		return f.Close()
	}
	ways := []struct {
		name  string
		right bool
		do    func(*durable.Dir) error
	}{
		{"as package durable does it", true, func(d *durable.Dir) error { return d.Replace("f", []byte("new bytes")) }},
		{"without a sync of the bytes", false, func(d *durable.Dir) error {
			return errors.Join(write(d, ".t", false), d.Move(".t", "f"))
		}},
		{"without a sync of the folder", false, func(d *durable.Dir) error {
			return errors.Join(write(d, ".t", true), d.Rename(".t", "f"))
		}},
		{"in place", false, func(d *durable.Dir) error {
			return errors.Join(d.Remove("f"), write(d, "f", true), d.SyncDir("."))
		}},
		{"synced after the rename", false, func(d *durable.Dir) error {
			f, err := d.Create(".t")
			if err != nil {
				return err
			}
			_, err = f.Write([]byte("new bytes"))
			return errors.Join(err, d.Move(".t", "f"), f.Sync(), f.Close())
		}},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			disk := durabletest.New()
			if err := disk.Dir("/simulated/sweep").Replace("f", []byte("old")); err != nil {
				t.Fatal(err)
			}
			var faults []string
			durabletest.Sweep(t, disk, func(d *durabletest.Disk) error { return way.do(d.Dir("/simulated/sweep")) }, func(o durabletest.Outcome) {
				data, err := o.Disk.Dir("/simulated/sweep").ReadFile("f", durable.MaxText)
				switch {
				case err != nil, string(data) != "old" && string(data) != "new bytes", o.Acknowledged && string(data) != "new bytes":
					faults = append(faults, fmt.Sprintf("%v: %q, %v", o, data, err))
				}
			})
			if way.right != (len(faults) == 0) {
				t.Errorf("faults found: %q", faults)
			}
		})
	}
}

func TestFaultsAreWhatTheySay(t *testing.T) {
	for kind, want := range map[durabletest.Kind]error{
		durabletest.Broken: syscall.EIO, durabletest.Full: syscall.ENOSPC, durabletest.ReadOnly: syscall.EROFS, durabletest.Denied: syscall.EACCES,
	} {
		disk := durabletest.New()
		disk.Plan(durabletest.Fault{Kind: kind, Step: 1})
		d := disk.Dir("/simulated/" + kind.String())
		if err := d.Replace("f", []byte("x")); !errors.Is(err, want) {
			t.Errorf("%v: got %v", kind, err)
		}
		again := d.Replace("f", []byte("x"))
		if lasting := kind != durabletest.Broken; lasting != (again != nil) {
			t.Errorf("%v: the second write gives %v", kind, again)
		}
		disk.Plan(durabletest.Fault{})
		if err := d.Replace("f", []byte("x")); err != nil {
			t.Errorf("%v: after it, %v", kind, err)
		}
	}
}

func mkdirAll(d *durable.Dir, name string) error {
	_, err := d.MkdirAll(name)
	return err
}
