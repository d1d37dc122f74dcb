package engine

import (
	"context"
	"log/slog"
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
	// The session was checked with signer and known, and left are the folders that it was
	// in before.
	signer workflow.Signer
	known  workflow.Known
	left   []string
	// reserved is nil unless a change is certain to be recorded.
	reserved *trust.Reservation
}

func (k *keeper) of(p *project.Project, id string) *check {
	return &check{keeper: k, project: p, id: id}
}

func (c *check) get(ctx context.Context) (*workflow.Session, error) {
	signer := c.keeper.readSigner()
	recorded := c.checkpoint(signer)
	s, err := c.project.Backend.Get(ctx, c.id)
	if err == nil {
		c.inspect(s, signer, recorded)
	}
	return s, err
}

// again checks the session that is now locked, unless neither it nor its record has changed
// since it was checked before.
func (c *check) again(ctx context.Context, s, before *workflow.Session) {
	signer := c.keeper.signer(ctx)
	recorded := c.checkpoint(signer)
	if keyOf(signer) != keyOf(c.signer) || recorded == nil || !reflect.DeepEqual(recorded, c.known.Checkpoint) || !reflect.DeepEqual(s, before) {
		c.inspect(s, signer, recorded)
	}
}

// signing is called before the locked session is changed; the function it returns signs it
// afterwards.
func (c *check) signing(ctx context.Context, s *workflow.Session) func() error {
	sign := s.Signing(c.signer, c.found)
	return func() error {
		named := ""
		if c.found.Changed() {
			c.raise(s)
		} else {
			named = s.Project()
		}
		return sign(c.keeper.projectID(ctx, c.project, c.signer, named))
	}
}

// mayWrite reports whether files of the session may be written into the checkout without a step of it: not if it was
// changed, if nobody has signed what it rests on, or if a policy that promises a person has it stopped.
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

// raise has a session go on from the revision on record: a revision is never given twice, not
// even after an older file was put back. One far beyond is an edit, after which no step would have a number.
func (c *check) raise(s *workflow.Session) {
	least := len(s.History)
	if c.known.Checkpoint != nil {
		least = max(least, c.known.Checkpoint.Revision)
	}
	if s.Revision < least || s.Revision > least+maxAhead {
		s.Revision = least
	}
}

// maxAhead is how far the revision of a session that was changed can be beyond the record of it, by steps of others.
const maxAhead = 10_000

// adopt accepts the session as it was found, if it is still the one of before, and with it
// approved texts as they are, which texts returns and which have to be the given ones, and the rules of the settings.
// note begins the entry in the history.
func (c *check) adopt(
	ctx context.Context, before *workflow.Session, note workflow.Transition, altered []workflow.Alteration, rules map[workflow.StageID]workflow.Policy,
	texts func(*workflow.Session) []workflow.Alteration,
) (*workflow.Session, error) {
	signer, err := c.keeper.records.Signer(ctx) // without a signature the acceptance would not count
	if err != nil {
		return nil, err
	}
	defer c.release()
	after, err := c.project.Backend.Update(ctx, c.id, func(_ store.Tx, s *workflow.Session) error {
		now := c.look(s, signer, c.checkpoint(signer))
		if !reflect.DeepEqual(s, before) || !reflect.DeepEqual(texts(s), altered) {
			return fault.New(fault.Conflict, "the run was changed once more while you decided").WithHint("look at it again: repeat the command")
		}
		if err := c.reserve(ctx); err != nil {
			return err
		}
		c.raise(s)
		now.Altered = altered
		s.UpdatedAt = note.At
		setPolicy(s, rules)
		return s.Adopt(signer, c.keeper.projectID(ctx, c.project, signer, ""), now, note)
	})
	if err == nil {
		c.found = c.look(after, signer, nil)
		c.record(ctx, after)
	}
	return after, err
}

// reserve makes sure, under a policy that promises a person, that the change of a locked session can be recorded: else
// somebody who keeps it from being recorded could put the session of before back. release ends that.
func (c *check) reserve(ctx context.Context) (err error) {
	if c.reserved == nil && c.strict && c.keeper.records != nil && c.keeper.signer(ctx) != nil {
		c.reserved, err = c.keeper.records.Reserve(ctx)
	}
	return err
}

func (c *check) release() {
	if c.reserved != nil {
		c.reserved.Release()
		c.reserved = nil
	}
}

