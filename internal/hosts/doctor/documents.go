package doctor

import (
	"cmp"
	"context"
	"path"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// bySession has the defects of each faulty session.
type bySession []sessionDefects

type sessionDefects struct {
	created time.Time
	id      string
	items   []Defect
}

// addDefect adds a defect of the session under visit.
func (b *bySession) addDefect(s *workflow.Session, place, what string) {
	if n := len(*b); n == 0 || (*b)[n-1].id != s.SessionID {
		*b = append(*b, sessionDefects{created: s.CreatedAt, id: s.SessionID})
	}
	last := &(*b)[len(*b)-1]
	last.items = append(last.items, Defect{place, what})
}

// allItems returns all defects, the oldest session's first.
func (b bySession) allItems() []Defect {
	slices.SortStableFunc(b, func(x, y sessionDefects) int {
		return cmp.Or(x.created.Compare(y.created), cmp.Compare(x.id, y.id))
	})
	var out []Defect
	for _, of := range b {
		out = append(out, of.items...)
	}
	return out
}

// textsCheck checks every reference by size and hash. A missing text is a problem; an edited one
// is the person's.
type textsCheck struct {
	*ProjectFiles

	count, missing, edited int
	found                  bySession
	// elsewhere has the references to texts of other sessions, which may refer to them too.
	elsewhere []reference
}

func (c *textsCheck) visit(s *workflow.Session, refs []reference) {
	seen := map[string]bool{}
	for _, ref := range refs {
		if seen[ref.path] {
			continue
		}
		seen[ref.path] = true
		if !ref.isOwn(s) {
			c.elsewhere = append(c.elsewhere, ref)
		} else if what := c.checkText(ref); what != "" {
			c.found.addDefect(s, ref.path, what)
		}
	}
}

// checkText checks one text, and returns the problem, or "".
func (c *textsCheck) checkText(ref reference) string {
	c.count++
	data, err := c.dir.ReadFile(ref.path, durable.TextLimit(ref.size))
	switch {
	case err != nil:
		c.missing++
		return c.Say("%s refers to it: %s", ref.from, c.causeOf(err))
	case ref.sum != "" && workflow.Hash(data) != ref.sum, ref.sum == "" && ref.size > 0 && int64(len(data)) != ref.size:
		c.edited++
	}
	return ""
}

func (c *textsCheck) result(ctx context.Context) Check {
	out := Check{Group: OfProject, Name: "contents", Status: OK, Items: c.found.allItems()}
	seen := map[string]bool{}
	for _, ref := range c.elsewhere {
		if seen[ref.path] || c.seenWithOwner(ctx, ref) {
			continue
		}
		seen[ref.path] = true
		if what := c.checkText(ref); what != "" {
			out.Items = append(out.Items, Defect{ref.path, what})
		}
	}
	out.Detail = c.Say("%d referred to, %d missing, %d edited since", c.count, c.missing, c.edited)
	if c.missing+c.edited == 0 {
		out.Detail = c.Say("%d referred to, all as they were submitted", c.count)
	}
	if c.missing > 0 {
		out.Status, out.Remedy = Problem, c.Say("restore the file from a backup or from %s; "+
			"or send the document back (confirm or approve with false, or reopen its stage) and submit it again", Trash)
	}
	return out
}

// seenWithOwner reports whether the session in whose folder a text lies refers to it too.
func (c *textsCheck) seenWithOwner(ctx context.Context, ref reference) bool {
	owner, err := c.store.Get(ctx, path.Base(path.Dir(ref.path)))
	return err == nil && refersTo(owner, ref.path)
}

// artifactsCheck checks the saved documents.
type artifactsCheck struct {
	*ProjectFiles

	saved, modified int
	missing         bySession
	// lost counts the missing ones whose text is gone, too.
	lost int
}

func (c *artifactsCheck) visit(s *workflow.Session, _ []reference) {
	for _, st := range s.Definition().Stages {
		a := s.Record(st.ID).Artifact
		if a == nil {
			continue
		}
		c.saved++
		switch missing, modified := artifact.Compare(c.dir, *a); {
		case missing && s.Branch != "": // it is on that branch
		case missing:
			if s.Accepted(workflow.Alteration{Stage: st.ID, Path: a.Path, Missing: true}, workflow.Verification{}) {
				continue
			}
			c.missing.addDefect(s, a.Path, c.Say("%s saved it, and it is not there any more", s.TaskName))
			if _, ok := c.textOf(a); !ok {
				c.lost++
			}
		case modified:
			c.modified++
		}
	}
}

func (c *artifactsCheck) result() Check {
	out := Check{Group: OfProject, Name: "artifacts", Status: OK, Items: c.missing.allItems()}
	out.Detail = c.Say("%d saved, %d modified since", c.saved, c.modified)
	if n := len(out.Items); n > 0 {
		out.Detail = c.Say("%d saved, %d modified since, %d missing", c.saved, c.modified, n)
		out.Status, out.Remedy, out.Fixable = Problem, fixRemedy, c.lost == 0
		if c.lost > 0 {
			out.Remedy = c.Say("restore it from version control, or reopen its stage")
		}
	}
	return out
}

// textOf returns the text of an artifact as it was saved.
func (p *ProjectFiles) textOf(a *workflow.Artifact) (text string, ok bool) {
	if a.Text == nil {
		return "", false
	}
	text, err := p.store.Read(context.Background(), *a.Text)
	return text, err == nil && workflow.Hash([]byte(text)) == a.SHA256
}

// artifactsFix writes the missing saved documents.
type artifactsFix struct {
	*ProjectFiles
	done []string
	err  error
}

func (f *artifactsFix) visit(s *workflow.Session, _ []reference) {
	if s.Branch != "" || f.Counts != nil && !f.Counts(s.SessionID) {
		return
	}
	for _, st := range s.Definition().Stages {
		a := s.Record(st.ID).Artifact
		file, err := artifact.Saved(s.TaskName, st.Artifact)
		if a == nil || err != nil || a.Path != file.Path() || s.Accepted(workflow.Alteration{Stage: st.ID, Path: a.Path, Missing: true}, workflow.Verification{}) {
			continue
		}
		if missing, _ := artifact.Compare(f.dir, *a); !missing {
			continue
		}
		if text, ok := f.textOf(a); ok {
			if _, err := artifact.Save(f.dir, file, *a, text, ""); err != nil {
				f.err = err
				continue
			}
			f.done = append(f.done, f.Say("wrote %s again", a.Path))
		}
	}
}
