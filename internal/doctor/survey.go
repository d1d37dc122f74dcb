package doctor

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// inventory is the content of a project, read once.
type inventory struct {
	sessions []*workflow.Session
	broken   []store.Broken
	// texts are the files below temp/, with their sizes.
	texts map[string]int64
	// temporary are files of writes that are unfinished or under way.
	temporary []string
	// unreadable are folders and files that could not be looked at.
	unreadable []Defect
}

const textFolder = store.Folder + "/temp"

func (p *ProjectFiles) takeInventory(ctx context.Context) (*inventory, error) {
	v := &inventory{texts: map[string]int64{}}
	list, broken, err := p.store.All(ctx)
	if err != nil {
		return nil, err
	}
	v.broken = broken
	for _, short := range list {
		s, err := p.store.Get(ctx, short.SessionID)
		if err != nil { // broken since, or gone
			v.broken = append(v.broken, store.Broken{Path: store.SessionPath(short.SessionID), Err: err})
			continue
		}
		v.sessions = append(v.sessions, s)
	}
	for _, root := range []string{store.Folder, artifact.Folder} {
		err := fs.WalkDir(p.dir.Tree(), root, func(name string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil // never made, or gone while we looked
			case err != nil:
				v.unreadable = append(v.unreadable, Defect{name, p.cause(err)})
				return nil
			case d.IsDir() && name == Trash:
				return fs.SkipDir
			case d.IsDir():
				return ctx.Err()
			}
			if _, ok := durable.IsTemp(path.Base(name)); ok {
				v.temporary = append(v.temporary, name)
			} else if strings.HasPrefix(name, textFolder+"/") {
				if info, err := d.Info(); err == nil {
					v.texts[name] = info.Size()
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// reference is where a session refers to a text.
type reference struct {
	from string // such as "build-x, po submission 2"
	path string
	size int64 // 0 if not recorded
	sum  string
}

// refersTo reports whether a session refers to a text.
func refersTo(s *workflow.Session, name string) bool {
	return slices.ContainsFunc(references(s), func(ref reference) bool { return ref.path == name })
}

// references lists the texts a session refers to, in its stages and its history.
func references(s *workflow.Session) []reference {
	var out []reference
	for _, st := range s.Definition().Stages {
		for _, ref := range s.Record(st.ID).Refs() {
			out = append(out, reference{s.TaskName + ", " + string(st.ID), path.Clean(ref.FilePath), ref.Size, ref.SHA256})
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

// unreferred returns the texts that no stage and no history entry refers to. While a
// session cannot be read there are none: it may refer to any of them.
func (v *inventory) unreferred() []string {
	if len(v.broken) > 0 {
		return nil
	}
	known := map[string]bool{}
	for _, s := range v.sessions {
		for _, ref := range references(s) {
			known[ref.path] = true
		}
	}
	var out []string
	for name := range v.texts {
		if !known[name] {
			out = append(out, name)
		}
	}
	return sortList(out)
}

// orphans returns those of them that belong to nobody. A text that an engine handed in belongs to
// its submission in the history, even if only the latest is referred to.
func (v *inventory) orphans() []string {
	submissions := map[string]bool{}
	for _, s := range v.sessions {
		for _, ref := range references(s) {
			submissions[submission(ref.path)] = true
		}
	}
	return slices.DeleteFunc(v.unreferred(), func(name string) bool { return submissions[submission(name)] })
}

// submission returns the common prefix of the texts of one submission: folder, stage and time.
func submission(name string) string {
	stage, rest, _ := strings.Cut(path.Base(name), "_")
	at := rest[strings.LastIndexByte(rest, '_')+1:]
	return path.Dir(name) + " " + stage + " " + at
}

// leftovers returns the temporary files of writes that are unfinished or under way. While a session
// cannot be read, those beside artifacts are left alone, since their lock is unknown.
func (v *inventory) leftovers() []string {
	return slices.DeleteFunc(slices.Clone(v.temporary), func(name string) bool {
		return len(v.broken) > 0 && strings.HasPrefix(name, artifact.Folder+"/")
	})
}

// sessionID returns the id in the name of a session file.
func sessionID(file string) string {
	return strings.TrimSuffix(strings.TrimPrefix(path.Base(file), "session-"), ".json")
}

// cause is an error of the disk without the path, which is printed beside it.
func (p *ProjectFiles) cause(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return lang.Of(err).In(p.Language)
}
