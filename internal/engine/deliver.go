package engine

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/obeyed"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/delivery"
)

// contractsFolder has the delivery contracts of a project; the kits use the same.
const contractsFolder = "_bmad-output/contracts"

// Handover names the teams of a delivery contract, and the file to write. FromTeam is the name of the project's folder if
// it is empty, Path a file of contractsFolder.
type Handover struct{ FromTeam, ToTeam, Path string }

// Delivered is a written contract.
type Delivered struct {
	// Status is "created", or "unchanged" if the same contract was there.
	Status     string `json:"status"`
	Path       string `json:"path"`
	ContractID string `json:"contract_id"`
	delivery.Summary
	Session *workflow.Session `json:"-"`
}

// Deliver writes the delivery contract of a run from the records of it, and returns the file and the counts. It replaces no
// file: one with another content at h.Path is a fault.Conflict, an impossible name or path a fault.InvalidArgument.
func (e *Engine) Deliver(ctx context.Context, at project.Address, h Handover) (out Delivered, err error) {
	if at.Session == "" { // the only run is taken, even one that has ended
		if all, _, _, err := e.Sessions(ctx, at); err == nil && len(all) == 1 {
			at.Session = all[0].SessionID
		}
	}
	p, id, err := e.Projects().Find(ctx, at)
	if err != nil {
		return out, err
	}
	defer p.Close()
	s, found, err := e.inspectIn(ctx, p, id)
	if err != nil {
		return out, err
	}
	f := delivery.Facts{Session: s, Found: found, OutOfScope: readOmissions(ctx, p, s)}
	if f.Header, err = h.newHeader(p); err != nil {
		return out, err
	}
	f.Date, f.SessionID, f.Entries = e.Now().Format("2006-01-02"), s.SessionID, len(s.History)
	f.ContractID += "-" + f.Date
	f.SignedBy = delivery.SignedBy(s, f.Found, f.Entries)
	name, err := checkPath(p, cmp.Or(h.Path, contractsFolder+"/"+f.ContractID+".md"))
	if err != nil {
		return out, err
	}
	if h.Path != "" {
		h.Path = name
	}
	if _, err = p.Dir.MkdirAll(filestore.LocksFolder); err != nil {
		return out, store.Trouble(p.Dir, err)
	}
	lock, err := p.Dir.Lock(ctx, filestore.ProjectLock) // no other call takes the same id
	if err != nil {
		return out, store.Trouble(p.Dir, err)
	}
	defer func() { _ = lock.Unlock() }()
	out, err = writeContract(p, f, h.Path)
	out.Session = s
	return out, err
}

// newHeader returns the front matter, with an id that has no date yet. It refuses a name that no team has.
func (h Handover) newHeader(p *project.Project) (delivery.Header, error) {
	h.FromTeam = cmp.Or(h.FromTeam, filepath.Base(p.Dir.Path()))
	from, to := artifact.Slug(h.FromTeam), artifact.Slug(h.ToTeam)
	for _, name := range []string{h.FromTeam, h.ToTeam} {
		if visible.Hides(name) || strings.ContainsAny(name, "\n\t") || len(name) > 200 || artifact.Slug(name) == "" {
			return delivery.Header{}, fault.New(fault.InvalidArgument, "%q is not the name of a team", visible.Fit(visible.Line(name), 60)).
				WithHint("a name has letters or digits, one line, and at most %d bytes", 200)
		}
	}
	if from == to {
		return delivery.Header{}, fault.New(fault.InvalidArgument, "the team %s would hand over to itself", h.FromTeam).WithHint("name the team that takes the work over")
	}
	return delivery.Header{ContractID: from + "-to-" + to, Version: "1.0", Status: "pending-acceptance", FromTeam: h.FromTeam, ToTeam: h.ToTeam}, nil
}

