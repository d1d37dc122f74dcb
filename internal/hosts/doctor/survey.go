package doctor

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// inventory is the content of a project. A project of years has more sessions than memory should
// hold, so it keeps only a summary of each, and of their texts only the unusual ones.
type inventory struct {
	sessions []workflow.Summary
	broken   []store.Broken
	// loose are the texts below temp/ without a reference in their own session.
	loose []loose
	// elsewhere are the texts of other sessions among references, submissions the submissions of these texts.
	elsewhere, submissions map[string]bool
	// temporary are files of unfinished writes.
	temporary []string
	// unreadable are folders and files that could not be looked at.
	unreadable []Defect
}

// loose is a text without a reference in its own session.
type loose struct {
	name string
	size int64
	// submitted is true if the session refers to another text of the same submission.
	submitted bool
}

const textFolder = store.Folder + "/temp"

// visitor looks at each session of an inventory, and at the references in it.
type visitor func(s *workflow.Session, refs []reference)

// takeInventory reads each session once, and holds one at a time.
func (p *ProjectFiles) takeInventory(ctx context.Context, visitors ...visitor) (v *inventory, err error) {
	v = &inventory{elsewhere: map[string]bool{}, submissions: map[string]bool{}}
	walked := map[string]bool{} // folders of texts
	v.broken, err = p.store.Each(ctx, func(s *workflow.Session) error {
		refs := referencesOf(s)
		for _, visit := range visitors {
			visit(s, refs)
		}
		v.sessions = append(v.sessions, s.Summary())
		walked[store.ContentFolder(s.SessionID)] = true
		return p.addTexts(ctx, v, s, refs)
	})
	store.SortByAge(v.sessions)
	for _, root := range []string{store.Folder, artifact.Folder} {
		if err == nil {
			err = p.walkFolder(ctx, v, root, walked, func(name string, size int64) { v.loose = append(v.loose, loose{name: name, size: size}) })
		}
	}
	slices.Sort(v.temporary)
	slices.SortFunc(v.loose, func(a, b loose) int { return strings.Compare(a.name, b.name) })
	return v, err
}

// addTexts adds the texts in a session's folder without a reference in it, and the session's texts in other
// folders.
func (p *ProjectFiles) addTexts(ctx context.Context, v *inventory, s *workflow.Session, refs []reference) error {
	known, submitted := map[string]bool{}, map[string]bool{}
	for _, ref := range refs {
		known[ref.path], submitted[submissionOf(ref.path)] = true, true
		if !ref.isOwn(s) {
			v.elsewhere[ref.path], v.submissions[submissionOf(ref.path)] = true, true
		}
	}
	return p.walkFolder(ctx, v, store.ContentFolder(s.SessionID), nil, func(name string, size int64) {
		if !known[name] {
			v.loose = append(v.loose, loose{name, size, submitted[submissionOf(name)]})
		}
	})
}

// walkFolder adds the temporary and unreadable files below a folder, except in folders walked before, and calls
// found for each text.
func (p *ProjectFiles) walkFolder(ctx context.Context, v *inventory, root string, walked map[string]bool, found func(name string, size int64)) error {
	return fs.WalkDir(p.dir.Tree(), root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // never made, or gone while we looked
		case err != nil:
			v.unreadable = append(v.unreadable, Defect{name, p.causeOf(err)})
			return nil
		case d.IsDir() && (name == Trash || walked[name]):
			return fs.SkipDir
		case d.IsDir():
			return ctx.Err()
		}
		if _, ok := durable.IsTemp(path.Base(name)); ok {
			v.temporary = append(v.temporary, name)
		} else if strings.HasPrefix(name, textFolder+"/") {
			if info, err := d.Info(); err == nil {
				found(name, info.Size())
			}
		}
		return nil
	})
}

// reference is a reference of a session to a text.
type reference struct {
	from string // for example "build-x, po submission 2"
	path string
	size int64 // 0 if not recorded
	sum  string
}

// isOwn reports whether the text lies in the folder of the session with the reference.
func (r reference) isOwn(s *workflow.Session) bool {
	return strings.HasPrefix(r.path, store.ContentFolder(s.SessionID)+"/")
}

// refersTo reports whether a session refers to a text.
func refersTo(s *workflow.Session, name string) bool {
	return slices.ContainsFunc(referencesOf(s), func(ref reference) bool { return ref.path == name })
}

// referencesOf lists the texts of a session, in the stages and the history.
func referencesOf(s *workflow.Session) []reference {
	var out []reference
	for _, st := range s.Definition().Stages {
		for _, ref := range s.Record(st.ID).Refs() {
			out = append(out, reference{s.TaskName + ", " + string(st.ID), path.Clean(ref.FilePath), ref.Size, ref.SHA256})
		}
	}
	for _, st := range s.Definition().Stages {
		if a := s.Record(st.ID).Artifact; a != nil && a.Text != nil {
			out = append(out, reference{s.TaskName + ", the artifact of " + string(st.ID), path.Clean(a.Text.FilePath), a.Text.Size, a.Text.SHA256})
		}
	}
	for _, e := range s.History {
		if e.Path != "" {
			out = append(out, reference{s.TaskName + ", history", path.Clean(e.Path), 0, e.SHA256})
		}
		if e.Kept != "" {
			out = append(out, reference{s.TaskName + ", edits of a draft", path.Clean(e.Kept), 0, ""})
		}
	}
	return out
}

// unusedTexts returns the texts without a reference in any stage or history entry. If a session cannot be read,
// there are none, because it may refer to any of them.
func (v *inventory) unusedTexts() []loose {
	if len(v.broken) > 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.loose), func(text loose) bool { return v.elsewhere[text.name] })
}

// orphanTexts returns the unused texts without an owner. A text handed in by an engine belongs to its
// submission in the history, even if only the latest text is in use.
func (v *inventory) orphanTexts() []string {
	var out []string
	for _, text := range v.unusedTexts() {
		if !text.submitted && !v.submissions[submissionOf(text.name)] {
			out = append(out, text.name)
		}
	}
	return out
}

// submissionOf returns the common prefix of the texts of one submission: folder, stage and time.
func submissionOf(name string) string {
	stage, rest, _ := strings.Cut(path.Base(name), "_")
	at := rest[strings.LastIndexByte(rest, '_')+1:]
	return path.Dir(name) + " " + stage + " " + at
}

// temporaryLeftovers returns the temporary files of unfinished writes. If a session cannot be read, it leaves
// out files beside artifacts, because their lock is unknown.
func (v *inventory) temporaryLeftovers() []string {
	return slices.DeleteFunc(slices.Clone(v.temporary), func(name string) bool {
		return len(v.broken) > 0 && strings.HasPrefix(name, artifact.Folder+"/")
	})
}

// sessionID returns the id in the name of a session file.
func sessionID(file string) string {
	return strings.TrimSuffix(strings.TrimPrefix(path.Base(file), "session-"), ".json")
}

// causeOf returns an error of the disk without the path, which is printed beside it.
func (p *ProjectFiles) causeOf(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return lang.Of(err).In(p.Language)
}
