package memory

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// byFile is who a note is from that a file of another program has.
const byFile = "file"

// cabinet has files of other programs as they were read last.
type cabinet struct {
	files map[string]foreignFile
	// listing is the problems of the list of files.
	listing  string
	content  grimoire.Content
	notes    []placed // in the order of the files
	sources  []string
	problems []Problem
}

type foreignFile struct {
	version  durable.Version
	settled  bool
	content  grimoire.Content
	problems []Problem
}

// current refreshes the notes, those of other programs too. The caller holds the lock of the notes.
func (b *Book) current(ctx context.Context) error {
	if err := b.refresh(ctx); err != nil {
		return b.trouble(err)
	}
	s := b.notes
	changed, err := b.look(ctx, &s.cabinet, grimoire.Sources)
	if !changed {
		return err
	}
	now := map[string]placed{}
	for _, e := range s.cabinet.content.Entries {
		from := grimoire.Place(e.Path, e.Line)
		n := &Note{
			ID: uuid.NewSHA1(uuid.NameSpaceDNS, []byte(from+":"+e.Text)).String(), Type: Type(e.Type), Agent: e.Agent, Text: e.Text, Tags: e.Tags,
			CreatedAt: at(e.Date), UpdatedAt: at(e.Date), By: byFile,
		}
		f := placed{Note: n, name: foreignName(n.ID), from: from, failure: e.Failure}
		s.cabinet.notes = append(s.cabinet.notes, f)
		now[f.name] = f
	}
	s.cabinet.content.Entries = nil
	for _, list := range []map[string]placed{s.foreign, now} {
		for name := range list {
			if is, was := now[name], s.foreign[name]; is.Note == nil || was.Note == nil || !slices.Equal(is.Tags, was.Tags) {
				s.changed[name] = true
			}
		}
	}
	s.foreign = now
	return err
}

// look reads the files that have changed since a cabinet was filled, and reports whether any has.
func (b *Book) look(ctx context.Context, c *cabinet, list func(fs.FS) ([]grimoire.Source, []Problem)) (changed bool, err error) {
	sources, problems := list(b.p.Dir.Tree())
	listing := fmt.Sprint(problems)
	changed = c.files == nil || listing != c.listing || len(sources) != len(c.files)
	files := make(map[string]foreignFile, len(sources))
	for _, s := range sources {
		f, known := c.files[s.Path]
		if !known || !f.settled || f.version != durable.VersionOf(s.Info) {
			if err := ctx.Err(); err != nil {
				return false, b.trouble(err)
			}
			f, changed = b.open(s), true
		}
		files[s.Path] = f
	}
	if !changed {
		return false, nil
	}
	*c = cabinet{files: files, listing: listing}
	var contents []grimoire.Content
	for _, s := range sources {
		c.sources = append(c.sources, s.Path)
		contents = append(contents, files[s.Path].content)
		problems = append(problems, files[s.Path].problems...)
	}
	all, more := grimoire.Join(contents)
	c.content = all
	c.problems = append(problems, more...)
	return true, nil
}

// open reads one file of another program.
func (b *Book) open(s grimoire.Source) foreignFile {
	now := b.m.Now()
	data, version, err := b.p.Dir.ReadVersion(s.Path, grimoire.MaxFile)
	if err != nil {
		return foreignFile{problems: []Problem{{Path: s.Path, Why: lang.Of(err)}}}
	}
	f := foreignFile{version: version, settled: version.Settled(now)}
	f.content, f.problems = grimoire.Parse(s, data)
	return f
}

// described is the name that a kit's description gives the project; "" where it has none.
func (b *Book) described() string {
	for _, folder := range append([]string{"."}, methodFolders...) {
		source := grimoire.Source{Path: path.Join(folder, "project-context.yaml"), Kind: grimoire.Settings}
		data, err := b.p.Dir.ReadFile(source.Path, grimoire.MaxFile)
		if err != nil {
			continue
		}
		if c, _ := grimoire.Parse(source, data); c.Project.Name != "" {
			return c.Project.Name
		}
	}
	return ""
}
