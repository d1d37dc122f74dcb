package trust

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Checkpoints are this machine's records of sessions, a small file for each below the state
// folder:
//
//	checkpoints/<hash of the project's place>/<session id>.json
//
// The place is part of the name: a copy of a project has sessions with the same ids. It is the path of the
// folder with the sessions, without links, or the project's name in a store shared by the clones.
// A record of another place shows that a session was copied or moved. Each file is signed, and one written
// without the key does not count.
type Checkpoints struct{ dir *durable.Dir }

// CheckpointsIn returns the checkpoints of an open state folder.
func CheckpointsIn(dir *durable.Dir) Checkpoints { return Checkpoints{dir} }

const (
	checkpointFolder = "checkpoints"
	checkpointLock   = "checkpoints.lock"
	// checkpointDomain prevents the signature from being valid for anything else.
	checkpointDomain = "bmad-mcp: checkpoint of a session\n"
	// maxCheckpoint bounds the read of a file, in bytes; ours have about 600.
	maxCheckpoint = 1 << 16
	// checkpointPatience bounds the wait for another recording program.
	checkpointPatience = 10 * time.Second
)

// checkpoint is the file's form.
type checkpoint struct {
	Project   string `json:"project"`
	SessionID string `json:"session_id"`
	workflow.Checkpoint
	Key       string `json:"key"`
	Signature string `json:"signature,omitempty"`
}

// Checkpoints returns the records of sessions of a project, by their ids; without ids, of all. Missing and unreadable
// records are left out.
func (u UserState) Checkpoints(signer workflow.Signer, project string, ids ...string) (found map[string]workflow.Checkpoint) {
	if signer == nil {
		return nil
	}
	_ = u.withExisting(func(d dir) error { // without the folder there are none
		found = CheckpointsIn(d.Dir).Read(signer, u.realPath(project), ids...)
		return nil
	})
	return found
}

// Elsewhere returns the records of a session in other places than a project's, whose open folder is given. file is
// the session's file, relative to a project.
func (u UserState) Elsewhere(signer workflow.Signer, project, folder, id, file string) (found []workflow.Elsewhere) {
	if signer == nil {
		return nil
	}
	project, folder = placeOf(project), PathOf(folder)
	_ = u.withExisting(func(d dir) error { // without the folder there are none
		c := CheckpointsIn(d.Dir)
		own, ok := checkpointName(project, id)
		folders, err := d.ReadDir(checkpointFolder)
		if !ok || err != nil {
			return err
		}
		here, _ := os.Stat(folder) // without it no folder is the same
		for _, other := range folders {
			name := path.Join(checkpointFolder, other.Name(), id+".json")
			if name == own {
				continue
			}
			record, ok := c.parseFile(signer, name)
			expected, _ := checkpointName(record.Project, id)
			if !ok || expected != name || record.SessionID != id {
				continue
			}
			there, err := os.Stat(record.Project)
			_, gone := os.Lstat(filepath.Join(record.Project, filepath.FromSlash(file)))
			found = append(found, workflow.Elsewhere{
				Folder: record.Project, Checkpoint: record.Checkpoint, Holds: gone == nil || isShared(record.Project), // nobody looks into another store
				Same: err == nil && here != nil && os.SameFile(here, there),
			})
		}
		return nil
	})
	return found
}

// Record keeps a checkpoint of a session of a project, unless a later one exists. It replaces the checkpoints in
// left, the former places of the session.
func (u UserState) Record(ctx context.Context, signer workflow.Signer, project, id string, c workflow.Checkpoint, left ...string) error {
	return u.withFolder(func(d dir) error {
		return CheckpointsIn(d.Dir).Write(ctx, signer, u.realPath(project), id, c, left...)
	})
}

// Read is UserState.Checkpoints for a place without links.
func (c Checkpoints) Read(signer workflow.Signer, project string, ids ...string) map[string]workflow.Checkpoint {
	out := map[string]workflow.Checkpoint{}
	if len(ids) == 0 {
		ids = c.recordedIDs(project)
	}
	for _, id := range ids {
		if found, ok := c.readRecord(signer, project, id); ok {
			out[id] = found
		}
	}
	return out
}

// recordedIDs lists the recorded sessions of a project.
func (c Checkpoints) recordedIDs(project string) (out []string) {
	names, _ := c.dir.ReadDir(placeFolder(project)) // without the folder there are none
	for _, e := range names {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok {
			out = append(out, id)
		}
	}
	return out
}

// placeFolder returns the folder of the records of a project.
func placeFolder(project string) string {
	return path.Join(checkpointFolder, workflow.Hash([]byte(project))[:32])
}

func checkpointName(project, id string) (name string, ok bool) {
	if id == "" || strings.Trim(id, "0123456789abcdef-") != "" { // a path is built from it
		return "", false
	}
	return path.Join(placeFolder(project), id+".json"), true
}

