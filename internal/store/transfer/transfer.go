// Package transfer carries the sessions of a project from one store to another, or to an archive and back.
//
// An archive is a tar file with the sessions and texts under their paths as files, and a manifest with
// their hashes at the end. Nothing is stored from an archive before all of it was checked.
//
// Two forms of a session, one in each store, are never merged. If the history of one continues the other's,
// the longer one stays; else both stay, the second under a new id and task name.
//
// The queue of runs is not carried: an entry is about the workers of one team. A run that comes to another store is
// queued there by a person, and one that replaces a shorter state wakes its entry, as every change does.
package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Outcome counts what became of sessions.
type Outcome struct {
	// New were stored, Longer replaced a shorter state, Forked were stored under another name, Renamed too,
	// because theirs was in use, and Same changed nothing.
	New, Longer, Forked, Renamed, Same int
}

// Copy brings all sessions of one store into another. Unreadable sessions are left out: it returns the
// first error, after the others were brought.
func Copy(ctx context.Context, from, into store.Carrier) (out Outcome, err error) {
	all, err := listByID(ctx, from)
	for _, s := range all {
		if err != nil {
			break
		}
		var p store.Parcel
		if p, err = from.Take(ctx, s.SessionID); err == nil {
			err = out.bringSession(ctx, into, p)
		}
	}
	return out, out.explainFailure(err)
}

// explainFailure adds to an error what was stored before it, which no remedy undoes.
func (o Outcome) explainFailure(err error) error {
	if n := o.New + o.Longer + o.Forked + o.Renamed; err != nil && n > 0 {
		return fault.New(fault.From(err).Code, "after %d runs were stored: %w", n, err).
			WithHint("repeat it once the problem is gone: it goes on with the others, and leaves those as they are")
	}
	return err
}

// listByID lists the sessions of a store by id. An unreadable one is an error: it would be missing.
func listByID(ctx context.Context, from store.Carrier) ([]workflow.Summary, error) {
	all, err := from.All(ctx)
	if lost := store.CannotBeRead(all.Broken); err == nil && len(lost) > 0 {
		err = lost[0].Err
	}
	sessions := slices.Clone(all.Sessions)
	slices.SortFunc(sessions, func(a, b workflow.Summary) int { return strings.Compare(a.SessionID, b.SessionID) })
	return sessions, err
}

// bringSession brings one session.
func (o *Outcome) bringSession(ctx context.Context, into store.Carrier, p store.Parcel) error {
	theirs, err := store.Decode(p.Session, store.SessionPath(p.ID))
	if err != nil {
		return err
	}
	have, err := into.Stored(ctx, p.ID)
	switch {
	case fault.Is(err, fault.NotFound):
		if err = into.Bring(ctx, p, ""); fault.Is(err, fault.Conflict) {
			return o.bringAs(ctx, into, p, p.ID, &o.Renamed)
		}
		if err == nil {
			o.New++
		}
		return err
	case err != nil:
		return err
	}
	ours, err := store.Decode(have, store.SessionPath(p.ID))
	if err != nil {
		return err
	}
	if theirs.TaskName != ours.TaskName { // it was renamed when it was brought
		theirs.TaskName = ours.TaskName
		if p.Session, err = store.Encode(theirs); err != nil {
			return err
		}
	}
	switch {
	case bytes.Equal(have, p.Session):
		o.Same++
		return nil
	case isContinuationOf(theirs, ours):
		if err = into.Bring(ctx, p, workflow.Hash(have)); err == nil {
			o.Longer++
		}
		return err
	case isContinuationOf(ours, theirs):
		o.Same++
		return nil
	}
	// The same fork has the same id, so a repetition finds it.
	id := uuid.NewSHA1(uuid.MustParse(p.ID), p.Session).String()
	if _, err := into.Stored(ctx, id); err == nil {
		o.Same++
		return nil
	}
	return o.bringAs(ctx, into, p, id, &o.Forked)
}

// isContinuationOf reports whether the history of a session begins with another's, and goes on; after signed
// entries with signed ones alone.
func isContinuationOf(s, other *workflow.Session) bool {
	n := len(other.History)
	if s.Revision <= other.Revision || n > len(s.History) || !reflect.DeepEqual(s.History[:n], other.History) {
		return false
	}
	signed := n > 0 && other.Last().Signature != ""
	return !signed || s.IsSignedFrom(n)
}

// bringAs brings a session under a free task name, and another id if it is one.
func (o *Outcome) bringAs(ctx context.Context, into store.Carrier, p store.Parcel, id string, count *int) error {
	old, renewed := []byte(p.ID), []byte(id)
	s, err := store.Decode(bytes.ReplaceAll(p.Session, old, renewed), store.SessionPath(id))
	if err != nil {
		return err
	}
	names, err := into.TaskNames(ctx)
	if err != nil {
		return err
	}
	base := s.TaskName
	for n := 2; slices.Contains(names, s.TaskName); n++ {
		s.TaskName = fmt.Sprintf("%s-%d", base, n)
	}
	if id != p.ID {
		if s.Extra == nil {
			s.Extra = workflow.Extra{}
		}
		s.Extra["forked_from"] = json.RawMessage(`"` + p.ID + `"`)
	}
	out := store.Parcel{ID: id, Texts: map[string][]byte{}}
	if out.Session, err = store.Encode(s); err != nil {
		return err
	}
	for path, text := range p.Texts {
		out.Texts[string(bytes.ReplaceAll([]byte(path), old, renewed))] = text
	}
	if err = into.Bring(ctx, out, ""); err == nil {
		*count++
	}
	return err
}
