// Package reach decides in which folders the program works for an assistant.
//
// An assistant can name any folder of the person's account. It may use those in which the
// person has put it to work: the folders that their host has open, the one the server was
// started in, projects with sessions, and folders that they have listed or allowed. [Rules]
// exclude folders no matter who names them: the home folder, everything above it, and the
// folders of credentials. A [Reach] joins both, and is asked before a folder is opened.
package reach

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Place is a folder that may be used, with everything below it.
type Place struct {
	Folder string
	By     Way
	// Real is true if the folder was recorded without links: if it has become a link
	// since, it is another folder.
	Real bool
	// Record is the file or folder that names it, if any. A record in a folder where an
	// assistant works is the assistant's word, not the person's.
	Record string
}

// Options configure a Reach.
type Options struct {
	Rules Rules
	// Opened are the folders that the person started the server for.
	Opened []Place
	// Remembered returns the recorded folders, which may change between calls.
	Remembered func() []Place
	// Remember records a folder that the person has allowed.
	Remember func(ctx context.Context, folder string) error
}

// Reach knows the folders that one caller may use. It is safe for concurrent use.
type Reach struct {
	o      Options
	opened []place

	mu sync.Mutex
	// roots are the folders that the host reports as open, allowed and denied those that the
	// person has allowed and denied since the start.
	roots, allowed []place
	denied         []string
}

// place is a folder with its path without links.
type place struct {
	real string
	by   Way
}

// Spot is the location of a folder that may be used.
type Spot struct {
	// Root is the folder that permits it, Rel the path from there; neither has links.
	Root, Rel string
}

// Real returns the folder's path without links.
func (s Spot) Real() string { return filepath.Join(s.Root, s.Rel) }

// ErrOutside is the error that every Refusal matches.
var ErrOutside = lang.Errorf("the folder is out of reach")

// Refusal is the error for a folder out of reach. Its text depends neither on whether the
// folder exists nor on the targets of links.
type Refusal struct {
	Folder string
	// Why is the rule that excludes the path, or empty if the person may allow it.
	Why lang.Text
}

// Error returns the text in English.
func (r *Refusal) Error() string { return r.In(lang.English) }

// In returns the text in a language.
func (r *Refusal) In(l lang.Language) string {
	if !r.Why.Empty() {
		return l.Say("bmad-mcp does not work in %q: %s", r.Folder, r.Why)
	}
	return l.Say("%q is not a folder that bmad-mcp may work in", r.Folder)
}

// Is makes every refusal match ErrOutside.
func (r *Refusal) Is(target error) bool { return target == ErrOutside }

// New returns a reach.
func New(o Options) *Reach {
	r := &Reach{o: o}
	r.opened = r.places(o.Opened)
	return r
}

// places resolves the folders and keeps those that may be used.
func (r *Reach) places(list []Place) []place {
	var out []place
	for _, p := range list {
		if !filepath.IsAbs(p.Folder) {
			continue
		}
		p.Folder = filepath.Clean(p.Folder)
		real := r.o.Rules.Real(p.Folder)
		if p.Real && real != p.Folder || !r.o.Rules.Judge(real, p.By).Empty() {
			continue
		}
		out = append(out, place{real, p.By})
	}
	return out
}

// SetRoots replaces the folders that the host has open.
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

// here returns the open folders, and those that were allowed since the start.
func (r *Reach) here() (open, allowed []place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Concat(r.opened, r.roots), slices.Clone(r.allowed)
}

// Includes reports whether a folder may be used.
func (r *Reach) Includes(folder string) bool {
	_, err := r.Find(folder)
	return err == nil
}

// Find locates a folder that may be used. The error is a *Refusal.
func (r *Reach) Find(folder string) (Spot, error) {
	if !filepath.IsAbs(folder) || strings.ContainsRune(folder, 0) {
		return Spot{}, &Refusal{Folder: folder}
	}
	folder = filepath.Clean(folder)
	// The refusal must not reveal more than the path as it was named.
	refused := &Refusal{Folder: folder, Why: r.o.Rules.never(folder)}
	real := r.o.Rules.Real(folder)
	if !refused.Why.Empty() || !r.o.Rules.never(real).Empty() {
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
		isWithin := len(real) >= len(p.Folder) && strings.EqualFold(real[:len(p.Folder)], p.Folder)
		if p.Real && !isWithin {
			continue // avoids disk access for each project of a long list
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

// Askable returns the path, without links, of a folder that the person may be asked about.
// ok is false if no answer could permit it, or if the path could mislead.
func (r *Reach) Askable(folder string) (real string, ok bool) {
	if !filepath.IsAbs(folder) {
		return "", false
	}
	folder = filepath.Clean(folder)
	real = r.o.Rules.Real(folder)
	if !r.o.Rules.Judge(folder, Asked).Empty() || !r.o.Rules.Judge(real, Asked).Empty() || !Plain(real) {
		return "", false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return real, !slices.Contains(r.denied, real)
}

// Plain reports whether a path looks like itself: it has no invisible characters, and none
// that change the order of others.
func Plain(path string) bool {
	return !strings.ContainsFunc(path, func(c rune) bool {
		visible := unicode.IsGraphic(c) && !unicode.Is(unicode.Cf, c) && c != unicode.ReplacementChar
		return !visible || unicode.IsSpace(c) && c != ' '
	})
}

// Allow notes that the person has allowed a folder that Askable returned. A folder that is missing,
// or has become another, does not count. If Allow returns an error, the folder could not be
// recorded, and counts only until the program ends.
func (r *Reach) Allow(ctx context.Context, real string) (counts bool, err error) {
	if info, err := os.Lstat(real); err != nil || !info.IsDir() || r.o.Rules.Real(real) != real {
		return false, nil //nolint:nilerr // it does not count
	}
	r.mu.Lock()
	r.allowed = append(r.allowed, place{real, Asked})
	r.mu.Unlock()
	if r.o.Remember == nil {
		return true, nil
	}
	return true, r.o.Remember(ctx, real)
}

// Deny notes that the person has denied a folder: they are not asked again.
func (r *Reach) Deny(real string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.denied = append(r.denied, real)
}
