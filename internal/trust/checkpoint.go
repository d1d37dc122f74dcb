package trust

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Checkpoints are this machine's records of sessions, a small file for each below the state
// folder:
//
//	checkpoints/<hash of the project's path>/<session id>.json
//
// The path without links is part of the name: a copy of a project has sessions with the same
// ids, which continue on their own. Each file is signed, so that one written without the key
// does not count.
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
	// checkpointPatience bounds the wait for another program that records.
	checkpointPatience = time.Second
)

// checkpoint is the file's form.
type checkpoint struct {
	Project   string `json:"project"`
	SessionID string `json:"session_id"`
	workflow.Checkpoint
	Key       string `json:"key"`
	Signature string `json:"signature,omitempty"`
}

// Checkpoints returns the records of sessions of a project, by their ids. Missing and unreadable
// records are left out.
func (u UserState) Checkpoints(signer workflow.Signer, project string, ids ...string) (found map[string]workflow.Checkpoint) {
	if signer == nil {
		return nil
	}
	_ = u.existing(func(d dir) error { // without the folder there are none
		found = Checkpoints{d.Dir}.Read(signer, resolve(project), ids...)
		return nil
	})
	return found
}

// Record keeps a checkpoint of a session of a project, unless a later one exists.
func (u UserState) Record(ctx context.Context, signer workflow.Signer, project, id string, c workflow.Checkpoint) error {
	return u.created(func(d dir) error {
		return Checkpoints{d.Dir}.Write(ctx, signer, resolve(project), id, c)
	})
}

// Read is UserState.Checkpoints for the real path of a project.
func (c Checkpoints) Read(signer workflow.Signer, project string, ids ...string) map[string]workflow.Checkpoint {
	out := map[string]workflow.Checkpoint{}
	for _, id := range ids {
		if found, ok := c.read(signer, project, id); ok {
			out[id] = found
		}
	}
	return out
}

func checkpointName(project, id string) (name string, ok bool) {
	if id == "" || strings.Trim(id, "0123456789abcdef-") != "" { // a path is built from it
		return "", false
	}
	return path.Join(checkpointFolder, workflow.Hash([]byte(project))[:32], id+".json"), true
}

func (c Checkpoints) read(signer workflow.Signer, project, id string) (found workflow.Checkpoint, ok bool) {
	name, ok := checkpointName(project, id)
	if !ok {
		return found, false
	}
	info, err := c.dir.Lstat(name)
	if err != nil {
		return found, false
	}
	var file checkpoint
	if !info.Mode().IsRegular() || info.Size() > maxCheckpoint {
		return workflow.Checkpoint{Foreign: true}, true
	}
	data, err := c.dir.ReadFile(name, maxCheckpoint)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return found, false
	}
	if err != nil || json.Unmarshal(data, &file) != nil || file.Project != project || file.SessionID != id ||
		file.Signature == "" || file.Signature != signature(signer, data) {
		return workflow.Checkpoint{Foreign: true}, true
	}
	return file.Checkpoint, true
}

// signature signs a file's content: all keys but the signature, sorted, so that a program
// that does not know a key computes the same.
func signature(signer workflow.Signer, data []byte) string {
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
	return signer.Sign(checkpointDomain + string(data))
}

// Write is UserState.Record for the real path of a project.
func (c Checkpoints) Write(ctx context.Context, signer workflow.Signer, project, id string, cp workflow.Checkpoint) error {
	name, ok := checkpointName(project, id)
	if !ok {
		return &fs.PathError{Op: "record", Path: id, Err: fs.ErrInvalid}
	}
	file := checkpoint{Project: project, SessionID: id, Checkpoint: cp, Key: signer.Key()}
	unsigned, err := json.Marshal(file)
	if err != nil {
		return err
	}
	file.Signature = signature(signer, unsigned)
	data, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, checkpointPatience)
	defer cancel()
	lock, err := c.dir.Lock(ctx, checkpointLock)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	if _, err := c.dir.MkdirAll(path.Dir(name)); err != nil {
		return err
	}
	// Another window may have continued the session, and recorded that first.
	if now, there := c.read(signer, project, id); there && !now.Foreign && now.Revision >= cp.Revision {
		return nil
	}
	return c.dir.Replace(name, append(data, '\n'))
}

// Forgotten is a checkpoint that Forget removes, or would.
type Forgotten struct {
	// Path is absolute.
	Path string
	Size int64
	// Why is the reason that it is superfluous.
	Why string
}

// Forget finds checkpoints from before a time whose session is gone: gone reports that of
// a session of a project, by its real path. With apply it removes them.
func (u UserState) Forget(ctx context.Context, before time.Time, gone func(project, id string) bool, apply bool) (out []Forgotten, err error) {
	err = u.existing(func(d dir) error {
		out, err = Checkpoints{d.Dir}.forget(ctx, before, gone, apply)
		return err
	})
	return out, err
}

func (c Checkpoints) forget(ctx context.Context, before time.Time, gone func(project, id string) bool, apply bool) (out []Forgotten, err error) {
	err = fs.WalkDir(c.dir.Tree(), checkpointFolder, func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !e.Type().IsRegular():
			return ctx.Err()
		}
		size, why := c.superfluous(name, e, before, gone)
		if why == "" {
			return ctx.Err()
		}
		if apply {
			if err := c.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			_ = c.dir.Remove(path.Dir(name)) // fails unless it is empty
		}
		out = append(out, Forgotten{c.dir.Join(name), size, why})
		return ctx.Err()
	})
	return out, err
}

// superfluous returns why a file below the folder may go; "" where it may not.
func (c Checkpoints) superfluous(name string, e fs.DirEntry, before time.Time, gone func(project, id string) bool) (size int64, why string) {
	info, err := e.Info()
	if err != nil || info.Size() > maxCheckpoint || !info.ModTime().Before(before) {
		return 0, ""
	}
	if of, temp := durable.IsTemp(path.Base(name)); temp {
		return info.Size(), "a write of " + of + " that never came to its end"
	}
	data, err := c.dir.ReadFile(name, maxCheckpoint)
	var file checkpoint
	if err != nil || json.Unmarshal(data, &file) != nil {
		return 0, ""
	}
	if own, ok := checkpointName(file.Project, file.SessionID); !ok || own != name || !gone(file.Project, file.SessionID) {
		return 0, ""
	}
	return info.Size(), "its session in " + file.Project + " is gone"
}
