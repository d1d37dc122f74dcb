package doctor

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
)

// fixRemedy is the remedy of all faults repaired by Fix.
const fixRemedy = "bmad-mcp doctor --fix"

// Check makes all checks of the project. It changes nothing, except for a file created and removed as a test of
// the folder.
func (p *ProjectFiles) Check(ctx context.Context) ([]Check, error) {
	folder, usable := p.checkFolder()
	if !usable {
		return []Check{folder}, nil
	}
	texts, saved := textsCheck{ProjectFiles: p}, artifactsCheck{ProjectFiles: p}
	apart := worktreesCheck{ProjectFiles: p}
	v, err := p.takeInventory(ctx, texts.visit, saved.visit, apart.visit)
	if err != nil {
		return nil, store.Trouble(p.dir, err)
	}
	for _, item := range v.unreadable {
		folder.addDefect(Problem, item.Path, item.What)
		folder.Remedy = p.Say("make it readable for you")
	}
	out := []Check{
		folder, p.checkSessions(v), p.checkNames(v), p.checkMapping(v), texts.result(ctx), saved.result(), p.checkOrphans(v), p.checkLocks(),
	}
	if apart.runs > 0 {
		out = append(out, apart.result())
	}
	return out, nil
}

func newOK(name, detail string) Check {
	return Check{Group: OfProject, Name: name, Status: OK, Detail: detail}
}

// checkFolder checks that the state folder and the folders in it are folders, and can be written. If the folder
// is missing, there is nothing more to check.
func (p *ProjectFiles) checkFolder() (c Check, usable bool) {
	c = newOK("state folder", p.Say("%s is there and can be written", store.Folder))
	if !p.dir.Exists(store.Folder) {
		c.Detail = p.Say("no runs yet")
		return c, true
	}
	if err := p.dir.MayWrite(store.Folder); err != nil {
		e := fault.From(store.Trouble(p.dir, err)).Translated(p.Language)
		c.addDefect(Problem, store.Folder, e.Message)
		c.Detail, c.Remedy = p.Say("it cannot be written"), strings.ReplaceAll(e.Hint, p.Say("; nothing was changed"), "")
		info, statErr := p.dir.Stat(store.Folder)
		return c, statErr == nil && info.IsDir()
	}
	for _, name := range []string{filestore.LocksFolder, filestore.NamesFolder, textFolder, Trash} {
		info, err := p.dir.Stat(name)
		isFile := err == nil && !info.IsDir()
		if isFile || p.dir.LeadsOut(name) {
			c.addDefect(Problem, name, p.Say("is a file or a link instead of a folder"))
			c.Detail, c.Remedy = p.Say("a file is in the way"), p.Say("move it away; the folder is made again")
		}
	}
	if !p.dir.Exists(filestore.IgnoreFile) && p.dir.Exists(filestore.NamesFolder) && c.Status == OK {
		c.addDefect(Problem, filestore.IgnoreFile, p.Say("missing: run state would show up in version control"))
		c.Detail, c.Remedy, c.Fixable = p.Say("not kept out of version control"), fixRemedy, true
	}
	return c, true
}

func (p *ProjectFiles) checkSessions(v *inventory) Check {
	c := newOK("sessions", p.Say("%d readable", len(v.sessions)))
	for _, b := range v.broken {
		c.addDefect(Problem, b.Path, lang.Of(b.Err).In(p.Language))
		c.Detail = p.Say("%d readable, %d not", len(v.sessions), len(v.broken))
		if hint := fault.From(b.Err).Translated(p.Language).Hint; !strings.Contains(c.Remedy, hint) {
			if c.Remedy != "" {
				hint = p.Say("%s; or: %s", c.Remedy, hint)
			}
			c.Remedy = hint
		}
	}
	return c
}