func (c Checkpoints) readRecord(signer workflow.Signer, project, id string) (found workflow.Checkpoint, ok bool) {
	name, ok := checkpointName(project, id)
	if !ok {
		return found, false
	}
	file, ok := c.parseFile(signer, name)
	isOther := file.Project != project || file.SessionID != id
	if ok && isOther {
		file.Checkpoint = workflow.Checkpoint{Foreign: true}
	}
	return file.Checkpoint, ok
}

// parseFile reads a record by the name of the file; it is foreign if another key signed it.
func (c Checkpoints) parseFile(signer workflow.Signer, name string) (file checkpoint, ok bool) {
	foreign := checkpoint{Checkpoint: workflow.Checkpoint{Foreign: true}}
	info, err := c.dir.Lstat(name)
	if err != nil {
		return file, false
	}
	if !info.Mode().IsRegular() || info.Size() > maxCheckpoint {
		return foreign, true
	}
	data, err := c.dir.ReadFile(name, maxCheckpoint)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return file, false
	}
	if err != nil || json.Unmarshal(data, &file) != nil || file.Signature == "" || file.Signature != computeMAC(signer, data) {
		return foreign, true
	}
	return file, true
}

// computeMAC returns the code of a file's content: of all keys but the signature, sorted, so that a program
// computes the same for keys unknown to it.
func computeMAC(signer workflow.Signer, data []byte) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var plain map[string]any
	if dec.Decode(&plain) != nil {
		return ""
	}
	delete(plain, "signature")
	data, err := json.Marshal(plain)
	if err != nil {
		return ""
	}
	return signer.MAC(checkpointDomain + string(data))
}

// Write is UserState.Record for a place without links.
func (c Checkpoints) Write(ctx context.Context, signer workflow.Signer, project, id string, cp workflow.Checkpoint, left ...string) error {
	ctx, cancel := context.WithTimeout(ctx, checkpointPatience)
	defer cancel()
	r, err := c.Reserve(ctx)
	if err != nil {
		return err
	}
	defer r.Release()
	return r.Record(signer, project, id, cp, left...)
}

// Reservation keeps other programs from recording, so that nobody can prevent the record of a change under way.
type Reservation struct {
	checkpoints Checkpoints
	// placeOf returns the place of a project.
	placeOf func(project string) string
	release func()
}

// Reserve waits until no other program records.
func (c Checkpoints) Reserve(ctx context.Context) (*Reservation, error) {
	lock, err := c.dir.Lock(ctx, checkpointLock)
	if err != nil {
		return nil, err
	}
	return &Reservation{c, func(project string) string { return project }, func() { _ = lock.Unlock() }}, nil
}

// Reserve is Checkpoints.Reserve for the state folder, which is created if it is missing.
func (u UserState) Reserve(ctx context.Context) (*Reservation, error) {
	d, done, err := u.openOrMake()
	if err != nil {
		return nil, u.describeError(err)
	}
	r, err := CheckpointsIn(d.Dir).Reserve(ctx)
	if err != nil {
		done()
		return nil, u.describeError(err)
	}
	unlock := r.release
	r.placeOf, r.release = u.realPath, func() { unlock(); done() }
	return r, nil
}

// Release lets other programs record.
func (r *Reservation) Release() { r.release() }

// Record is UserState.Record.
func (r *Reservation) Record(signer workflow.Signer, project, id string, cp workflow.Checkpoint, left ...string) error {
	c := r.checkpoints
	project = r.placeOf(project)
	name, ok := checkpointName(project, id)
	if !ok {
		return &fs.PathError{Op: "record", Path: id, Err: fs.ErrInvalid}
	}
	file := checkpoint{Project: project, SessionID: id, Checkpoint: cp, Key: signer.Public().Fingerprint()}
	unsigned, err := json.Marshal(file)
	if err != nil {
		return err
	}
	file.Signature = computeMAC(signer, unsigned)
	data, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return err
	}
	if _, err := c.dir.MkdirAll(path.Dir(name)); err != nil {
		return err
	}
	// Another window may have continued the session, and recorded it first; or the record is from another copy of
	// a folder that is gone.
	now, there := c.readRecord(signer, project, id)
	older := now.Foreign || now.Revision < cp.Revision
	if there && !older {
		return nil
	}
	if !there && len(left) > 0 && !c.anyOf(left, id) {
		return nil
	}
	if err := c.dir.Replace(name, append(data, '\n')); err != nil {
		return err
	}
	for _, folder := range left {
		if old, ok := checkpointName(folder, id); ok && old != name {
			_ = c.dir.Remove(old)           // left over, it would vouch for the former folder of the session
			_ = c.dir.Remove(path.Dir(old)) // fails unless it is empty
		}
	}
	return nil
}

// anyOf reports whether a session is recorded under one of some folders.
func (c Checkpoints) anyOf(folders []string, id string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		name, ok := checkpointName(folder, id)
		return ok && c.dir.Exists(name)
	})
}
