// Package reach says in which folders the program works for an assistant.
//
// An assistant can name any folder of the person's account. What counts is where the person
// has put it to work: the folders that their host has open, the one the server was started
// in, projects with sessions, and folders that they have listed or allowed. [Rules] say which
// folders are out of reach whoever names them: the home itself and all above it, and where
// credentials are kept. A [Reach] joins both, and is asked before a folder is opened.
package reach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Place is a folder that may be used, with what lies below it.
type Place struct {
	Folder string
	By     Way
	// Real is true where the folder was recorded without links: one that has become a link
	// since then leads to another.
	Real bool
	// Record is the file or folder that names it; "" where none does. One in a folder that
	// an assistant works in is the assistant's word, not the person's.
	Record string
}

// Options are what a Reach needs.
type Options struct {
	Rules Rules
	// Opened are the folders that the person started the server for.
	Opened []Place
	// Remembered returns the folders that are on record; it is asked each time.
	Remembered func() []Place
	// Remember records a folder that the person has allowed.
	Remember func(ctx context.Context, folder string) error
}

// Reach is what one caller may use. Its methods may be called at the same time.
type Reach struct {
	o      Options
	opened []place

	mu sync.Mutex
	// roots are the folders that the host says it has open, allowed those that the person
	// has allowed since the start, denied those that they have not.
	roots, allowed []place
	denied         []string
}

// place is a folder with its path without links.
type place struct {
	real string
	by   Way
}

// Spot is where a folder lies that may be used.
type Spot struct {
	// Root is the folder that lets it be used, Rel the way from there; neither has links.
	Root, Rel string
}

// Real is the folder's path without links.
func (s Spot) Real() string { return filepath.Join(s.Root, s.Rel) }

// ErrOutside matches every error that says that a folder is out of reach.
var ErrOutside = errors.New("the folder is out of reach")

// Refusal says that a folder is out of reach. Its words are the same whether the folder is
// there or not, and wherever links lead.
type Refusal struct {
	Folder string
	// Why is what the path alone forbids for good; "" where the person may allow it.
	Why string
}

// Error implements error.
func (r *Refusal) Error() string {
	if r.Why != "" {
		return fmt.Sprintf("bmad-mcp does not work in %q: %s", r.Folder, r.Why)
	}
	return fmt.Sprintf("%q is not a folder that bmad-mcp may work in", r.Folder)
}

// Is implements the interface of errors.Is.
func (r *Refusal) Is(target error) bool { return target == ErrOutside }

// New returns a reach.
func New(o Options) *Reach {
	r := &Reach{o: o}
	r.opened = r.places(o.Opened)
	return r
}

// places returns those folders that may be used, without links.
func (r *Reach) places(list []Place) []place {
	var out []place
	for _, p := range list {
		if !filepath.IsAbs(p.Folder) {
			continue
		}
		p.Folder = filepath.Clean(p.Folder)
		real := r.o.Rules.Real(p.Folder)
		if p.Real && real != p.Folder || r.o.Rules.Judge(real, p.By) != "" {
			continue
		}
		out = append(out, place{real, p.By})
	}
	return out
}

// SetRoots says which folders the host has open now.
func (r *Reach) SetRoots(folders []string) {
	var list []Place
	for _, folder := range folders {
		list = append(list, Place{Folder: folder})
	}
	roots := r.places(list)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.roots = roots
}

// here returns the folders that are open, and those that were allowed since the start.
func (r *Reach) here() (open, allowed []place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Concat(r.opened, r.roots), slices.Clone(r.allowed)
}

// Find returns where a folder lies that may be used. The error is a *Refusal.
func (r *Reach) Find(folder string) (Spot, error) {
	if !filepath.IsAbs(folder) || strings.ContainsRune(folder, 0) {
		return Spot{}, &Refusal{Folder: folder}
	}
	folder = filepath.Clean(folder)
	// The path as it is named is all that the refusal may speak of.
	refused := &Refusal{Folder: folder, Why: r.o.Rules.never(folder)}
	real := r.o.Rules.Real(folder)
	if refused.Why != "" || r.o.Rules.never(real) != "" {
		return Spot{}, refused
	}
	open, allowed := r.here()
	for _, p := range slices.Concat(open, allowed) {
		if rel, ok := in(p.real, real); ok {
			return Spot{p.real, rel}, nil
		}
	}
	if r.o.Remembered == nil {
		return Spot{}, refused
	}
	for _, p := range r.o.Remembered() {
		if p.Real && (len(real) < len(p.Folder) || !strings.EqualFold(real[:len(p.Folder)], p.Folder)) {
			continue // spares a look at the disk for each project of a long list
		}
		if p.Record != "" && contains(open, r.o.Rules.Real(p.Record)) {
			continue
		}
		for _, p := range r.places([]Place{p}) {
			if rel, ok := in(p.real, real); ok {
				return Spot{p.real, rel}, nil
			}
		}
	}
	return Spot{}, refused
}

func contains(places []place, name string) bool {
	return slices.ContainsFunc(places, func(p place) bool {
		_, ok := in(p.real, name)
		return ok
	})
}

// Askable returns the path of a folder that the person may be asked about: the one that it
// leads to. ok is false where no answer would help, or could be one to this question.
func (r *Reach) Askable(folder string) (real string, ok bool) {
	if !filepath.IsAbs(folder) {
		return "", false
	}
	folder = filepath.Clean(folder)
	real = r.o.Rules.Real(folder)
	if r.o.Rules.Judge(folder, Asked) != "" || r.o.Rules.Judge(real, Asked) != "" || !Plain(real) {
		return "", false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return real, !slices.Contains(r.denied, real)
}

// Plain reports whether a path looks like what it is: without characters that cannot be
// seen, or that change the order of others.
func Plain(path string) bool {
	return !strings.ContainsFunc(path, func(c rune) bool {
		return !unicode.IsGraphic(c) || unicode.IsSpace(c) && c != ' ' || c == unicode.ReplacementChar || unicode.Is(unicode.Cf, c)
	})
}

// Allow notes that the person has allowed a folder, which Askable has returned. One that is
// not there, or has become another, does not count. The error says that it is not on record,
// and counts only until the program ends.
func (r *Reach) Allow(ctx context.Context, real string) (counts bool, err error) {
	if info, err := os.Lstat(real); err != nil || !info.IsDir() || r.o.Rules.Real(real) != real {
		return false, nil //nolint:nilerr // that is the answer
	}
	r.mu.Lock()
	r.allowed = append(r.allowed, place{real, Asked})
	r.mu.Unlock()
	if r.o.Remember == nil {
		return true, nil
	}
	return true, r.o.Remember(ctx, real)
}

// Deny notes that the person does not allow a folder: they are not asked again.
func (r *Reach) Deny(real string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.denied = append(r.denied, real)
}
