// Package pandoc converts the Markdown documents of agents by the program of this name.
//
// The program runs with fixed arguments, --sandbox among them, in a folder of its own that is removed, without the
// environment of this process, for [Timeout] at most, and one at a time. It has no network where the system has namespaces
// for everybody, as most Linux systems have. A filter takes out all that could name a file, since PDFs are made outside of
// the sandbox, and some pandocs, such as Debian's, find their own data files for docx and odt only without it. Images are
// left out for that reason, raw TeX and formulas stay text, and links stay only to http, https, mailto and the document.
package pandoc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/process"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// The limits of a conversion.
const (
	Timeout   = 60 * time.Second
	MaxOutput = 32 << 20 // bytes
	maxSaid   = 2000
)

// Name is the name of the program.
const Name = "pandoc"

// Formats are the formats of results, each the ending of a file.
var Formats = []string{"docx", "html", "odt", "pdf"}

// reads is the form of documents: raw TeX, formulas and raw attributes are not in it, and no metadata, whose aliases of YAML
// can stand for more than any memory holds.
const reads = "commonmark+pipe_tables+strikeout+task_lists+footnotes+gfm_auto_identifiers"

// filterFile is a file in the folder with filter, which leaves nothing in a document that has pandoc read a file, and no
// links by which a document would run a script or open a file.
const filterFile, filter = "filter.lua", `function Image(image) return image.caption end
function RawInline() return {} end
function RawBlock() return {} end
function Link(link)
  local target = link.target:lower()
  if target:match('^https?:') or target:match('^mailto:') or target:match('^#') then return link end
  return link.content
end
`

// frontMatter is the front matter of a document, and plain the lines in it that pandoc gets, as text.
var (
	frontMatter = pattern.New(`^---[ \t]*\r?\n(?:[^\0]*?\n)??(?:---|\.\.\.)[ \t]*(?:\r?\n|$)`)
	plain       = pattern.New(`(?m)^(title|subtitle|author|date):[ \t]+(?:"([^"\\\0\r\n]{1,500})"|'([^'\0\r\n]{1,500})'|([^"'\[{&*!|>#%@\0\r\n][^\0\r\n]{0,500}))[ \t]*\r?$`)
)

// splitFrontMatter returns a document without the front matter, and arguments for the plain lines of that.
func splitFrontMatter(markdown []byte) (rest []byte, args []string) {
	head := frontMatter.FindString(string(markdown))
	for _, m := range plain.FindAllStringSubmatch(head, 4) {
		args = append(args, fmt.Sprintf("--metadata=%s=%s%s%s", m[1], m[2], m[3], m[4]))
	}
	return markdown[len(head):], args
}

// turn has room for one conversion of this process, since each may take maxMemory.
var turn = make(chan struct{}, 1)

// maxMemory is the limit of the heap, in the environment of pandoc, a program of GHC.
const maxMemory = "GHCRTS=-M512M"

// noDataFile is the exit code of pandoc if a data file cannot be found.
const noDataFile = 97

// newArguments returns the arguments for a format.
func (p Program) newArguments(format string) ([]string, error) {
	args := []string{"--standalone", "--from=" + reads, "--to=" + format, "--output=-", "--metadata=pagetitle=Document", "--lua-filter=" + filterFile}
	if !slices.Contains(Formats, format) {
		return nil, fmt.Errorf("there is no format %q; there are: %s", format, strings.Join(Formats, ", "))
	}
	switch {
	case format != "pdf":
		return args, nil
	case p.Engine == "":
		return nil, fmt.Errorf("a PDF needs TeX, and neither %s is installed (apt-get install texlive-xetex); docx needs nothing more", strings.Join(engines, " nor "))
	}
	return append(args, "--pdf-engine="+p.Engine), nil
}