// checkNames checks that every session is found by its name, and no two share one.
func (p *ProjectFiles) checkNames(v *inventory) Check {
	c := newOK("task names", p.Say("%d, each of one run", len(v.sessions)))
	c.Fixable = true
	names, err := p.store.Names()
	if err != nil {
		c.addDefect(Problem, filestore.NamesFolder, p.causeOf(err))
	}
	owners := map[string]string{}
	for _, s := range v.sessions {
		if names[s.TaskName] == s.SessionID {
			owners[s.TaskName] = s.SessionID
		}
	}
	for _, s := range v.sessions {
		if first, taken := owners[s.TaskName]; taken && first != s.SessionID {
			c.addDefect(Problem, store.SessionPath(s.SessionID), p.Say("has the task name %q, which run %s has too", s.TaskName, first))
			c.Fixable = false
			c.Remedy = p.Say("change task_name in one of the two files, and rename its folder in %s", artifact.Folder)
			continue
		}
		owners[s.TaskName] = s.SessionID
	}
	for _, name := range slices.Sorted(maps.Keys(owners)) {
		if names[name] != owners[name] && filestore.PlainName(name) {
			c.addDefect(Problem, filestore.NamesFolder+"/"+name, p.Say("does not lead to run %s", owners[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if owners[name] == "" && len(v.broken) == 0 && !p.dir.Exists(store.SessionPath(names[name])) {
			c.addDefect(Problem, filestore.NamesFolder+"/"+name, p.Say("belongs to no run: a start that died left it"))
		}
	}
	return p.summarizeFixable(c)
}

// summarizeFixable gives a check with problems for Fix the detail and remedy.
func (p *ProjectFiles) summarizeFixable(c Check) Check {
	if len(c.Items) == 0 {
		c.Fixable = false
		return c
	}
	c.Detail = p.Say("%d to fix", len(c.Items))
	if c.Fixable {
		c.Remedy = fixRemedy
	}
	return c
}

func (p *ProjectFiles) checkMapping(v *inventory) Check {
	c := newOK("mapping", p.Say("%d entries", len(v.sessions)))
	c.Fixable = true
	if len(v.sessions) == 0 && !p.dir.Exists(filestore.MappingFile) {
		return p.summarizeFixable(c)
	}
	faults, err := p.store.MappingFaults(v.sessions, v.broken)
	if err != nil {
		faults = []lang.Text{lang.T("cannot be used: %v", err)}
	}
	for _, what := range faults {
		c.addDefect(Problem, filestore.MappingFile, what.In(p.Language))
	}
	return p.summarizeFixable(c)
}

func (p *ProjectFiles) checkOrphans(v *inventory) Check {
	c := newOK("leftovers", p.Say("none"))
	if len(v.broken) > 0 {
		c.Detail = p.Say("none looked for among contents: a run that cannot be read may refer to any")
	}
	c.Fixable = true
	for _, name := range v.orphanTexts() {
		c.addDefect(Problem, name, p.Say("no run refers to it"))
	}
	for _, name := range v.temporaryLeftovers() {
		c.addDefect(Problem, name, p.Say("a write that is unfinished or under way"))
	}
	c = p.summarizeFixable(c)
	if c.Status == Problem { // they take space, and mislead only people
		c.Status, c.Detail = Warning, p.Say("%d files belong to nobody", len(c.Items))
	}
	return c
}

// checkLocks lists the held locks.
func (p *ProjectFiles) checkLocks() Check {
	c := newOK("locks", p.Say("none held"))
	entries, err := p.dir.ReadDir(filestore.LocksFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return c // made with the first session
	}
	if err != nil {
		c.addDefect(Problem, filestore.LocksFolder, p.causeOf(err))
		c.Detail, c.Remedy = p.Say("cannot be taken"), p.Say("make it a folder that you can write")
		return c
	}
	var held []string
	for _, e := range entries {
		name := filestore.LocksFolder + "/" + e.Name()
		holder, err := p.dir.Holder(name)
		switch {
		case err != nil:
			c.addDefect(Problem, name, p.causeOf(err))
			c.Detail, c.Remedy = p.Say("cannot be taken"), p.Say("make the file writable for you, on a file system that has locks")
		case holder != "":
			held = append(held, p.Say("%s by %s", name, holder))
		}
	}
	if len(held) > 0 {
		c.Detail = p.Say("held now: %s", strings.Join(held, ", "))
	}
	return c
}
