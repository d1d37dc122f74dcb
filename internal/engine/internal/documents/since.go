package documents

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/changes"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// The bounds of the named files: their number, and the bytes of each and of all.
const (
	maxNamed      = 40
	maxNamedBytes = 1 << 20
	maxNamedTotal = 16 << 20
)

// NamedIn returns the files named by the document of a step, with the beginning of the hash of each. It reads them
// through the project's folder, which nothing outside is behind, and asks no git: a changed file may be uncommitted.
func (d *Disk) NamedIn(ctx context.Context, e workflow.Transition) map[string]string {
	text, err := d.readText(ctx, workflow.ContentRef{FilePath: e.Path, SHA256: e.SHA256})
	if err != nil {
		return nil // nothing is said about it later
	}
	out, total := map[string]string{}, 0
	for _, name := range namesIn(d.project.Dir.Path(), text) {
		if hash, n := d.hashNamed(name); hash != "" {
			out[name] = hash
			total += n
		}
		if len(out) == maxNamed || total > maxNamedTotal {
			break
		}
	}
	return out
}

// namesIn returns the files of a folder that a text names, each once.
func namesIn(folder, text string) (out []string) {
	seen := map[string]bool{}
	for _, name := range verdict.NamedFiles(text) {
		name = filepath.ToSlash(filepath.Clean(strings.TrimPrefix(name, folder+"/")))
		if isNamed(name) && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// isNamed reports whether a file is work, and not of this program, of git, or outside. A session keeps each name in a line.
func isNamed(name string) bool {
	own := strings.HasPrefix(name, ".git/") || slices.ContainsFunc(notWork, func(folder string) bool { return strings.HasPrefix(name, folder) })
	isLine := utf8.ValidString(name) && !strings.ContainsAny(name, "\n\t") && !visible.Steers(name)
	return isLine && !own && filepath.IsLocal(filepath.FromSlash(name))
}

// hashNamed returns the beginning of the hash of a regular file, and the size; "" for any other.
func (d *Disk) hashNamed(name string) (hash string, size int) {
	data, more, err := durable.ReadHead(d.project.Dir.Tree(), name, maxNamedBytes)
	if err != nil || more {
		return "", 0
	}
	return workflow.Hash(data)[:16], len(data)
}

// Since returns the documents that went on before, compared with their texts of that time: the current one at its gate,
// and the ones edited since. The files that they name are compared, too.
func (d *Disk) Since(ctx context.Context, s *standing.Standing) (out []standing.Since) {
	inForce := s.Session.InForce()
	for _, st := range s.Workflow.Stages {
		entry, e := s.Session.Approval(st.ID, s.Integrity)
		if entry == 0 {
			continue
		}
		since, approved := standing.NewSince(e), workflow.ContentRef{FilePath: e.Path, SHA256: e.SHA256}
		after, isLater := d.laterText(s, st)
		if since.Compared = isLater; isLater {
			before, err := d.readText(ctx, approved)
			if since.Unknown = err != nil; err == nil {
				since.Sections = changes.Differing(changes.Sections(before, after))
			}
		}
		if slices.Contains(inForce, st.ID) {
			since.Moved = d.movedFiles(e.Named)
		}
		if len(since.Moved) > 0 {
			if !isLater {
				after, _ = d.readText(ctx, approved) // without it the sections are left out
			}
			nameSections(since.Moved, d.project.Dir.Path(), after)
		}
		out = append(out, since)
	}
	return out
}

// laterText returns the text of a document after the step with which it went on: the one that waits for a decision, or
// the artifact as people edited it.
func (d *Disk) laterText(s *standing.Standing, st workflow.Stage) (text string, ok bool) {
	if st.Kind == workflow.KindVerdict {
		return "", false // another report is about other work
	}
	if st.ID == s.Session.CurrentStage && s.AtGate().Session.CurrentState.Gated() {
		return s.Draft.Text, s.Draft.Text != ""
	}
	a := s.Session.Record(st.ID).Artifact
	for _, altered := range s.Altered {
		if a != nil && altered.Path == a.Path && altered.SHA256 != "" {
			return string(d.readFile(a.Path, a.Size).data), true
		}
	}
	return "", false
}

// movedFiles returns the files that are not as they were.
func (d *Disk) movedFiles(then map[string]string) (out []standing.MovedFile) {
	for _, name := range slices.Sorted(maps.Keys(then)) {
		if !isNamed(name) {
			continue
		}
		if now, _ := d.hashNamed(name); now != then[name] {
			out = append(out, standing.MovedFile{Path: name, Gone: !d.project.Dir.Exists(name)})
		}
	}
	return out
}

// nameSections adds the sections of a text that name the files.
func nameSections(files []standing.MovedFile, folder, text string) {
	lines := strings.Split(text, "\n")
	for _, section := range changes.Sections("", text) {
		if section.Title == "" {
			continue
		}
		named := namesIn(folder, strings.Join(lines[section.From-1:min(section.To, len(lines))], "\n"))
		for i, f := range files {
			if len(f.Sections) < maxNaming && slices.Contains(named, f.Path) {
				files[i].Sections = append(f.Sections, section.Title)
			}
		}
	}
}

// maxNaming bounds the sections listed for a file.
const maxNaming = 3