// record records the session's present form outside the project. A failure must not fail
// the stored change: the session is then ahead of its record.
func (c *check) record(ctx context.Context, s *workflow.Session) {
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

// checkpoint returns this machine's record of the session, or nil. Read it before the session,
// unless that is locked: a change is recorded after it is stored, so a record that was read
// first is never ahead of the session.
func (c *check) checkpoint(signer workflow.Signer) *workflow.Checkpoint {
	if c.keeper.records == nil || signer == nil {
		return nil
	}
	if record, ok := c.keeper.records.Checkpoints(signer, c.project.Place(), c.id)[c.id]; ok {
		return &record
	}
	return nil
}

// inspect checks a session against its chain, its record and its folder.
func (c *check) inspect(s *workflow.Session, signer workflow.Signer, recorded *workflow.Checkpoint) {
	c.found, c.signer = c.look(s, signer, recorded), signer
	c.strict = c.needsPerson(s) || c.known.Strict() || workflow.PromisesPerson(c.found.Kept)
}

// look gathers the facts about a session, and says the problem, if there is one, in the
// language of its person.
func (c *check) look(s *workflow.Session, signer workflow.Signer, recorded *workflow.Checkpoint) workflow.Verification {
	c.known, c.left = c.keeper.gatherKnown(c.project, s, signer, recorded)
	c.known.Members, c.known.Rules = c.keeper.members(c.project, s, signer), policies(c.project.Config.Under(s.Definition()))
	c.known.MayFollow = func(d *workflow.Definition) bool { return c.keeper.mayFollow(c.project, d) }
	v := s.Verify(signer, &c.known)
	if v.Problem == "" {
		return v
	}
	return v.In(c.project.Language(s.Objective))
}

// gatherKnown gathers this machine's records of a session, which are not in its file, and the
// folders that the session has left.
func (k *keeper) gatherKnown(p *project.Project, s *workflow.Session, signer workflow.Signer, recorded *workflow.Checkpoint) (out workflow.Known, left []string) {
	out = workflow.Known{Checkpoint: recorded, Project: p.ID(), Shared: p.IsShared()}
	if k.records == nil || recorded != nil && (recorded.Foreign || s.Revision <= recorded.Revision) {
		return out, nil
	}
	for _, e := range k.records.Elsewhere(signer, p.Place(), p.Dir.Path(), s.SessionID, store.SessionPath(s.SessionID)) {
		ofClone := p.IsShared() && s.Project() == p.ID() && !e.Holds // noted for a clone, by an older program
		switch {
		case e.Same || ofClone: // by another path, for example that of a bind mount, or in other letters
			if left = append(left, e.Folder); out.Checkpoint == nil || e.Revision > out.Checkpoint.Revision {
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

// keeping returns a definition with the settings, whose gates keep the rules of a session that was checked, unless its
// person could not accept others.
func (k *keeper) keeping(settings *workflow.Definition, found workflow.Verification) *workflow.Definition {
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

// members returns those who have signed entries of a session and count in a project beside this machine: its person has
// said whose the keys are.
func (k *keeper) members(p *project.Project, s *workflow.Session, signer workflow.Signer) []workflow.Member {
	own := keyOf(signer)
	return k.allowed(p, slices.DeleteFunc(s.Signers(), func(m workflow.Member) bool { return m.Key == own }))
}

// allowed returns those of some members whose keys the person has allowed in a project.
func (k *keeper) allowed(p *project.Project, members []workflow.Member) (out []workflow.Member) {
	for _, m := range members {
		if k.records != nil && k.records.Allowed(permission.MemberOf(p.Dir.Path(), m)) {
			out = append(out, m)
		}
	}
	return out
}

// needsPerson reports whether a gate of the session requires the person's own act.
func (c *check) needsPerson(s *workflow.Session) bool {
	return s.Strict(c.project.Config.Under(s.Definition()).Stages)
}

// maxUnrecorded bounds the sessions without a record that a list verifies.
const maxUnrecorded = 200

// findChanged returns those of a project's sessions that were changed by other hands, by their
// ids. Of sessions without a record at most maxUnrecorded are verified, unless all are asked
// for.
func (k *keeper) findChanged(ctx context.Context, p *project.Project, sessions []workflow.Summary, all bool) map[string]workflow.Verification {
	if k.records == nil && !all {
		return nil
	}
	var unrecorded atomic.Int64
	out := map[string]workflow.Verification{}
	k.each(ctx, p, sessions, func(s *workflow.Summary, signer workflow.Signer, c *workflow.Checkpoint) (none workflow.Verification) {
		if c == nil && unrecorded.Add(1) > maxUnrecorded && !all {
			return workflow.Unchecked()
		}
		return k.compare(ctx, p, s.SessionID, signer, c, false)
	}, func(s *workflow.Summary, v workflow.Verification) {
		if v.Changed() || k.records != nil && !v.Sound() {
			out[s.SessionID] = v
		}
	})
	return out
}

// gone lists the sessions of a project that this machine has recorded and that are not stored any more.
func (k *keeper) gone(ctx context.Context, p *project.Project) (ids []string) {
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

// each looks at sessions and their records, some at the same time, and calls found with one result after the
// other, in any order.
func (k *keeper) each(
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

// atOnce is the number of sessions that are checked in one go.
const atOnce = 64

// compare checks a session against its record, if there is one, and its approved texts, if they are asked
// for. A file that is as it was recorded needs no other check of its history.
func (k *keeper) compare(ctx context.Context, p *project.Project, id string, signer workflow.Signer, c *workflow.Checkpoint, texts bool) (v workflow.Verification) {
	holds := k.records == nil
	if c != nil && c.Broken == 0 && c.File != "" && c.Head != "" && len(k.allowed(p, c.Members)) == len(c.Members) {
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
	if err != nil { // the list may show it all the same: it reads less of it
		return workflow.Unreadable(lang.Of(err))
	}
	check := k.of(p, id)
	if check.inspect(s, signer, c); !holds {
		v = check.found
	}
	if texts {
		v.Altered = documents.On(p).Altered(ctx, s, check.found)
	}
	return v
}

type vouchers interface {
	// Allowed reports whether the person has allowed something in a project.
	Allowed(a trust.Allowance) bool
	// Signer signs histories; ReadSigner is the same for checks, and nil if there is none.
	Signer(ctx context.Context) (workflow.Signer, error)
	ReadSigner() (workflow.Signer, error)
	// Checkpoints returns this machine's records of sessions of a project, by their
	// ids, or of all without ids, and Record keeps it, in place of those of places that the session has left.
	Checkpoints(signer workflow.Signer, project string, ids ...string) map[string]workflow.Checkpoint
	Record(ctx context.Context, signer workflow.Signer, project, id string, c workflow.Checkpoint, left ...string) error
	// Reserve keeps others from recording until its result is released.
	Reserve(ctx context.Context) (*trust.Reservation, error)
	// Elsewhere returns the records of a session, kept in a file, in other places than that of a project in a folder.
	Elsewhere(signer workflow.Signer, project, folder, id, file string) []workflow.Elsewhere
}

// keeper detects sessions that were changed by other hands, and signs our own changes. It has the key
// that histories are signed with, and this machine's records of sessions, which are kept outside of
// the projects, because anybody can edit a session's file. A session that was changed continues only
// if the policy permits it, until the person accepts it. It is safe for concurrent use.
type keeper struct {
	records vouchers // nil if nothing is signed or recorded
	log     *slog.Logger
	// mayFollow reports whether runs in a project may follow a workflow.
	mayFollow func(p *project.Project, d *workflow.Definition) bool

	signing sync.Mutex
	signs   workflow.Signer // once it was had
	reads   workflow.Signer // the same for checks

	unrecorded sync.Once // whether it was said that nothing can be recorded
}

// signer returns the signer of histories, or nil. A missing key must not keep people
// from their work: the check of the log reports that entries are not signed.
func (k *keeper) signer(ctx context.Context) workflow.Signer {
	signer, err := k.haveSigner(ctx)
	if err != nil {
		k.log.Warn("the history is not signed", "error", err)
	}
	return signer
}

// maySign refuses a step if the person's key does not sign under the settings that this program reads.
func (k *keeper) maySign(ctx context.Context) error {
	if _, err := k.haveSigner(ctx); fault.Is(err, fault.NotAllowed) {
		return err
	}
	return nil
}

func (k *keeper) haveSigner(ctx context.Context) (signer workflow.Signer, err error) {
	k.signing.Lock()
	defer k.signing.Unlock()
	if k.records != nil && k.signs == nil {
		k.signs, err = k.records.Signer(ctx)
	}
	return k.signs, err
}

// projectID returns the id of a project for its histories, and gives it one if it has none; known is the
// one by which its session is known. "" if nothing is signed, or the project cannot have one:
// the machine's record then says where the session is.
func (k *keeper) projectID(ctx context.Context, p *project.Project, signer workflow.Signer, known string) string {
	if signer == nil {
		return ""
	}
	id, err := p.EnsureID(context.WithoutCancel(ctx), known)
	if err != nil {
		k.log.Warn("the project has no id, so its histories do not name it", "project", p.Dir.Path(), "error", err)
	}
	return id
}

// readSigner returns the signer that histories were signed with, without creating a key; nil
// if there is none.
func (k *keeper) readSigner() workflow.Signer {
	k.signing.Lock()
	defer k.signing.Unlock()
	switch {
	case k.signs != nil:
		return k.signs
	case k.records == nil || k.reads != nil:
		return k.reads
	}
	signer, err := k.records.ReadSigner()
	if err != nil {
		k.log.Debug("histories are checked without the key", "error", err)
		return nil
	}
	k.reads = signer
	return signer
}
