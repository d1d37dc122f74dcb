package blob_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/storage"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/blob/memblob"
	"gocloud.dev/gcp"
	"google.golang.org/api/option"

	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
	vfsblob "github.com/bmad-mcp/bmad-mcp/sdk/vfs/blob"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs/vfstest"
)

// store is a kind of bucket.
type store struct {
	open func(t *testing.T) *blob.Bucket
	// condition is nil for a store that cannot check the version of an object.
	condition func(as func(any) bool, now *blob.Attributes) error
}

// eachStore runs a test for each kind of bucket: of the test stores, the disk, and a server that speaks the
// protocol of Google Cloud Storage.
func eachStore(t *testing.T, test func(t *testing.T, s store)) {
	t.Helper()
	t.Run("mem", func(t *testing.T) { test(t, store{open: openMem}) })
	t.Run("file", func(t *testing.T) { test(t, store{open: openFile}) })
	t.Run("gcs", func(t *testing.T) { test(t, store{newServer(t), hasGeneration}) })
}

func openMem(t *testing.T) *blob.Bucket { return closeAtEnd(t, memblob.OpenBucket(nil)) }

// openFile leaves out the descriptions that the driver keeps beside each file: it does not replace them as a whole.
func openFile(t *testing.T) *blob.Bucket {
	bucket, err := fileblob.OpenBucket(t.TempDir(), &fileblob.Options{Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		t.Fatal(err)
	}
	return closeAtEnd(t, bucket)
}

func closeAtEnd(t *testing.T, bucket *blob.Bucket) *blob.Bucket {
	t.Cleanup(func() {
		if err := bucket.Close(); err != nil {
			t.Error(err)
		}
	})
	return bucket
}

// hasGeneration is the condition for Google Cloud Storage.
func hasGeneration(as func(any) bool, now *blob.Attributes) error {
	var object **storage.ObjectHandle
	var attrs storage.ObjectAttrs
	if !as(&object) || !now.As(&attrs) {
		return errors.New("this is not Google Cloud Storage")
	}
	*object = (*object).If(storage.Conditions{GenerationMatch: attrs.Generation})
	return nil
}

// newServer starts a server of objects, and returns how to make a bucket there.
func newServer(t *testing.T) func(t *testing.T) *blob.Bucket {
	t.Helper()
	program, err := exec.LookPath("fake-gcs-server")
	if err != nil {
		t.Skip("SKIPPED: nobody has tried a real server of objects; go install github.com/fsouza/fake-gcs-server@v1.56.1, as .ci/run does, and have it in PATH")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(free.Addr().String())
	address := "http://" + free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-scheme", "http", "-host", host, "-port", port, "-backend", "memory", "-log-level", "error", "-external-url", address)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	buckets := 0
	return func(t *testing.T) *blob.Bucket {
		t.Helper()
		buckets++
		name := fmt.Sprintf("bucket-%d", buckets)
		makeBucket(t, address, name)
		bucket, err := gcsblob.OpenBucket(t.Context(), gcp.NewAnonymousHTTPClient(http.DefaultTransport), name,
			&gcsblob.Options{ClientOptions: []option.ClientOption{option.WithEndpoint(address + "/storage/v1/"), storage.WithJSONReads()}})
		if err != nil {
			t.Fatal(err)
		}
		return closeAtEnd(t, bucket)
	}
}

// makeBucket asks for a bucket until the server has begun.
func makeBucket(t *testing.T, address, name string) {
	t.Helper()
	for try := 0; ; try++ {
		answer, err := http.Post(address+"/storage/v1/b?project=p", "application/json", strings.NewReader(`{"name":"`+name+`"}`))
		if err == nil {
			said, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s", answer.Status, said)
			}
			return
		}
		if try == 200 {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func newFS(t testing.TB, bucket *blob.Bucket, o vfsblob.Options) *vfsblob.FS {
	t.Helper()
	fsys, err := vfsblob.New(context.Background(), bucket, o)
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

func TestSuite(t *testing.T) {
	eachStore(t, func(t *testing.T, s store) {
		vfstest.Run(t, func(t *testing.T) vfs.FS { return newFS(t, s.open(t), vfsblob.Options{Condition: s.condition}) })
	})
	t.Run("in a folder", func(t *testing.T) {
		vfstest.Run(t, func(t *testing.T) vfs.FS {
			bucket := openMem(t)
			put(t, bucket, "a.md", "outside")
			put(t, bucket, "projects/shopping/a.md", "outside")
			return newFS(t, bucket, vfsblob.Options{Prefix: "projects/shop"})
		})
	})
}

func put(t testing.TB, bucket *blob.Bucket, key, text string) {
	t.Helper()
	if err := bucket.WriteAll(context.Background(), key, []byte(text), nil); err != nil {
		t.Fatal(err)
	}
}

// TestOneOfTwoWritersWins: the others are told, and what one of them wrote is whole.
func TestOneOfTwoWritersWins(t *testing.T) {
	eachStore(t, func(t *testing.T, s store) {
		bucket := s.open(t)
		for round := range 20 {
			name := fmt.Sprintf("/d/%d.md", round)
			if exists := round%2 == 1; exists {
				if s.condition == nil {
					continue
				}
				put(t, bucket, name[1:], "before")
			}
			var writers [3]*vfsblob.FS
			for n := range writers {
				writers[n] = newFS(t, bucket, vfsblob.Options{Condition: s.condition})
				_, _ = writers[n].Read(name)
			}
			var errs [len(writers)]error
			var wg sync.WaitGroup
			for n, w := range writers {
				wg.Go(func() { errs[n] = w.Write(name, []byte(strings.Repeat(fmt.Sprint(n), 1000))) })
			}
			wg.Wait()
			won, winner := 0, 0
			for n, err := range errs {
				var conflict *vfs.ConflictError
				switch {
				case err == nil:
					won, winner = won+1, n
				case !errors.As(err, &conflict) || conflict.Path != name:
					t.Errorf("round %d: %v", round, err)
				}
			}
			if got := vfstest.Read(t, writers[0], name); won != 1 || got != strings.Repeat(fmt.Sprint(winner), 1000) {
				t.Fatalf("round %d: %d have won, and it has %.20q", round, won, got)
			}
		}
	})
}

// TestChangesOfOthersAreKept: what somebody has written since the last read or write here is not overwritten
// before it has been read.
func TestChangesOfOthersAreKept(t *testing.T) {
	eachStore(t, func(t *testing.T, s store) {
		for what, here := range map[string]func(fsys *vfsblob.FS){
			"read":         func(fsys *vfsblob.FS) { _, _ = fsys.Read("/a.md") },
			"written":      func(fsys *vfsblob.FS) { vfstest.Write(t, fsys, "/a.md", "first") },
			"not there":    func(fsys *vfsblob.FS) { _, _ = fsys.Read("/new.md") },
			"then deleted": func(fsys *vfsblob.FS) { _, _ = fsys.Read("/gone.md") },
		} {
			bucket := s.open(t)
			put(t, bucket, "a.md", "zeroth")
			put(t, bucket, "gone.md", "gone")
			fsys := newFS(t, bucket, vfsblob.Options{Condition: s.condition})
			here(fsys)
			name := map[string]string{"not there": "/new.md", "then deleted": "/gone.md"}[what]
			if name == "" {
				name = "/a.md"
			}
			put(t, bucket, name[1:], "theirs!")
			if what == "then deleted" {
				if err := bucket.Delete(t.Context(), name[1:]); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 { // until it is read
				var conflict *vfs.ConflictError
				if err := fsys.Write(name, []byte("mine")); !errors.As(err, &conflict) {
					t.Fatalf("%s: %v", what, err)
				}
			}
			if got, _ := fsys.Read(name); what != "then deleted" && string(got) != "theirs!" {
				t.Errorf("%s: %q", what, got)
			}
			vfstest.Write(t, fsys, name, "both")
			vfstest.Write(t, fsys, name, "both, again")
			if got := vfstest.Read(t, fsys, name); got != "both, again" {
				t.Errorf("%s: %q", what, got)
			}
		}
	})
}