// checkPath returns the path of a contract from the project. It refuses a file that other programs obey.
func checkPath(p *project.Project, given string) (string, error) {
	name := p.Local(given)
	closed, _ := obeyed.Closed()
	for _, orders := range []string{".*", "_bmad", "_grimoire", "agents.md", "claude.md", "claude.local.md", "gemini.md", "skill.md"} {
		closed = append(closed, obeyed.Folder(orders))
	}
	_, isObeyed := closed.Match(name)
	why := lang.Text{}
	switch {
	case !filepath.IsLocal(filepath.FromSlash(name)):
		why = lang.T("it is outside of the project %s", p.Dir.Path())
	case strings.ToLower(path.Ext(name)) != ".md", visible.Hides(name), strings.ContainsAny(name, "\n\t\\"):
		why = lang.T("its name does not end in .md, or has characters that cannot be seen")
	case isObeyed:
		why = lang.T("other programs obey what stands there")
	}
	for above := path.Dir(name); why.Empty() && above != "."; above = path.Dir(above) {
		if info, err := p.Dir.Lstat(above); err == nil && !info.IsDir() {
			why = lang.T("%s is not a folder", above)
		}
	}
	if why.Empty() {
		return name, nil
	}
	return "", fault.New(fault.InvalidArgument, "no contract can be written to %q: %s", visible.Fit(given, 200), why).
		WithHint("name a new file, such as %s/NAME.md", contractsFolder)
}

// writeContract writes a contract to a path, or below contractsFolder, by the first id that is free.
func writeContract(p *project.Project, f delivery.Facts, given string) (out Delivered, err error) {
	spoken := p.Language(f.Session.Objective)
	base := f.ContractID
	for n := 1; ; n++ {
		if n > 1 {
			f.ContractID = fmt.Sprintf("%s-%d", base, n)
		}
		name := cmp.Or(given, contractsFolder+"/"+f.ContractID+".md")
		if isTaken(p.Dir, name, f.ContractID) {
			continue
		}
		text, sum, err := delivery.Render(f, p.DocumentLanguage(f.Session.Objective, spoken))
		if err != nil {
			return out, err
		}
		out = Delivered{Status: "unchanged", Path: name, ContractID: f.ContractID, Summary: sum}
		before, err := p.Dir.ReadFile(name, durable.MaxText)
		switch {
		case err == nil && string(before) == text:
			return out, nil
		case p.Dir.Exists(name) && given == "":
			continue
		case p.Dir.Exists(name):
			return out, fault.New(fault.Conflict, "%s exists already; nothing was written", name).WithHint("name a new file, or none for one of %s", contractsFolder)
		}
		out.Status = "created"
		made, err := p.Dir.MkdirAll(path.Dir(name))
		if err == nil {
			err = p.Dir.Replace(name, []byte(text))
		}
		if err != nil {
			p.Dir.RemoveEmpty(made)
		}
		return out, store.Trouble(p.Dir, err)
	}
}

// isTaken reports whether another file of the folder has a contract with an id.
func isTaken(dir *durable.Dir, name, id string) bool {
	names, _ := dir.Names(path.Dir(name)) // it may not exist yet
	return slices.ContainsFunc(names, func(other string) bool {
		if other == path.Base(name) || path.Ext(other) != ".md" {
			return false
		}
		head, _, err := durable.ReadHead(dir.Tree(), path.Join(path.Dir(name), other), 1<<10)
		return err == nil && strings.Contains(string(head), "\ncontract_id: "+id+"\n")
	})
}

// readOmissions returns the lines by which the requirements of a run leave parts out, at most 50.
func readOmissions(ctx context.Context, p *project.Project, s *workflow.Session) (out []string) {
	st, _ := s.Definition().Requirements()
	saved := s.Record(st.ID).Artifact
	if saved == nil {
		return nil
	}
	found, err := ofSession(ctx, p, s, nil, path.Base(saved.Path))
	if err != nil { // it is gone: the contract says so
		return nil
	}
	d := markdown.Read(found.Text, markdown.Omissions)
	for _, h := range d.Sections(markdown.Omissions) {
		for i := h.Line + 1; i < h.End && len(out) < 50; i++ {
			if isEmpty := strings.TrimSpace(d.Said[i]) == ""; !isEmpty && !markdown.IsTableRule(d.Lines[i]) {
				out = append(out, strings.TrimLeft(d.Lines[i], "-*+ \t"))
			}
		}
	}
	return out
}
