package sdk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// methodFiles are the files of the installations, at their own paths: the project's if they lie in it, those of
// other sources there too unless the project has a file of the same name, and then below the source's name.
// Nobody writes to them: agents work on an overlay.
type methodFiles struct {
	vfs.FS
	// project is the project's folder on the disk; paths has the path of each address.
	project string
	paths   map[string]string
}

func newMethodFiles(snapshot *method.Snapshot) *methodFiles {
	files := vfs.NewMem(nil)
	m := &methodFiles{FS: files, project: snapshot.Project, paths: map[string]string{}}
	if snapshot.Catalog == nil {
		return m
	}
	listed, _ := snapshot.Catalog.Files("") // without a pattern, no pattern is wrong
	for _, f := range listed {
		ref, err := catalog.ParseRef(f.URI)
		if err != nil {
			continue
		}
		name := path.Clean("/" + ref.Path)
		if _, err := files.Stat(name); err == nil {
			name = path.Clean("/" + ref.Source + "/" + ref.Path)
		}
		err = files.GiveLater(name, f.Size, func() ([]byte, error) {
			file, err := snapshot.Catalog.Read(ref)
			if err != nil {
				return nil, fmt.Errorf("%s cannot be read: %w", name, plainError(err))
			}
			return file.Data, nil
		})
		if err == nil {
			m.paths[f.URI] = name
		}
	}
	return m
}

// pathOf returns the path of the file of an address.
func (m *methodFiles) pathOf(uri string) (string, bool) {
	uri, _, _ = strings.Cut(uri, "?")
	name, ok := m.paths[uri]
	return name, ok
}

var addresses = pattern.New(`bmad://[^\s)\]>"'` + "`" + `,;|]+`)

// withPaths replaces the addresses in a text by the paths of the files, and the project's folder on
// the disk by /.
func (m *methodFiles) withPaths(text string) string {
	if m == nil {
		return text
	}
	if m.project != "" {
		text = strings.ReplaceAll(text, filepath.ToSlash(m.project)+"/", "/")
	}
	return addresses.ReplaceAllStringFunc(text, func(uri string) string {
		plain := strings.TrimRight(uri, ".:")
		if name, ok := m.pathOf(plain); ok {
			return name + uri[len(plain):]
		}
		return uri
	})
}

// Template returns the file of a template of the method: of the agent's own files first. A name is for example
// prd-tmpl, prd or a path. The error about a name that is not there lists the names.
func (c *Client) Template(_ context.Context, agentID, name string) ([]byte, error) {
	agent, m, err := c.shelf.findAgent(agentID)
	if err != nil {
		return nil, err
	}
	stem := func(file string) string {
		base := strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".yaml"), ".yml")
		return strings.TrimSuffix(strings.TrimSuffix(base, "-tmpl"), "-template")
	}
	var all []string
	for _, file := range append(slices.Clone(agent.Files), slices.Sorted(maps.Values(m.shelf.paths))...) {
		if ext := path.Ext(file); path.Base(path.Dir(file)) != "templates" || ext != ".yaml" && ext != ".yml" {
			continue
		}
		if all = append(all, stem(file)); stem(file) == stem(name) && strings.HasSuffix(file, strings.TrimPrefix(name, path.Base(name))) {
			return m.shelf.Read(file)
		}
	}
	slices.Sort(all)
	return nil, fmt.Errorf("no template is called %q; the templates are: %s", name, strings.Join(slices.Compact(all), ", "))
}

// plainError returns an error of the catalog in English, without the types of this program.
func plainError(err error) error {
	f := fault.From(err).Translated(lang.English)
	if f.Hint == "" {
		return errors.New(f.Message)
	}
	return fmt.Errorf("%s (%s)", f.Message, f.Hint)
}
