package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"

	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
	vfsblob "github.com/bmad-mcp/bmad-mcp/sdk/vfs/blob"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs/vfstest"
)

// faulty is a store in memory that fails as it is told to.
type faulty struct {
	driver.Bucket
	objects map[string][]byte
	etags   map[string]int

	fail       error // of every request
	hang       bool  // until the request is cancelled
	readDies   int   // after so many bytes, if not 0
	writeDies  int
	loseAnswer bool // of a write, which the client then repeats
	endless    bool // content, whatever the size says
	read       int  // bytes
	lists      int
}

type code gcerrors.ErrorCode

func (c code) Error() string { return "https://secret@store/?signature=abc" }

func newFaulty(objects ...string) *faulty {
	f := &faulty{objects: map[string][]byte{}, etags: map[string]int{}}
	for _, name := range objects {
		f.objects[name] = []byte("content of " + name)
	}
	return f
}

func (f *faulty) open(t testing.TB, o vfsblob.Options) *vfsblob.FS {
	return newFS(t, blob.NewBucket(f), o)
}

func (f *faulty) request(ctx context.Context) error {
	if f.hang {
		<-ctx.Done()
	}
	return cmpOr(ctx.Err(), f.fail)
}

func cmpOr(errs ...error) error {
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if i < 0 {
		return nil
	}
	return errs[i]
}

func (f *faulty) ErrorCode(err error) gcerrors.ErrorCode {
	var c code
	if errors.As(err, &c) {
		return gcerrors.ErrorCode(c)
	}
	return gcerrors.Unknown
}
func (f *faulty) As(any) bool             { return false }
func (f *faulty) ErrorAs(error, any) bool { return false }

func (f *faulty) Attributes(ctx context.Context, key string) (*driver.Attributes, error) {
	if err := f.request(ctx); err != nil {
		return nil, err
	}
	data, ok := f.objects[key]
	if !ok {
		return nil, code(gcerrors.NotFound)
	}
	return &driver.Attributes{Size: int64(len(data)), ETag: strconv.Itoa(f.etags[key]), ContentType: "no/type/at all"}, nil
}

func (f *faulty) ListPaged(ctx context.Context, o *driver.ListOptions) (*driver.ListPage, error) {
	f.lists++
	if err := f.request(ctx); err != nil {
		return nil, err
	}
	var page driver.ListPage
	last := ""
	for _, key := range slices.Sorted(maps.Keys(f.objects)) {
		rest, ok := strings.CutPrefix(key, o.Prefix)
		object := driver.ListObject{Key: key, Size: int64(len(f.objects[key]))}
		if head, _, cut := strings.Cut(rest, o.Delimiter); cut && o.Delimiter != "" {
			object = driver.ListObject{Key: o.Prefix + head + o.Delimiter, IsDir: true}
		}
		if !ok || object.Key == last || object.Key <= string(o.PageToken) {
			continue
		}
		if last = object.Key; len(page.Objects) == o.PageSize {
			page.NextPageToken = []byte(page.Objects[len(page.Objects)-1].Key)
			break
		}
		page.Objects = append(page.Objects, &object)
	}
	return &page, nil
}

// body is the content of an object on the way.
type body struct {
	io.Reader
	size int64
}

func (b body) Close() error                         { return nil }
func (b body) Attributes() *driver.ReaderAttributes { return &driver.ReaderAttributes{Size: b.size} }
func (b body) As(any) bool                          { return false }

// counter counts what is read, and dies after some.
type counter struct {
	f    *faulty
	from io.Reader
}

