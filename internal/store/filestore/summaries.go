package filestore

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Summaries keeps the summaries of session files for all stores of one process, to read a file again only
// after a change, and the sessions last asked for. It is safe for concurrent use.
type Summaries struct {
	now func() time.Time
	// decoded has the sessions last asked for, by the paths of their files.
	decoded *recent.Map[string, decoded]

	mu      sync.Mutex
	folders map[string]*folder // by the path of the project
	uses    int
	watched int
}

// NewSummaries returns empty summaries; now is the clock of this machine.
func NewSummaries(now func() time.Time) *Summaries {
	return &Summaries{now: now, decoded: recent.New[string, decoded](keptSessions), folders: map[string]*folder{}}
}

// decoded is a session, which nobody gets more than a copy of, and the bytes of its file.
type decoded struct {
	data    []byte
	session *workflow.Session
}

// keptSessions bounds the sessions kept decoded, maxKeptFile the bytes of their files.
const (
	keptSessions = 4
	maxKeptFile  = 512 << 10
)

// keepDecoded keeps the session decoded from the bytes of a file, for later calls.
func (k *Summaries) keepDecoded(file string, data []byte, session *workflow.Session) {
	if len(data) <= maxKeptFile {
		k.decoded.Put(file, decoded{data, session})
	}
}

// decodedFrom returns the kept session of a file if the file still has the same bytes.
func (k *Summaries) decodedFrom(file string, data []byte) (*workflow.Session, bool) {
	known, ok := k.decoded.Get(file)
	return known.session, ok && bytes.Equal(known.data, data)
}

// maxKept bounds the memory of all summaries, in bytes: about 100,000 sessions. The projects
// listed longest ago are dropped.
const maxKept = 96 << 20

// folder has the summaries of one project.
type folder struct {
	// turn is taken by one listing at a time: another one waits, and then finds the results of the first.
	turn chan struct{}
	// files are the session files by the id in their names.
	files map[string]*file
	// listing has all files; whole is false if it has to be sorted again.
	listing store.Listing
	whole   bool

	// unread are the files to be read, and looked is the time of the last comparison with the folder. A
	// comparison is unnecessary while stillness holds, which only a large folder has.
	unread    []unread
	looked    time.Time
	stillness *durable.Stillness
	there     int // the number of files

	// names are the task names in use, as last read from the folder at this version.
	names   []string
	named   durable.Version
	namedAt time.Time

	// weight is the memory of the files, in bytes, when they were listed.
	weight     int
	size, used int // of Summaries
}

// file is a session file as it was read.
type file struct {
	version durable.Version
	// settled is true if version shows every change since.
	settled bool
	summary workflow.Summary
	sum     [sha256.Size]byte
	// err is the reason why the file is not a session; unopened is true if it could not even be read, which may
	// pass.
	err      error
	unopened bool
}

// folderOf returns the summaries of a project; nil if there are none.
func (k *Summaries) folderOf(project string) *folder {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.folders[project]
}

// enterListing returns the summaries of a project, for a listing.
func (k *Summaries) enterListing(project string) *folder {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.folders[project]
	if f == nil {
		f = &folder{turn: make(chan struct{}, 1), files: map[string]*file{}}
		k.folders[project] = f
	}
	k.uses++
	f.used = k.uses
	return f
}

// maxWatched bounds the folders of one process whose changes the system notes: systems allow a person about a
// hundred.
const maxWatched = 8

// watchFolder returns the stillness of a project's sessions, if there is a place left.
func (k *Summaries) watchFolder(dir *durable.Dir) *durable.Stillness {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.watched == maxWatched {
		return nil
	}
	stillness := dir.Stillness(store.Folder)
	if stillness != nil {
		k.watched++
	}
	return stillness
}

// unwatchFolder gives the place of a folder back.
func (k *Summaries) unwatchFolder(f *folder) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.release(f)
}

func (k *Summaries) release(f *folder) {
	if f.stillness != nil {
		f.stillness.Close()
		f.stillness = nil
		k.watched--
	}
}

// leaveListing ends a listing of a project, and drops summaries over the limit.
func (k *Summaries) leaveListing(f *folder) {
	size := f.weight
	<-f.turn
	k.mu.Lock()
	defer k.mu.Unlock()
	f.size = size
	for k.dropOldest() {
	}
}

// dropOldest drops the project listed longest ago if there is too much in all.
func (k *Summaries) dropOldest() bool {
	total, oldest := 0, ""
	for project, f := range k.folders {
		total += f.size
		if first := k.folders[oldest]; first == nil || f.used < first.used {
			oldest = project
		}
	}
	if total <= maxKept {
		return false
	}
	f := k.folders[oldest]
	select {
	case f.turn <- struct{}{}:
		k.release(f)
		delete(k.folders, oldest)
		<-f.turn
		return true
	default: // it is being listed: the next time will do
		return false
	}
}

// unread is a file to be read.
type unread struct {
	id      string
	changed time.Time
	// before is what it was when it was read before; nil if it was never, or could not be.
	before *file
}

// sessionOf returns the id in the name of a session's file.
func sessionOf(name string) (id string, ok bool) {
	base, ok := strings.CutPrefix(name, "session-")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(base, ".json")
}
