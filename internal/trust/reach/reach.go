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

// Place is a folder permitted for use, with everything below it.
type Place struct {
	Folder string
	By     Way
	// Real is true if the folder was recorded without links: if it has become a link
	// since, it is another folder.
	Real bool
	// Record is the file or folder naming this one, if any. A record in a folder where an assistant works is the
	// assistant's word, not the person's.
	Record string
}

// Options configure a Reach.
type Options struct {
	Rules Rules
	// Opened are the folders for which the person started the server.
	Opened []Place
	// Remembered returns the recorded folders, which may change between calls.
	Remembered func() []Place
	// Remember records a folder allowed by the person.
	Remember func(ctx context.Context, folder string) error
}

// Reach knows the folders one caller may use. It is safe for concurrent use.
type Reach struct {
	o      Options
	opened []place

	mu sync.Mutex
	// roots are the folders open in the host, allowed and denied the ones allowed and denied by the person since
	// the start.
	roots, allowed []place
	denied         []string
}

// place is a folder and the path without links.
type place struct {
	real string
	by   Way
}

// Spot is the location of a permitted folder.
type Spot struct {
	// Root is the permitted folder above, Rel the path from there; neither has links.
	Root, Rel string
}

// Real returns the folder's path without links.
func (s Spot) Real() string { return filepath.Join(s.Root, s.Rel) }

// ErrOutside is the error matched by every Refusal.
var ErrOutside = lang.Errorf("the folder is out of reach")

// Refusal is the error for a folder out of reach. The text depends neither on the existence of the folder nor on
// the targets of links.
type Refusal struct {
	Folder string
	// Why is the rule excluding the path, or empty if the person may allow it.
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
	r.opened = r.usablePlaces(o.Opened)
	return r
}

// usablePlaces resolves the folders and keeps the permitted ones.
func (r *Reach) usablePlaces(list []Place) []place {
	var out []place
	for _, p := range list {
		if !filepath.IsAbs(p.Folder) {
			continue
		}
		p.Folder = filepath.Clean(p.Folder)
		real := r.o.Rules.Real(p.Folder)
		isMoved := p.Real && real != p.Folder
		if isMoved || !r.o.Rules.Judge(real, p.By).Empty() {
			continue
		}
		out = append(out, place{real, p.By})
	}
	return out
}

// SetRoots replaces the folders open in the host.
func (r *Reach) SetRoots(folders []string) {
	var list []Place
	for _, folder := range folders {
		list = append(list, Place{Folder: folder})
	}
	roots := r.usablePlaces(list)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.roots = roots
}

// currentPlaces returns the open folders, and the ones allowed since the start.
func (r *Reach) currentPlaces() (open, allowed []place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Concat(r.opened, r.roots), slices.Clone(r.allowed)
}

// Includes reports whether a folder may be used.
func (r *Reach) Includes(folder string) bool {
	_, err := r.Find(folder)
	return err == nil
}

// Find locates a permitted folder. The error is a *Refusal.
func (r *Reach) Find(folder string) (Spot, error) {
	if !filepath.IsAbs(folder) || strings.ContainsRune(folder, 0) {
		return Spot{}, &Refusal{Folder: folder}
	}
	folder = filepath.Clean(folder)
	// The refusal must not reveal more than the path as it was named.
	refused := &Refusal{Folder: folder, Why: r.o.Rules.neverReason(folder)}
	real := r.o.Rules.Real(folder)
	if !refused.Why.Empty() || !r.o.Rules.neverReason(real).Empty() {
		return Spot{}, refused
	}
	open, allowed := r.currentPlaces()
	for _, p := range slices.Concat(open, allowed) {
		if rel, ok := relativeIn(p.real, real); ok {
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
		if p.Record != "" && isInAny(open, r.o.Rules.Real(p.Record)) {
			continue
		}
		for _, p := range r.usablePlaces([]Place{p}) {
			if rel, ok := relativeIn(p.real, real); ok {
				return Spot{p.real, rel}, nil
			}
		}
	}
	return Spot{}, refused
}

func isInAny(places []place, name string) bool {
	return slices.ContainsFunc(places, func(p place) bool {
		_, ok := relativeIn(p.real, name)
		return ok
	})
}

// Askable returns the path, without links, of a folder that the person may be asked about. ok is false if no
// answer could permit it, or if the path could mislead.
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

// Plain reports whether a path looks like itself: it has no invisible characters, and none that change the order
// of others.
func Plain(path string) bool {
	return !strings.ContainsFunc(path, func(c rune) bool {
		visible := unicode.IsGraphic(c) && !unicode.Is(unicode.Cf, c) && c != unicode.ReplacementChar
		return !visible || unicode.IsSpace(c) && c != ' '
	})
}

// Allow notes that the person has allowed a folder returned by Askable. A missing folder, or one replaced by
// another, does not count. If Allow returns an error, the folder could not be recorded, and counts only until the
// program ends.
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
