package engine

import (
	"context"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// check is the check of one session for one call.
type check struct {
	// found is the result.
	found workflow.Verification
	// strict is true if a gate of the session takes only the person's own act.
	strict bool

	keeper  *keeper
	project *project.Project
	id      string
	// signer and known are the ones of the latest check, left the folders in which the session was before.
	signer workflow.Signer
	known  workflow.Known
	left   []string
	// reserved is nil unless a change is certain to be recorded.
	reserved *trust.Reservation
}

func (k *keeper) newCheck(p *project.Project, id string) *check {
	return &check{keeper: k, project: p, id: id}
}

func (c *check) readSession(ctx context.Context) (*workflow.Session, error) {
	signer := c.keeper.readSigner()
	recorded := c.readCheckpoint(signer)
	s, err := c.project.Backend.Get(ctx, c.id)
	if err == nil {
		c.inspect(s, signer, recorded)
	}
	return s, err
}

// checkLocked checks the locked session s, unless the session and the record are the same as at the check before.
func (c *check) checkLocked(ctx context.Context, s, before *workflow.Session) {
	signer := c.keeper.historySigner(ctx)
	recorded := c.readCheckpoint(signer)
	if keyOf(signer) != keyOf(c.signer) || recorded == nil || !reflect.DeepEqual(recorded, c.known.Checkpoint) || !reflect.DeepEqual(s, before) {
		c.inspect(s, signer, recorded)
	}
}

// prepareSignature is called before the locked session is changed; the returned function signs the change.
func (c *check) prepareSignature(ctx context.Context, s *workflow.Session) func() error {
	sign := s.Signing(c.signer, c.found)
	return func() error {
		named := ""
		if c.found.Changed() {
			c.raiseRevision(s)
		} else {
			named = s.Project()
		}
		return sign(c.keeper.projectID(ctx, c.project, c.signer, named))
	}
}

// mayWrite reports whether files of earlier steps may be written into the checkout. They may not if the session was
// changed or its basis is unsigned, or while a policy that promises a person stops it.
func (c *check) mayWrite() bool {
	switch {
	case c.found.Changed():
		return false
	case c.keeper.records == nil: // nothing is signed here
		return true
	case c.found.Unsigned:
		return false
	}
	return !c.strict || c.found.Sound()
}

// raiseRevision has a session go on from the revision on record: a revision is never given twice, not
// even after an older file was put back. One far beyond is an edit, after which no step would have a number.
func (c *check) raiseRevision(s *workflow.Session) {
	least := len(s.History)
	if c.known.Checkpoint != nil {
		least = max(least, c.known.Checkpoint.Revision)
	}
	if s.Revision < least || s.Revision > least+maxAhead {
		s.Revision = least
	}
}

// maxAhead is how far the revision of a changed session can be beyond the record, by steps of others.
const maxAhead = 10_000

// adopt accepts the session as found, the altered approved texts, and the rules of the settings, if the session is
// still before and texts still returns altered. note has the first fields of the entry in the history.
func (c *check) adopt(
	ctx context.Context, before *workflow.Session, note workflow.Transition, altered []workflow.Alteration, rules map[workflow.StageID]workflow.Policy,
	texts func(*workflow.Session) []workflow.Alteration,
) (*workflow.Session, error) {
	signer, err := c.keeper.records.Signer(ctx) // without a signature the acceptance would not count
	if err != nil {
		return nil, err
	}
	defer c.releaseRecord()
	after, err := c.project.Backend.Update(ctx, c.id, func(_ store.Tx, s *workflow.Session) error {
		now := c.verifySession(s, signer, c.readCheckpoint(signer))
		if !reflect.DeepEqual(s, before) || !reflect.DeepEqual(texts(s), altered) {
			return fault.New(fault.Conflict, "the run was changed once more while you decided").WithHint("look at it again: repeat the command")
		}
		if err := c.reserveRecord(ctx); err != nil {
			return err
		}
		c.raiseRevision(s)
		now.Altered = altered
		s.UpdatedAt = note.At
		setPolicy(s, rules)
		return s.Adopt(signer, c.keeper.projectID(ctx, c.project, signer, ""), now, note)
	})
	if err == nil {
		c.found = c.verifySession(after, signer, nil)
		c.recordSession(ctx, after)
	}
	return after, err
}

// reserveRecord ensures, under a policy that promises a person, that the change of a locked session can be recorded:
// anyone able to prevent the record could put the earlier session back. releaseRecord ends the reservation.
func (c *check) reserveRecord(ctx context.Context) (err error) {
	if c.reserved == nil && c.strict && c.keeper.records != nil && c.keeper.historySigner(ctx) != nil {
		c.reserved, err = c.keeper.records.Reserve(ctx)
	}
	return err
}

func (c *check) releaseRecord() {
	if c.reserved != nil {
		c.reserved.Release()
		c.reserved = nil
	}
}

// recordSession records the session's present form outside the project. A failure must not fail the stored change:
// the session is then ahead of the record.
func (c *check) recordSession(ctx context.Context, s *workflow.Session) {
	signer := c.keeper.readSigner()
	if c.keeper.records == nil || signer == nil {
		return
	}
	record, ok := s.Checkpoint(c.found)
	if !ok {
		return
	}
	if data, err := store.Encode(s); err == nil {
		record.File = workflow.Hash(data)
	}
	record.Strict = c.needsPerson(s)
	var err error
	if c.reserved != nil {
		err = c.reserved.Record(signer, c.project.Place(), s.SessionID, record, c.left...)
	} else {
		err = c.keeper.records.Record(context.WithoutCancel(ctx), signer, c.project.Place(), s.SessionID, record, c.left...)
	}
	if err != nil {
		c.keeper.unrecorded.Do(func() { c.keeper.log.Warn("sessions are not recorded", "error", err) })
	}
}

func (c *check) judgeHistory() workflow.Verification {
	v := c.found
	if c.keeper.records == nil {
		v.Unvouched = nil // nothing is signed here
	}
	return v
}

// readCheckpoint returns this machine's record of the session, or nil. Read it before the session, unless the
// session is locked: a change is recorded after it is stored, so the record is then never ahead of the session.
func (c *check) readCheckpoint(signer workflow.Signer) *workflow.Checkpoint {
	if c.keeper.records == nil || signer == nil {
		return nil
	}
	if record, ok := c.keeper.records.Checkpoints(signer, c.project.Place(), c.id)[c.id]; ok {
		return &record
	}
	return nil
}

// inspect checks a session against the history, the record and the folder.
func (c *check) inspect(s *workflow.Session, signer workflow.Signer, recorded *workflow.Checkpoint) {
	c.found, c.signer = c.verifySession(s, signer, recorded), signer
	c.strict = c.needsPerson(s) || c.known.Strict() || workflow.PromisesPerson(c.found.Kept)
}

// verifySession gathers the facts about a session and returns the result of the check, with the problem in the
// person's language.
func (c *check) verifySession(s *workflow.Session, signer workflow.Signer, recorded *workflow.Checkpoint) workflow.Verification {
	c.known, c.left = c.keeper.gatherKnown(c.project, s, signer, recorded)
	c.known.Members, c.known.Rules = c.keeper.allowedSigners(c.project, s, signer), policiesOf(c.project.Config.Under(s.Definition()))
	c.known.MayFollow = func(d *workflow.Definition) bool { return c.keeper.mayFollow(c.project, d) }
	v := s.Verify(signer, &c.known)
	if v.Problem == "" {
		return v
	}
	return v.In(c.project.Language(s.Objective))
}

// gatherKnown gathers this machine's records of a session, which are outside of the session's file, and the
// folders left by the session.
func (k *keeper) gatherKnown(p *project.Project, s *workflow.Session, signer workflow.Signer, recorded *workflow.Checkpoint) (out workflow.Known, left []string) {
	out = workflow.Known{Checkpoint: recorded, Project: p.ID(), Shared: p.IsShared()}
	if k.records == nil {
		return out, nil
	}
	if recorded != nil && recorded.Foreign {
		return out, nil
	}
	if recorded != nil && s.Revision <= recorded.Revision {
		return out, nil
	}
	for _, e := range k.records.Elsewhere(signer, p.Place(), p.Home.Path(), s.SessionID, store.SessionPath(s.SessionID)) {
		ofClone := p.IsShared() && s.Project() == p.ID() && !e.Holds // noted for a clone, by an older program
		switch {
		case e.Same || ofClone: // by another path, for example through a bind mount, or in other letters
			left = append(left, e.Folder)
			if out.Checkpoint == nil || e.Revision > out.Checkpoint.Revision {
				out.Checkpoint = &e.Checkpoint
			}
			continue
		case !e.Holds:
			left = append(left, e.Folder)
		}
		out.Elsewhere = append(out.Elsewhere, e)
	}
	return out, left
}

// withKeptRules returns the definition with the settings, but with the kept rules of a checked session at the
// gates, unless the person could not accept others.
func (k *keeper) withKeptRules(settings *workflow.Definition, found workflow.Verification) *workflow.Definition {
	if k.records == nil {
		return settings
	}
	return settings.Keeping(found.Kept)
}

// keyOf returns the key of a signer; "" if there is none.
func keyOf(signer workflow.Signer) signature.Key {
	if signer == nil {
		return ""
	}
	return signer.Public()
}

// allowedSigners returns the other signers of a session's entries whose keys the person has allowed in the
// project.
func (k *keeper) allowedSigners(p *project.Project, s *workflow.Session, signer workflow.Signer) []workflow.Member {
	own := keyOf(signer)
	return k.allowedMembers(p, slices.DeleteFunc(s.Signers(), func(m workflow.Member) bool { return m.Key == own }))
}

// allowedMembers returns the members whose keys the person has allowed in a project.
func (k *keeper) allowedMembers(p *project.Project, members []workflow.Member) (out []workflow.Member) {
	for _, m := range members {
		if k.records != nil && k.records.Allowed(permission.MemberOf(p.AllowedAs(), m)) {
			out = append(out, m)
		}
	}
	return out
}

// needsPerson reports whether a gate of the session requires the person's own act.
func (c *check) needsPerson(s *workflow.Session) bool {
	return s.Strict(c.project.Config.Under(s.Definition()).Stages)
}

// maxUnrecorded bounds the sessions without a record verified for one list, and those whose texts are read for it.
const maxUnrecorded = 200

// findChanged returns the sessions of a project changed by other hands, and active ones with a changed approved text,
// by their ids. It verifies at most maxUnrecorded sessions without a record, or all of them if all is set, and reads
// the texts of at most maxUnrecorded.
func (k *keeper) findChanged(ctx context.Context, p *project.Project, sessions []workflow.Summary, all bool) map[string]workflow.Verification {
	if k.records == nil && !all {
		return nil
	}
	var unrecorded, read atomic.Int64
	out := map[string]workflow.Verification{}
	k.checkEach(ctx, p, sessions, func(s *workflow.Summary, signer workflow.Signer, c *workflow.Checkpoint) (none workflow.Verification) {
		if c == nil && unrecorded.Add(1) > maxUnrecorded && !all {
			return workflow.Unchecked()
		}
		return k.checkStored(ctx, p, s.SessionID, signer, c, s.CurrentState.Active() && read.Add(1) <= maxUnrecorded)
	}, func(s *workflow.Summary, v workflow.Verification) {
		isDoubtful := k.records != nil && !v.Sound()
		if v.Changed() || isDoubtful || len(v.Altered) > 0 {
			out[s.SessionID] = v
		}
	})
	return out
}

// missingSessions lists the recorded sessions of a project without a stored file.
func (k *keeper) missingSessions(ctx context.Context, p *project.Project) (ids []string) {
	if k.records == nil {
		return nil
	}
	for id := range k.records.Checkpoints(k.readSigner(), p.Place()) {
		if _, err := p.Backend.StoredHash(ctx, id); fault.Is(err, fault.NotFound) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// checkEach looks at sessions and their records, some at the same time, and calls found with one result after the
// other, in any order.
func (k *keeper) checkEach(
	ctx context.Context, p *project.Project, sessions []workflow.Summary,
	look func(*workflow.Summary, workflow.Signer, *workflow.Checkpoint) workflow.Verification, found func(*workflow.Summary, workflow.Verification),
) {
	signer := k.readSigner()
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0)) // reading is most of the work
	for part := range slices.Chunk(sessions, atOnce) {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			ids := make([]string, len(part))
			for i, s := range part {
				ids[i] = s.SessionID
			}
			var recorded map[string]workflow.Checkpoint
			if k.records != nil {
				recorded = k.records.Checkpoints(signer, p.Place(), ids...)
			}
			for i := range part {
				s := &part[i]
				if ctx.Err() != nil {
					return
				}
				var record *workflow.Checkpoint
				if c, ok := recorded[s.SessionID]; ok {
					record = &c
				}
				v := look(s, signer, record)
				mu.Lock()
				found(s, v)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// atOnce is the number of sessions checked in one go.
const atOnce = 64

// checkStored checks a session against the record, if there is one, and the approved texts, if texts is set. If
// the file is as recorded, the history needs no other check.
func (k *keeper) checkStored(ctx context.Context, p *project.Project, id string, signer workflow.Signer, c *workflow.Checkpoint, texts bool) (v workflow.Verification) {
	holds := k.records == nil
	if c != nil && c.Broken == 0 && c.File != "" && c.Head != "" && len(k.allowedMembers(p, c.Members)) == len(c.Members) {
		sum, err := p.Backend.StoredHash(ctx, id)
		holds = err == nil && sum == c.File
	}
	if holds && !texts {
		return v
	}
	data, err := p.Backend.Stored(ctx, id)
	if err != nil {
		return v // deleted since, or the list names its problem
	}
	s, err := store.Decode(data, store.SessionPath(id))
	if err == nil {
		err = store.CheckID(s.SessionID, id)
	}
	if err != nil { // a list can still show the session, since it reads less
		return workflow.Unreadable(lang.Of(err))
	}
	nobody := workflow.Verification{Unvouched: []workflow.Span{{From: 1, To: len(s.History)}}}
	if holds && len(documents.On(p).Altered(ctx, s, nobody)) == 0 { // not even if no adoption counted
		return v
	}
	check := k.newCheck(p, id)
	check.inspect(s, signer, c)
	if !holds {
		v = check.found
	}
	if texts {
		v.Altered = documents.On(p).Altered(ctx, s, check.found)
	}
	return v
}
