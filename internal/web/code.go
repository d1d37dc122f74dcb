package web

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/codediff"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/textdiff"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The bounds of a page of code: the lines of all files that are shown, and the folded ones among them, the lines of one
// folded part.
const (
	maxCodeLines  = 6000
	maxHiddenCode = 1000
	maxOpenable   = 40
)

// viewCode is the view of the changed code beside a report.
const viewCode = "code"

// hasCode reports whether the page of a stage's document shows the code, too.
func hasCode(st workflow.Stage) bool {
	return st.Kind == workflow.KindBuild || st.Kind == workflow.KindVerdict
}

// codePage is the code changed since the work began.
type codePage struct {
	// Since names the version that the code is compared with; Missing tells why there is nothing to show.
	Since, Missing string
	// Unchanged is the file asked for if it is not among the changed ones.
	Unchanged      string
	Added, Removed int
	// Count is the number of changed files, More of those left out.
	Count, More int
	Folders     []codeFolder
	Files       []*codeFile
	// Findings come from the reports, each with the address of the place.
	Findings []codeFinding
	// Beside reports whether the versions stand beside each other, Below and BesideHref are the addresses of both layouts.
	Beside                bool
	BelowHref, BesideHref string
}

// Tag returns the colour of a finding's severity.
func (f codeFinding) Tag() string {
	switch f.Severity {
	case "critical":
		return "bad"
	case "major":
		return "warn"
	}
	return ""
}

// columns returns the number of columns of the lines.
func (p *codePage) columns() string {
	if p.Beside {
		return "4"
	}
	return "3"
}

// codeFolder is a folder of the list of files.
type codeFolder struct {
	Name  string
	Files []*codeFile
}

// codeFile is a changed file.
type codeFile struct {
	codediff.File
	ID, Name, Label string
	Hunks           []codeHunk
	// Whole is the address of the page with all of the file.
	Whole string
	// notes are the remarks by line; those on the whole file, or on lines that are gone, have the line 0.
	notes map[int][]note
}

// codeHunk is a run of lines. Folded is the number without a change, of which Rows has none if there are many;
// From is the first one.
type codeHunk struct {
	Rows         []codeRow
	rows         []textdiff.Row
	Folded, From int
}

// codeFinding is a finding with the address of the line.
type codeFinding struct {
	note
	Place, Href string
}

// Notes returns the remarks on a line.
func (f *codeFile) Notes(line int) []note { return f.notes[line] }

// Sum identifies the change of the file, for the marks of a reader.
func (f *codeFile) Sum() string { return workflow.Hash([]byte(f.Path + f.File.ID()))[:12] }

// Anchor returns the id of a line's element.
func (f *codeFile) Anchor(line int) string { return f.ID + "-" + itoa(line) }

// codeID returns the id of the element of a file.
func codeID(name string) string { return "f" + workflow.Hash([]byte(name))[:8] }

// codeHref returns the address of a file in the code beside a report.
func codeHref(document, name string) string {
	return document + "?" + url.Values{"view": {viewCode}, "file": {name}}.Encode() + "#" + codeID(name)
}

// Marks counts the findings and comments on the file.
func (f *codeFile) Marks() (findings, comments int) {
	for _, notes := range f.notes {
		for _, n := range notes {
			if n.Kind == "comment" {
				comments++
			} else {
				findings++
			}
		}
	}
	return findings, comments
}

// IsClosed reports whether the lines of the file are shown only on demand.
func (f *codeFile) IsClosed() bool { return f.HasRows() && f.Hunks == nil }

// remarksOn returns the findings and the person's comments that are about code, of the stage and of those that judge it.
func remarksOn(a *asked, s *workflow.Session, st workflow.Stage) (out []note) {
	for _, stage := range append([]workflow.Stage{st}, s.Definition().JudgesOf(st.ID)...) {
		for _, n := range notesOn(a, s.Record(stage.ID)) {
			if n.File != "" {
				out = append(out, n)
			}
		}
	}
	for _, stage := range s.Definition().Stages {
		for _, c := range s.Record(stage.ID).ChangeRequests {
			if c.File == "" || c.Status == workflow.RequestOutdated {
				continue
			}
			n := commentNote(a, c, c.From)
			n.File, n.Became = c.Place(), fateOf(a, c, false)
			n.comment = &c.Comment
			out = append(out, n)
		}
	}
	return out
}

// fill puts the changes and the remarks into the page.
func (p *codePage) fill(a *asked, code *project.Code, remarks []note) {
	if code == nil {
		p.Missing = a.lang.Say("There is nothing to compare the code with: the project has no git repository with a commit.")
		return
	}
	p.Since = a.lang.Say("Since commit %s, with work that is not committed", visible.Head(code.Base, 10))
	if code.IsHead {
		p.Since = a.lang.Say("Work that is not committed: the commit before the work is not known here")
	}
	p.Added, p.Removed, p.More, p.Count = code.Added, code.Removed, code.More, len(code.Files)+code.More
	query := a.r.URL.Query()
	asked := query.Get("file")
	p.Beside = query.Get("layout") == "beside"
	if slices.ContainsFunc(code.Files, func(f codediff.File) bool { return f.Path == asked }) {
		p.Unchanged = ""
	}
	query.Del("file")
	query.Set("layout", "below")
	p.BelowHref = "?" + query.Encode()
	query.Set("layout", "beside")
	p.BesideHref = "?" + query.Encode()
	if !p.Beside {
		query.Del("layout")
	}
	for _, f := range code.Files {
		row := &codeFile{File: f, ID: codeID(f.Path), Name: path.Base(f.Path), Label: f.Label(a.lang), notes: map[int][]note{}}
		query.Set("file", f.Path)
		row.Whole = "?" + query.Encode() + "#" + row.ID
		p.Files = append(p.Files, row)
	}
	p.pin(a, remarks)
	p.layLines(asked)
	p.layFolders(a.lang)
}

