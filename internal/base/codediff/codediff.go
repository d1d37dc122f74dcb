// Package codediff judges the changes of a project's files, file by file: the kind of each, the lines added and removed,
// renames, and the files to fold. It is pure: somebody else reads the two versions.
package codediff

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/textdiff"
)

// The bounds of one set of changes: its files, the bytes of all their texts, and of one file.
const (
	MaxFiles = 2000
	MaxBytes = 5 << 20
	MaxFile  = 1 << 20
)

// Side is one version of a file.
type Side struct {
	// Mode is git's: 100644, 100755 for a program, 120000 for a link, 160000 for another repository.
	Mode string
	// ID is git's name for the content.
	ID   string
	Size int64
	// Text is the content, the target of a link, or the commit of a repository.
	Text string
	// Unread is the reason for a missing text.
	Unread Unread
}

// Unread is the reason why the text of a file is left out.
type Unread string

// The reasons.
const (
	// TooLarge: the file has more than [MaxFile] bytes.
	TooLarge Unread = "too_large"
	// TooMuch: the files before it have used up [MaxBytes], or [MaxFiles].
	TooMuch Unread = "too_much"
	// Unreadable: reading failed, or the clone lacks the content.
	Unreadable Unread = "unreadable"
)

// Pair is a file before and after; a side is nil where it did not exist.
type Pair struct {
	Path          string
	Before, After *Side
	// Was is the name of the content that somebody else left there without a commit: it counts as the version before,
	// but its text is not known.
	Was string
}

// Kind is the kind of a change.
type Kind string

// The kinds.
const (
	Added    Kind = "added"
	Deleted  Kind = "deleted"
	Modified Kind = "modified"
	Renamed  Kind = "renamed"
	// ModeOnly: only the mode of the file has changed.
	ModeOnly Kind = "mode"
)

// Content is the sort of a file's content.
type Content string

// The sorts of content. Text has rows to show, the others have none, or little text of their own.
const (
	Text       Content = "text"
	Binary     Content = "binary"
	Link       Content = "link"
	Repository Content = "repository"
	// Large is a pointer of Git LFS, or the file in place of one.
	Large Content = "lfs"
)

// Fold is the reason why a file is shown folded.
type Fold string

// The reasons. An empty one is none.
const (
	Generated Fold = "generated"
	Vendored  Fold = "vendored"
)

// File is one changed file.
type File struct {
	Path string `json:"path"`
	// From is the former path of a renamed file.
	From    string  `json:"from,omitempty"`
	Kind    Kind    `json:"kind"`
	Content Content `json:"content"`
	Fold    Fold    `json:"fold,omitempty"`
	// Unread is the reason why the file has no rows and no counts.
	Unread Unread `json:"unread,omitempty"`
	// Added and Removed count lines.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// LineEnds reports whether the two versions end their lines differently. These ends are not compared.
	LineEnds bool `json:"line_ends,omitempty"`
	// Earlier reports whether the differences include some from before the work, which nobody had committed.
	Earlier bool `json:"earlier,omitempty"`
	// OldMode and NewMode are modes that differ.
	OldMode string `json:"old_mode,omitempty"`
	NewMode string `json:"new_mode,omitempty"`

	before, after Side
}

