package memory

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/codebase"
)

// Limits of a search in the files, in bytes but for the number of places.
const (
	maxCodeQuery  = 400
	defaultPlaces = 8
	leastReply    = 1000
)

// CodeQuery describes places in the files of a project to find.
type CodeQuery struct {
	// Text has at most 400 bytes.
	Text string
	// Path is a glob for the files, in which ** stands for any folders; "" is all files.
	Path string
	// Limit is the number of results, from 1 to 20; 0 is 8.
	Limit int
	// MaxBytes bounds the answer in JSON, from 1,000 to 14,000 bytes; 0 is the most.
	MaxBytes int
}

// CodeFound are places in the files of a project that fit a query, the best first.
type CodeFound = codebase.Found

// SearchCode finds the places in the files of the project that fit a query, among the files that git tracks or would
// track, as far as the program may read them. It keeps an index of them in the person's cache.
func (b *Book) SearchCode(ctx context.Context, q CodeQuery) (CodeFound, error) {
	isWanted, err := q.checkQuery()
	if err == nil {
		err = b.Usable()
	}
	if err != nil {
		return CodeFound{}, err
	}
	s := codebase.Source{Dir: b.p.Dir, IsClosed: b.m.IsClosed, Cache: b.m.CodeCache, Now: b.m.Now, Language: b.p.Language("")}
	if b.comparesMeaning() {
		s.Likeness = func(ctx context.Context, query string, texts []string) ([]float64, error) {
			ctx, cancel := context.WithTimeout(ctx, meaningTimeout)
			defer cancel()
			return b.m.Meaning.Likeness(ctx, b.p, query, texts)
		}
	}
	found, err := s.Search(ctx, codebase.Query{Text: q.Text, IsWanted: isWanted, Limit: q.Limit, MaxBytes: q.MaxBytes - len(Warning)})
	found.Note = Warning
	return found, err
}

// checkQuery completes the query, and returns the filter of its glob: a name without a slash counts in each folder, and a
// folder for the files in it.
func (q *CodeQuery) checkQuery() (isWanted func(name string) bool, err error) {
	if err := checkQuestion(&q.Text, maxCodeQuery, &q.Limit, defaultPlaces); err != nil {
		return nil, err
	}
	if q.MaxBytes == 0 {
		q.MaxBytes = maxReply
	}
	if q.MaxBytes < leastReply || q.MaxBytes > maxReply {
		return nil, fault.New(fault.InvalidArgument, "max_bytes is %d; it can be from %d to %d", q.MaxBytes, leastReply, maxReply).WithHint("leave it out for %d", maxReply)
	}
	glob := strings.Trim(strings.TrimPrefix(q.Path, "./"), "/")
	if _, err := path.Match(glob, ""); err != nil || len(glob) > maxCodeQuery {
		return nil, fault.New(fault.InvalidArgument, "the path %q is not a pattern", shownName(q.Path)).
			WithHint("* stands for anything within a name, ** for any folders, such as internal/**/*.go")
	}
	globs := []string{glob, glob + "/**"}
	if !strings.Contains(glob, "/") {
		globs = []string{"**/" + glob, "**/" + glob + "/**"}
	}
	return func(name string) bool {
		return glob == "" || slices.ContainsFunc(globs, func(one string) bool { return pattern.MatchPath(one, name) })
	}, nil
}