// pin puts the remarks to their files and lines, and lists the findings.
func (p *codePage) pin(a *asked, remarks []note) {
	for _, n := range remarks {
		name, line := cutPlace(n.File)
		f := p.find(name)
		row := codeFinding{note: n, Place: n.File}
		if f != nil {
			lines := len(f.Lines())
			if n.comment != nil {
				var there bool
				if line, there = f.Place(n.comment.Quote, n.comment.From); n.comment.From > 0 && !there {
					line, n.Became = 0, a.lang.Say("%s; these lines are gone", n.Became)
				}
			}
			if line > lines {
				line = 0
			}
			row.Href = "#" + f.ID
			if line > 0 {
				row.Href = "#" + f.Anchor(line)
			}
			n.Line, n.File = line, ""
			f.notes[line] = append(f.notes[line], n)
		}
		if n.Kind == "finding" {
			p.Findings = append(p.Findings, row)
		}
	}
}

// cutPlace cuts "path:line" into the path and the line, which is 0 if the text has none.
func cutPlace(text string) (name string, line int) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return text, 0
	}
	from, _, _ := strings.Cut(text[at+1:], "-")
	n, err := strconv.Atoi(from)
	if err != nil || n < 1 {
		return text, 0
	}
	return text[:at], n
}

// find returns the file with a path, or the only one whose path ends with it.
func (p *codePage) find(name string) *codeFile {
	var found *codeFile
	name = strings.TrimPrefix(name, "./")
	for _, f := range p.Files {
		if f.Path == name {
			return f
		}
		if strings.HasSuffix(f.Path, "/"+name) {
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
}

// layLines lays the lines of the files, as many as a page holds: the file asked for is whole, and those with remarks
// come before the others.
func (p *codePage) layLines(asked string) {
	rank := func(f *codeFile) int {
		switch {
		case f.Path == asked:
			return 0
		case len(f.notes) > 0:
			return 1
		}
		return 2
	}
	order := slices.Clone(p.Files)
	slices.SortStableFunc(order, func(a, b *codeFile) int { return cmp.Compare(rank(a), rank(b)) })
	room, hidden := maxCodeLines, maxHiddenCode
	for _, f := range order {
		isAsked := f.Path == asked
		isLeft := f.Fold != "" || f.Added+f.Removed > room
		if !f.HasRows() || isLeft && !isAsked {
			continue
		}
		rows, around := f.Rows(), foldAround
		if isAsked {
			around = len(rows)
		}
		f.Hunks = []codeHunk{} // an empty file has none
		colours := newPainter(f.Path, rows)
		for _, h := range f.fold(rows, around) {
			switch n := len(h.rows); {
			case h.Folded == 0:
				room -= n
			case n > min(maxOpenable, hidden):
				h.rows = nil
			default:
				hidden -= n
			}
			for _, r := range h.rows {
				h.Rows = append(h.Rows, colours.paint(r))
			}
			f.Hunks = append(f.Hunks, h)
		}
	}
}

// fold cuts the rows into parts near to a change or a remark, and folded ones between.
func (f *codeFile) fold(rows []textdiff.Row, around int) (out []codeHunk) {
	near := make([]bool, len(rows))
	for i, r := range rows {
		if r.Kind == textdiff.Same && (r.After == 0 || len(f.notes[r.After]) == 0) {
			continue
		}
		for k := max(0, i-around); k <= min(len(rows)-1, i+around); k++ {
			near[k] = true
		}
	}
	for from := 0; from < len(rows); {
		to := from
		for to < len(rows) && near[to] == near[from] {
			to++
		}
		h := codeHunk{rows: rows[from:to], From: rows[from].After}
		if !near[from] && to-from > 1 { // one line takes no more room than a link to it
			h.Folded = to - from
		}
		out = append(out, h)
		from = to
	}
	return out
}

// folderOf returns the folder of a path, "" for the top.
func folderOf(name string) string { return strings.TrimSuffix(path.Dir(name), ".") }

// layFolders groups the files by folder; the folded ones come last.
func (p *codePage) layFolders(l lang.Language) {
	add := func(name string, f *codeFile) {
		if n := len(p.Folders); n == 0 || p.Folders[n-1].Name != name {
			p.Folders = append(p.Folders, codeFolder{Name: name})
		}
		last := &p.Folders[len(p.Folders)-1]
		last.Files = append(last.Files, f)
	}
	slices.SortStableFunc(p.Files, func(a, b *codeFile) int { return strings.Compare(folderOf(a.Path), folderOf(b.Path)) })
	var folded []*codeFile
	for _, f := range p.Files {
		if f.Fold != "" {
			folded = append(folded, f)
		} else {
			add(folderOf(f.Path), f)
		}
	}
	for _, f := range folded {
		f.Name = f.Path
		add(l.Say("generated or copied"), f)
	}
	p.Files = p.Files[:0]
	for _, folder := range p.Folders {
		p.Files = append(p.Files, folder.Files...)
	}
}