func (c *counter) Read(p []byte) (int, error) {
	if c.f.readDies > 0 && c.f.read >= c.f.readDies {
		return 0, errors.New("connection reset by https://secret@store")
	}
	n, err := c.from.Read(p[:min(len(p), 1000)])
	c.f.read += n
	return n, err
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func (f *faulty) NewRangeReader(ctx context.Context, key string, _, _ int64, _ *driver.ReaderOptions) (driver.Reader, error) {
	if err := f.request(ctx); err != nil {
		return nil, err
	}
	from := io.Reader(bytes.NewReader(f.objects[key]))
	if f.endless {
		from = zeros{}
	}
	return body{&counter{f: f, from: from}, int64(len(f.objects[key]))}, nil
}

// upload makes an object when it is closed, as the services do with what they have got.
type upload struct {
	f    *faulty
	ctx  context.Context
	key  string
	o    *driver.WriterOptions
	data []byte
}

func (f *faulty) NewTypedWriter(ctx context.Context, key, _ string, o *driver.WriterOptions) (driver.Writer, error) {
	if o.BeforeWrite != nil {
		if err := o.BeforeWrite(func(any) bool { return false }); err != nil {
			return nil, err
		}
	}
	return &upload{f, ctx, key, o, nil}, f.request(ctx)
}

func (u *upload) Write(p []byte) (int, error) {
	if u.f.writeDies > 0 && len(u.data)+len(p) > u.f.writeDies {
		u.data = append(u.data, p[:u.f.writeDies]...)
		return u.f.writeDies, errors.New("broken pipe")
	}
	u.data = append(u.data, p...)
	return len(p), nil
}

func (u *upload) Close() error {
	if err := u.f.request(u.ctx); err != nil {
		return err
	}
	if _, exists := u.f.objects[u.key]; exists && u.o.IfNotExist {
		return code(gcerrors.FailedPrecondition)
	}
	u.f.objects[u.key] = u.data
	u.f.etags[u.key]++
	if u.f.loseAnswer {
		return code(gcerrors.FailedPrecondition)
	}
	return nil
}

// TestFailingStores: each fault gives a sentence within the time, names no address, and leaves no part of a file.
func TestFailingStores(t *testing.T) {
	const timeout = 50 * time.Millisecond
	for what, c := range map[string]struct {
		fault func(f *faulty)
		want  string
		reads bool // only reads fail
	}{
		"refuses":            {fault: func(f *faulty) { f.fail = code(gcerrors.PermissionDenied) }, want: "the store refuses it"},
		"has no bucket":      {fault: func(f *faulty) { f.fail = errors.New("no such host: secret") }, want: "the store has failed (Unknown)"},
		"never answers":      {fault: func(f *faulty) { f.hang = true }, want: "the store has not finished within 50ms"},
		"dies in a write":    {fault: func(f *faulty) { f.writeDies = 3 }, want: "the store has failed"},
		"dies in a read":     {fault: func(f *faulty) { f.readDies = 3 }, want: "the store has failed", reads: true},
		"grows under a read": {fault: func(f *faulty) { f.endless = true }, want: "has more than 4194304 bytes", reads: true},
	} {
		t.Run(what, func(t *testing.T) {
			f := newFaulty("a.md", "d/b.md")
			before := maps.Clone(f.objects)
			fsys := f.open(t, vfsblob.Options{Timeout: timeout})
			c.fault(f)
			errs := map[string]error{}
			if f.writeDies == 0 {
				_, errs["read"] = fsys.Read("/a.md")
			}
			if !c.reads {
				errs["write"], errs["write anew"] = fsys.Write("/a.md", []byte("mine, and longer")), fsys.Write("/new.md", []byte("mine, and longer"))
			}
			if f.fail != nil || f.hang {
				_, errs["stat"] = fsys.Stat("/a.md")
				_, errs["list"] = fsys.List("/")
				_, errs["list a folder"] = fsys.List("/d")
				errs["mkdir"] = fsys.Mkdir("/e")
			}
			for call, err := range errs {
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") || errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %v", call, err)
				}
			}
			if !maps.EqualFunc(f.objects, before, bytes.Equal) {
				t.Errorf("it left %q", f.objects)
			}
			if f.read > vfs.MaxFile+2000 {
				t.Errorf("%d bytes were read", f.read)
			}
		})
	}
}

func TestStoppedWork(t *testing.T) {
	f := newFaulty("a.md")
	ctx, stop := context.WithCancel(t.Context())
	fsys, err := vfsblob.New(ctx, blob.NewBucket(f), vfsblob.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.hang = true
	time.AfterFunc(10*time.Millisecond, stop)
	if err := fsys.Write("/a.md", []byte("mine")); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "the work was stopped") {
		t.Error(err)
	}
	if got := string(f.objects["a.md"]); got != "content of a.md" {
		t.Errorf("%q", got)
	}
}

// TestWritesWaitOnlySoLong: behind a write that hangs.
func TestWritesWaitOnlySoLong(t *testing.T) {
	f := newFaulty("a.md")
	f.hang = true
	fsys := f.open(t, vfsblob.Options{Timeout: 50 * time.Millisecond})
	errs := make(chan error, 5)
	for n := range cap(errs) {
		go func() { errs <- fsys.Write(fmt.Sprintf("/%d.md", n), nil) }()
	}
	for range cap(errs) {
		if err := <-errs; err == nil || !strings.Contains(err.Error(), "has not finished within") {
			t.Error(err)
		}
	}
}

// TestALostAnswerIsNoConflict: the client repeats a request, and meets the object that the first one made.
func TestALostAnswerIsNoConflict(t *testing.T) {
	f := newFaulty("old.md")
	f.loseAnswer = true
	fsys := f.open(t, vfsblob.Options{})
	for _, name := range []string{"/new.md", "/old.md"} {
		vfstest.Write(t, fsys, name, "mine")
		vfstest.Write(t, fsys, name, "mine, again")
	}
}

// TestConditions: what the caller's condition says prevents a write.
func TestConditions(t *testing.T) {
	f := newFaulty("a.md")
	asked := ""
	fsys := f.open(t, vfsblob.Options{Condition: func(as func(any) bool, now *blob.Attributes) error {
		asked += now.ETag
		if as(&asked) {
			t.Error("this store has no types")
		}
		return errors.New("not that store")
	}})
	vfstest.Write(t, fsys, "/new.md", "a new one has no condition but that there is none")
	if err := fsys.Write("/a.md", []byte("mine")); err == nil || asked != "0" || string(f.objects["a.md"]) != "content of a.md" {
		t.Errorf("%v, %q, %q", err, asked, f.objects["a.md"])
	}
}

