package sdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// lockSession locks the session against other processes, and refuses one continued by them.
func (t *thread) lockSession(ctx context.Context) (unlock func() error, err error) {
	if unlock, err = t.client.store.Lock(ctx, t.state.ID); err != nil {
		return nil, err
	}
	data, err := t.client.store.Load(ctx, t.state.ID)
	t.mu.Lock()
	revision := t.state.Revision
	t.mu.Unlock()
	if errors.Is(err, ErrNotFound) && revision == 0 {
		return unlock, nil
	}
	var head struct{ Revision int }
	if err == nil {
		err = json.Unmarshal(data, &head)
	}
	if err == nil && head.Revision != revision {
		err = ErrChanged
	}
	if err != nil {
		if errors.Is(err, ErrChanged) || errors.Is(err, ErrNotFound) {
			t.events.close() // nothing more happens to this copy
		}
		return nil, errors.Join(err, unlock())
	}
	return unlock, nil
}

// save writes the state and the unsaved events. The caller holds the lock.
func (t *thread) save(ctx context.Context) error {
	if t.parent != nil { // the parent's tool use is repeated after a crash
		return nil
	}
	if err := t.waitUntil(ctx, func() bool { return !t.writing }); err != nil {
		return err
	}
	t.writing = true
	defer func() {
		t.writing = false
		t.wakeWaiters()
	}()
	events := t.events.toSave()
	var lines bytes.Buffer
	out := json.NewEncoder(&lines)
	for _, e := range events {
		if err := out.Encode(e); err != nil {
			return fmt.Errorf("an event cannot be saved: %w", err)
		}
	}
	s := t.state
	s.Revision++
	s.Updated = t.client.o.Clock().UTC()
	s.Models = t.budget.Report().Models
	if len(events) > 0 {
		s.Seq = events[len(events)-1].Seq
	}
	var err error
	// The changes of an overlay are kept nowhere else, even if a caller has made it.
	_, overlay := t.files.(*vfs.Overlay)
	if keeper, ok := t.files.(snapshotter); ok && (overlay || s.FilesOf == "") {
		s.Files, err = json.Marshal(keeper.Snapshot())
	}
	var data, rights []byte
	if err == nil {
		rights = t.newRights(&s)
		data, err = json.Marshal(&s)
	}
	if err != nil {
		return fmt.Errorf("the session cannot be saved: %w", err)
	}
	t.withoutLock(func() {
		if rights != nil { // before the file: of the two it is never the older
			t.keepRights(ctx, rights)
		}
		err = t.client.store.Append(ctx, t.state.ID, lines.Bytes())
	})
	if err != nil {
		return &StoreError{err}
	}
	t.events.unsaved -= len(events)
	t.withoutLock(func() { err = t.client.store.Save(ctx, t.state.ID, data) })
	if err != nil {
		return &StoreError{err}
	}
	t.state.Revision, t.state.Updated, t.state.Seq, t.state.RightsSeq = s.Revision, s.Updated, s.Seq, s.RightsSeq
	return nil
}

// keepRights keeps a record. A failure ends no work: the session is opened as one without.
func (t *thread) keepRights(ctx context.Context, record []byte) {
	if err := t.client.o.Rights.Keep(ctx, t.state.ID, record); err != nil {
		t.client.o.Log.Warn("the rights of a session are kept in its own file only", "session", t.state.ID, "error", err)
	}
}

// newRights returns the record of a state about to be saved, and numbers it; nil if it is the record kept last.
func (t *thread) newRights(s *state) []byte {
	r := rightsState{Options: s.Options, Models: s.Models}
	data, err := json.Marshal(r)
	if t.client.o.Rights == nil || err != nil || string(data) == t.rights {
		return nil
	}
	t.rights = string(data)
	s.RightsSeq++
	r.Seq = s.RightsSeq
	data, _ = json.Marshal(r) // as before, but for a number
	return data
}

// saveUnlessWorking saves the changes between turns. The work on a turn saves by itself. The caller holds the lock.
func (t *thread) saveUnlessWorking(ctx context.Context) (err error) {
	if err := t.waitUntil(ctx, func() bool { return !t.writing && (!t.working || t.claimed) }); err != nil {
		return err
	}
	if t.claimed {
		return t.save(ctx)
	}
	var unlock func() error
	t.withoutLock(func() { unlock, err = t.lockSession(ctx) })
	if err != nil {
		return err
	}
	err = t.save(ctx)
	t.withoutLock(func() { err = errors.Join(err, unlock()) })
	return err
}
