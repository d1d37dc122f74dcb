package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// submission is what was handed in for a stage, read.
type submission struct {
	texts      map[workflow.Engine]string
	assessment score.Assessment
	// What the server found out by itself; see examine.
	scope    []int
	audit    *workflow.Audit
	evidence *workflow.Evidence
	// workTree is the fingerprint now, sameTree what it would be had nothing changed.
	workTree, sameTree string
	// edits is where edits of the working copy are kept that the submission does not take.
	edits string
}

// readSubmission loads and assesses the results of a call, before any lock is taken.
func (r run) readSubmission(ctx context.Context, s *workflow.Session, st workflow.Stage) (*submission, error) {
	results := r.results(s)
	if len(r.req.Results) == 0 && !r.project.Dir.Exists(r.workPath(s)) {
		return nil, r.noWorkingCopy(s)
	}
	sub := &submission{texts: map[workflow.Engine]string{}}
	first := true
	for _, engine := range workflow.Engines() {
		for _, result := range results {
			if result.Engine != engine {
				continue
			}
			text, err := r.load(result)
			if err != nil {
				return nil, err
			}
			if _, twice := sub.texts[engine]; twice {
				return nil, fault.New(fault.InvalidArgument, "%s_result and %s_result_path are both given", engine, engine).
					WithHint("pass the text or the path, not both")
			}
			sub.texts[engine] = text
			a, err := score.ReadContext(ctx, st, text)
			if err != nil {
				return nil, err
			}
			if a.Defect != "" {
				return nil, fault.New(fault.InvalidArgument, "the JSON in %s_result %s", engine, a.Defect).
					WithHint("write the document as Markdown into the file that next_call names, end it with one valid ```json block as the role_prompt shows it, and submit again")
			}
			if a.Document == "" {
				return nil, fault.New(fault.InvalidArgument, "%s_result holds no document", engine).
					WithHint("submit the document for stage %q in the form its role_prompt gives", st.ID)
			}
			if first {
				sub.assessment, first = a, false
			} else {
				sub.assessment = score.Merge(sub.assessment, a)
			}
		}
	}
	if st.Gate == workflow.GateVerdict && sub.assessment.Verdict == "" {
		problem := "the submission states no verdict"
		if stated := sub.assessment.StatedVerdict; stated != "" {
			problem = fmt.Sprintf("the verdict %q is none of pass, pass_with_risk, fail", clip(stated, 80))
		}
		return nil, fault.New(fault.InvalidArgument, "%s", problem).
			WithHint(`add "verdict": "pass", "pass_with_risk" or "fail" to the JSON, or a line "Status: …" to the Markdown`)
	}
	return sub, nil
}

// load returns the text of one result.
func (r run) load(result Result) (string, error) {
	name := string(result.Engine) + "_result"
	text := result.Text
	if result.Path != "" {
		if result.Text != "" {
			return "", fault.New(fault.InvalidArgument, "%s and %s_path are both given", name, name).
				WithHint("pass the text or the path, not both")
		}
		name += "_path"
		var err error
		if text, err = r.loadFile(name, result.Path); err != nil {
			return "", err
		}
	}
	if limit := r.project.Config.MaxSubmission; int64(len(text)) > limit {
		return "", tooLarge(name, int64(len(text)), limit)
	}
	if err := checkText(name, text, len(text)); err != nil {
		return "", err
	}
	if strings.TrimSpace(text) == "" {
		return "", fault.New(fault.InvalidArgument, "%s is empty", name).
			WithHint("submit the document itself; nothing was changed")
	}
	return text, nil
}

func tooLarge(name string, size, limit int64) error {
	return fault.New(fault.InvalidArgument, "%s has %d bytes; at most %d are accepted", name, size, limit).
		WithHint("shorten the document, or raise max_submission_bytes in %s", ".claude/bmad-task.yaml")
}

// relative returns an absolute path as one from the project folder. The project
// and the path may spell the same folder differently, as /tmp and /private/tmp do.
func (r run) relative(path string) string {
	rel, err := filepath.Rel(r.project.Dir.Path(), path)
	if err == nil && filepath.IsLocal(rel) {
		return rel
	}
	project, err := filepath.EvalSymlinks(r.project.Dir.Path())
	if err != nil {
		return path
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path
	}
	if rel, err = filepath.Rel(project, filepath.Join(folder, filepath.Base(path))); err != nil {
		return path
	}
	return rel
}

// loadFile reads a submission from a regular file of the project that no symbolic link leads to.
func (r run) loadFile(name, given string) (string, error) {
	outside := func() error {
		return fault.New(fault.InvalidArgument, "%s %q is not inside the project %s", name, given, r.project.Dir.Path()).
			WithHint("write the document to a file inside the project and pass its path")
	}
	local := filepath.Clean(given)
	if filepath.IsAbs(local) {
		local = r.relative(local)
	}
	if !filepath.IsLocal(local) {
		return "", outside()
	}
	local = filepath.ToSlash(local)
	var parts []string
	for dir := local; dir != "."; dir = path.Dir(dir) {
		parts = append(parts, dir)
	}
	slices.Reverse(parts)
	for _, part := range parts {
		info, err := r.project.Dir.Lstat(part)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", fault.New(fault.NotFound, "%s %q does not exist", name, given).
				WithHint("paths are relative to the project folder %s", r.project.Dir.Path())
		case err != nil:
			return "", fault.New(fault.Storage, "%s %q cannot be read: %w", name, given, err).WithHint("check its permissions")
		case info.Mode()&fs.ModeSymlink != 0:
			return "", fault.New(fault.InvalidArgument, "%s %q leads through the symbolic link %s", name, given, part).
				WithHint("pass the path of the file itself")
		}
	}
	limit := r.project.Config.MaxSubmission
	data, err := r.project.Dir.ReadFile(local, limit)
	var kind *durable.NotRegularError
	var large *durable.TooLargeError
	switch {
	case errors.As(err, &kind):
		return "", fault.New(fault.InvalidArgument, "%s %q is not a regular file: %w", name, given, err).
			WithHint("pass the path of the document")
	case errors.As(err, &large):
		return "", tooLarge(name, max(large.Size, limit+1), limit)
	case err != nil:
		return "", fault.New(fault.Storage, "%s %q cannot be read: %w", name, given, err).WithHint("check its permissions")
	}
	return string(data), nil
}