// TestLargeObjects are refused by their size.
func TestLargeObjects(t *testing.T) {
	f := newFaulty()
	f.objects["large"] = make([]byte, vfs.MaxFile+1)
	f.objects["fits"] = make([]byte, vfs.MaxFile)
	fsys := f.open(t, vfsblob.Options{})
	if _, err := fsys.Read("/large"); err == nil || err.Error() != "/large has more than 4194304 bytes, the limit" || f.read > 0 {
		t.Errorf("%v, after %d bytes", err, f.read)
	}
	if info, err := fsys.Stat("/large"); err != nil || info.Size != vfs.MaxFile+1 {
		t.Errorf("%+v, %v", info, err)
	}
	if data, err := fsys.Read("/fits"); err != nil || len(data) != vfs.MaxFile {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// TestOddNames: objects with names that no path can have are as if they were not there.
func TestOddNames(t *testing.T) {
	f := newFaulty("a//b", "/x", "//", "d/", "d/e//", "d/../up.md", "./here", "d/./f", "d/\x00",
		"d/\nline", `d/back\slash`, "d/"+strings.Repeat("n", 300), "d/é.md", "both", "both/below.md", "d/\xff")
	fsys := f.open(t, vfsblob.Options{})
	for folder, want := range map[string]string{"/": "/a/ /both /d/", "/d": "/d/e/ /d/é.md", "/a": "", "/d/e": ""} {
		if got := vfstest.ListPaths(t, fsys, folder); got != want {
			t.Errorf("%s: %q, want %q", folder, got, want)
		}
	}
	vfstest.Describe(t, fsys)
	before := maps.Clone(f.objects)
	for name, want := range map[string]string{"/d": "/d is a folder", "/both/new": "/both is a file, not a folder", "/d/" + strings.Repeat("long", 500): "more than 1024"} {
		if err := fsys.Write(name, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v", name, err)
		}
	}
	if !maps.EqualFunc(f.objects, before, bytes.Equal) {
		t.Error("refused writes left something")
	}
}

func TestPrefixes(t *testing.T) {
	for prefix, want := range map[string]string{"": "a", "/": "a", "p": "p/a", "p/q/": "p/q/a", "/p": "p/a", "é ü": "é ü/a"} {
		f := newFaulty()
		vfstest.Write(t, f.open(t, vfsblob.Options{Prefix: prefix}), "/../a", "x")
		if f.objects[want] == nil || len(f.objects) != 1 {
			t.Errorf("%q: %v", prefix, slices.Collect(maps.Keys(f.objects)))
		}
	}
	for _, prefix := range []string{"..", "../p", "p/../q", "p//q", "./p", "p\x00", "p\n", `p\q`, strings.Repeat("p/", 1000), "\xff"} {
		if _, err := vfsblob.New(t.Context(), blob.NewBucket(newFaulty()), vfsblob.Options{Prefix: prefix}); err == nil || !strings.Contains(err.Error(), "cannot be used") {
			t.Errorf("%.20q: %v", prefix, err)
		}
	}
}

// TestManyObjects: a folder is listed page by page, up to a limit.
func TestManyObjects(t *testing.T) {
	f := newFaulty()
	for n := range vfsblob.MaxEntries - 1 {
		f.objects[fmt.Sprintf("d/%06d", n)] = nil
	}
	for n := range 2000 { // one entry
		f.objects[fmt.Sprintf("d/sub/%d/%d", n%10, n)] = nil
	}
	fsys := f.open(t, vfsblob.Options{})
	infos, err := fsys.List("/d")
	if err != nil || len(infos) != vfsblob.MaxEntries || f.lists != vfsblob.MaxEntries/5000+1 {
		t.Fatalf("%d entries in %d pages, %v", len(infos), f.lists, err)
	}
	f.objects["d/more"] = nil
	if _, err := fsys.List("/d"); err == nil || !strings.Contains(err.Error(), "more than 50000 entries") {
		t.Error(err)
	}
	f.lists = 0
	if info, err := fsys.Stat("/d"); err != nil || !info.Dir || f.lists != 1 {
		t.Errorf("%+v after %d lists, %v", info, f.lists, err)
	}
}

// FuzzNames: whatever the objects are called, what is listed is clean, and can be looked at.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"a", "a/b", "a//b", "/", "..", "a/../b", "a/", "é/\x00", `a\b`, "a/./b", "p/a", "p", "p/"} {
		f.Add(name, "a/b", "p")
	}
	f.Fuzz(func(t *testing.T, one, two, prefix string) {
		store := newFaulty(one, two)
		fsys, err := vfsblob.New(t.Context(), blob.NewBucket(store), vfsblob.Options{Prefix: prefix})
		if err != nil {
			return
		}
		for name := range vfstest.Describe(t, fsys) {
			if clean, err := vfs.Clean(name); err != nil || clean != name {
				t.Errorf("%q is listed", name)
			}
		}
	})
}