// Convert returns a Markdown text, which is UTF-8, in one of [Formats]. An error of the program has the beginning of its own words.
func Convert(ctx context.Context, program Program, markdown []byte, format string) ([]byte, error) {
	args, err := program.newArguments(format)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(markdown) {
		return nil, errors.New("the document is not UTF-8 text")
	}
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	markdown, plain := splitFrontMatter(markdown)
	args = append(args, plain...)
	folder, err := os.MkdirTemp("", "bmad-pandoc-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := os.WriteFile(filepath.Join(folder, filterFile), []byte(filter), 0o600); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	data, err := runProgram(limited, folder, markdown, append(slices.Clip(args), "--sandbox"), program)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == noDataFile {
		data, err = runProgram(limited, folder, markdown, args, program)
	}
	if ctx.Err() == nil && limited.Err() != nil {
		return nil, fmt.Errorf("pandoc has not finished within %s, and was ended; convert a shorter document", Timeout)
	}
	return data, cmp.Or(ctx.Err(), err)
}

// runProgram returns the output of the program, runProgram without network if the system permits.
func runProgram(ctx context.Context, folder string, in []byte, args []string, program Program) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, said := bounded{most: MaxOutput, full: cancel}, bounded{most: maxSaid, full: func() {}}
	start := func(isolate func(*exec.Cmd)) (*process.Group, error) {
		cmd := exec.CommandContext(ctx, program.Path, args...) //nolint:gosec // the caller's program, with fixed arguments
		cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = folder, bytes.NewReader(in), &out, &said
		// TeX reads below its folder only, and starts no programs.
		cmd.Env = []string{"PATH=" + program.searchPath(), "HOME=" + folder, "TMPDIR=" + folder, "LANG=C.UTF-8", maxMemory, "openin_any=p", "openout_any=p", "shell_escape=f"}
		group := process.Own(cmd, time.Second)
		isolate(cmd)
		return group, group.Start()
	}
	group, err := start(isolate)
	if err != nil {
		group, err = start(func(*exec.Cmd) {})
	}
	if err != nil {
		return nil, fmt.Errorf("pandoc cannot be started: %w", err)
	}
	_, err = group.Wait()
	group.End()
	why := cmp.Or(visible.Line(strings.ToValidUTF8(said.data.String(), "\uFFFD")), "it gives no reason")
	switch {
	case out.isFull:
		return nil, fmt.Errorf("pandoc has written more than %d bytes, and was ended", MaxOutput)
	case err != nil:
		return nil, fmt.Errorf("pandoc has failed (%w): %s", err, why)
	case out.data.Len() == 0:
		return nil, fmt.Errorf("pandoc has written nothing: %s", why)
	}
	return out.data.Bytes(), nil
}

// bounded keeps the beginning of a text, up to a size, and calls full at the end of it.
type bounded struct {
	data   bytes.Buffer
	most   int
	isFull bool
	full   func()
}

func (b *bounded) Write(p []byte) (int, error) {
	room := min(len(p), b.most-b.data.Len())
	b.data.Write(p[:room])
	if room < len(p) {
		b.isFull = true
		b.full()
	}
	return len(p), nil
}

type toolInput struct {
	FilePath string `json:"file_path" jsonschema:"absolute path of the Markdown file"`
	Format   string `json:"format" jsonschema:"docx, html, odt or pdf"`
}

// NewTool returns a tool by which agents convert files of theirs. program returns the program for each use, or the
// reason why it is not to be used.
func NewTool(program func() (Program, error)) sdk.AnyTool {
	return sdk.Tool[toolInput, string]{
		Name:        "convert_document",
		Description: "Convert a Markdown file to docx, html, odt or pdf. The result is written beside it, with the ending of the format.",
		Idempotent:  true, Timeout: Timeout + 10*time.Second,
		Run: func(ctx context.Context, in toolInput) (string, error) {
			name, err := vfs.Clean(in.FilePath)
			if err != nil {
				return "", err
			}
			to := strings.TrimSuffix(name, path.Ext(name)) + "." + in.Format
			if to == name {
				return "", fmt.Errorf("%s has the ending of the result already; name a Markdown file", name)
			}
			files := sdk.FilesOf(ctx)
			markdown, err := files.Read(name)
			if err != nil {
				return "", err
			}
			file, err := program()
			if err != nil {
				return "", err
			}
			data, err := Convert(ctx, file, markdown, in.Format)
			if err == nil {
				err = files.Write(to, data)
			}
			return fmt.Sprintf("Wrote %s (%d bytes)", to, len(data)), err
		},
	}
}