// Changes are the changed files, sorted by path.
type Changes struct {
	Files []File `json:"files"`
	// More is the number of files left out of the list.
	More int `json:"more,omitempty"`
	// Added and Removed count lines of all files.
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// Of judges the pairs. One of equal sides counts as unchanged.
func Of(pairs []Pair) (out Changes) {
	for _, p := range pairs {
		if f, changed := newFile(p); changed {
			out.Files = append(out.Files, f)
		}
	}
	out.Files = joinRenames(out.Files)
	slices.SortFunc(out.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	if out.More = max(0, len(out.Files)-MaxFiles); out.More > 0 {
		out.Files = out.Files[:MaxFiles]
	}
	for i := range out.Files {
		f := &out.Files[i]
		f.countLines()
		out.Added, out.Removed = out.Added+f.Added, out.Removed+f.Removed
	}
	return out
}

// Find returns the file with a path.
func (c Changes) Find(name string) (File, bool) {
	i := slices.IndexFunc(c.Files, func(f File) bool { return f.Path == name })
	if i < 0 {
		return File{}, false
	}
	return c.Files[i], true
}

func newFile(p Pair) (f File, changed bool) {
	f = File{Path: p.Path, Kind: Modified, Earlier: p.Was != ""}
	switch {
	case p.Was != "" && p.After != nil && p.After.ID == p.Was:
		return f, false
	case p.Before == nil && p.After == nil:
		return f, false
	case p.Before == nil:
		f.Kind, f.after = Added, *p.After
	case p.After == nil:
		f.Kind, f.before = Deleted, *p.Before
	default:
		f.before, f.after = *p.Before, *p.After
		f.noteMode()
		sameText := f.before.ID == f.after.ID && f.before.ID != ""
		if pointsTo(f.before, f.after) {
			sameText = true
		}
		if sameText && f.OldMode == "" {
			return f, false
		}
		if sameText {
			f.Kind = ModeOnly
		}
	}
	f.describeContent()
	return f, true
}

// noteMode enters the modes if they differ.
func (f *File) noteMode() {
	if f.before.Mode != f.after.Mode {
		f.OldMode, f.NewMode = f.before.Mode, f.after.Mode
	}
}

// describeContent names the content of a file, and the reason to fold it.
func (f *File) describeContent() {
	now := f.after
	if f.Kind == Deleted {
		now = f.before
	}
	isBinaryFile := func(s Side) bool { return (s.Mode == "" || strings.HasPrefix(s.Mode, "100")) && isBinary(s.Text) }
	f.Content = Text
	switch f.Unread = cmp.Or(f.after.Unread, f.before.Unread); {
	case now.Mode == "160000":
		f.Content = Repository
	case now.Mode == "120000":
		f.Content = Link
	case isPointer(f.before.Text) || isPointer(f.after.Text):
		f.Content = Large
	case isBinaryFile(f.before) || isBinaryFile(f.after):
		f.Content = Binary
	}
	f.Fold = FoldOf(f.Path, now.Text)
}

// isBinary reports whether git takes a content for binary: it has a zero byte near the beginning.
func isBinary(text string) bool { return strings.IndexByte(text[:min(len(text), 8000)], 0) >= 0 }

// The first line of a pointer of Git LFS, and the one with the hash.
const (
	pointerLine = "version https://git-lfs.github.com/spec/"
	pointerHash = "oid sha256:"
)

func isPointer(text string) bool {
	return len(text) < 1024 && strings.HasPrefix(text, pointerLine) && strings.Contains(text, "\n"+pointerHash)
}

// pointsTo reports whether a pointer of Git LFS stands for the content beside it.
func pointsTo(pointer, content Side) bool {
	if !isPointer(pointer.Text) || content.Unread != "" {
		return false
	}
	_, after, _ := strings.Cut(pointer.Text, pointerHash)
	hash, _, _ := strings.Cut(after, "\n")
	sum := sha256.Sum256([]byte(content.Text))
	return hash == hex.EncodeToString(sum[:])
}

// HasRows reports whether the text of the file can be shown.
func (f File) HasRows() bool {
	return f.Unread == "" && f.Content != Binary && f.Content != Large && f.Kind != ModeOnly
}

// countLines counts the lines.
func (f *File) countLines() {
	if !f.HasRows() {
		return
	}
	before, after := f.alignTexts()
	f.Added, f.Removed = textdiff.CountLines(before, after)
}

// alignTexts returns the texts to compare. Ends of lines that differ everywhere are made alike.
func (f *File) alignTexts() (before, after string) {
	before, after = f.before.Text, f.after.Text
	if f.Kind == Added || f.Kind == Deleted || f.Content != Text {
		return before, after
	}
	if old, now := hasCRLF(before), hasCRLF(after); old != now {
		f.LineEnds = true
		return strings.ReplaceAll(before, "\r\n", "\n"), strings.ReplaceAll(after, "\r\n", "\n")
	}
	return before, after
}

func hasCRLF(text string) bool {
	line, _, ok := strings.Cut(text, "\n")
	return ok && strings.HasSuffix(line, "\r")
}

// Rows returns the rows of the two versions, none if they cannot be shown. A text may have stray bytes.
func (f File) Rows() []textdiff.Row {
	if !f.HasRows() {
		return nil
	}
	before, after := f.alignTexts()
	return textdiff.Rows(before, after)
}

// Lines returns the lines of the present version, without their ends.
func (f File) Lines() []string {
	if !f.HasRows() || f.after.Text == "" {
		return nil
	}
	text := strings.ReplaceAll(strings.ToValidUTF8(f.after.Text, "\uFFFD"), "\r\n", "\n")
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// ID returns git's name for the present content, "" if there is none.
func (f File) ID() string { return f.after.ID }

// Target returns the target of a link, or the commit of a repository, before and after.
func (f File) Target() (before, after string) {
	if f.Content != Link && f.Content != Repository {
		return "", ""
	}
	return f.before.Text, f.after.Text
}

// locks are files that package managers write.
var locks = []string{
	"go.sum", "go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "Cargo.lock", "poetry.lock",
	"uv.lock", "Pipfile.lock", "composer.lock", "Gemfile.lock", "mix.lock", "flake.lock", "pubspec.lock", "gradle.lockfile", "packages.lock.json",
}

// FoldOf returns the reason why a file with a path and a content is folded.
func FoldOf(name, text string) Fold {
	base := path.Base(name)
	for _, folder := range strings.Split(path.Dir(name), "/") {
		switch folder {
		case "vendor", "node_modules", "third_party", "bower_components":
			return Vendored
		case "dist", "__snapshots__":
			return Generated
		}
	}
	head := text[:min(len(text), 1000)]
	switch {
	case slices.Contains(locks, base),
		strings.HasSuffix(base, ".min.js"), strings.HasSuffix(base, ".min.css"), strings.HasSuffix(base, ".map"), strings.HasSuffix(base, ".pb.go"),
		strings.Contains(head, "@generated"),
		strings.Contains(head, "Code generated ") && strings.Contains(head, "DO NOT EDIT"):
		return Generated
	}
	return ""
}

// looksAlike is the least part of common lines of two files that count as one renamed, and maxCompared bounds the files
// compared with each other for it.
const (
	looksAlike  = 0.5
	maxCompared = 200
)

// joinRenames joins deleted and added files of equal or similar content.
func joinRenames(files []File) []File {
	var gone, made []int
	for i, f := range files {
		switch {
		case f.Content != Text && f.Content != Binary && f.Content != Large, f.Unread != "" && f.before.ID+f.after.ID == "":
		case f.Kind == Deleted:
			gone = append(gone, i)
		case f.Kind == Added:
			made = append(made, i)
		}
	}
	drop := map[int]bool{}
	join := func(old, now int) {
		a, f := files[old], &files[now]
		f.From, f.Kind, f.before = a.Path, Renamed, a.before
		f.Unread = cmp.Or(f.Unread, a.Unread)
		f.noteMode()
		f.describeContent()
		drop[old] = true
	}
	byID := map[string][]int{}
	for _, i := range gone {
		if id := files[i].before.ID; id != "" && files[i].before.Size > 0 {
			byID[id] = append(byID[id], i)
		}
	}
	made = slices.DeleteFunc(made, func(now int) bool {
		same := byID[files[now].after.ID]
		if len(same) == 0 {
			return false
		}
		best := max(0, slices.IndexFunc(same, func(old int) bool { return path.Base(files[old].Path) == path.Base(files[now].Path) }))
		join(same[best], now)
		byID[files[now].after.ID] = slices.Delete(same, best, best+1)
		return true
	})
	gone = slices.DeleteFunc(gone, func(i int) bool { return drop[i] })
	if len(gone) <= maxCompared && len(made) <= maxCompared {
		for _, pair := range findSimilar(files, gone, made) {
			join(pair[0], pair[1])
		}
	}
	var out []File
	for i, f := range files {
		if !drop[i] {
			out = append(out, f)
		}
	}
	return out
}

// findSimilar pairs deleted and added texts with many lines in common, the most similar ones first.
func findSimilar(files []File, gone, made []int) (out [][2]int) {
	type likeness struct {
		old, now int
		part     float64
	}
	numbers := map[string]int{}
	lines := map[int][]int{}
	for _, i := range slices.Concat(gone, made) {
		if files[i].HasRows() && files[i].Content == Text {
			lines[i] = numberLines(numbers, files[i].before.Text+files[i].after.Text)
		}
	}
	sizes := make([]int, len(numbers))
	for line, n := range numbers {
		sizes[n] = len(line)
	}
	var all []likeness
	for _, old := range gone {
		for _, now := range made {
			a, b := len(files[old].before.Text), len(files[now].after.Text)
			if lines[old] == nil || lines[now] == nil || min(a, b)*2 < max(a, b) {
				continue
			}
			common := countCommon(lines[old], lines[now], sizes)
			if part := float64(common) / float64(max(a, b, 1)); part >= looksAlike {
				all = append(all, likeness{old, now, part})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b likeness) int { return cmp.Compare(b.part, a.part) })
	used := map[int]bool{}
	for _, l := range all {
		if !used[l.old] && !used[l.now] {
			used[l.old], used[l.now] = true, true
			out = append(out, [2]int{l.old, l.now})
		}
	}
	return out
}

// numberLines returns the numbers of the lines of a text, sorted; equal lines of all texts have one number.
func numberLines(numbers map[string]int, text string) []int {
	out := []int{}
	for line := range strings.Lines(text) {
		n, known := numbers[line]
		if !known {
			n = len(numbers)
			numbers[line] = n
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// countCommon counts the bytes of the lines that two sorted lists have in common.
func countCommon(a, b, sizes []int) (common int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			common += sizes[a[i]]
			i, j = i+1, j+1
		}
	}
	return common
}
