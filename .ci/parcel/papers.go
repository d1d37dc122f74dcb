package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// part is something that is in a program: a module, the language's own library, or a file of others
// that a package embeds.
type part struct {
	name, version string
	// sum is the module's checksum as go.sum has it, "" if there is none.
	sum     string
	texts   []string
	licence string
}

var paperName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)(\.(txt|md))?$`)

// papers writes THIRD_PARTY_LICENSES and the bill of materials of the programs.
func papers(dir, version string, programs []string) error {
	parts, err := partsOf(programs)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "THIRD_PARTY_LICENSES"), notices(parts), 0o644); err != nil { //nolint:gosec // for everyone to read
		return err
	}
	bill, err := billOfMaterials(version, parts)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "bmad-mcp-"+version+".cdx.json"), bill, 0o644) //nolint:gosec // for everyone to read
}

// partsOf returns the parts of any of the programs, by name.
func partsOf(programs []string) ([]part, error) {
	found := map[string]part{}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, err
		}
		found["Go"] = part{name: "Go", version: info.GoVersion}
		for _, dep := range info.Deps {
			if dep.Replace != nil {
				return nil, fmt.Errorf("%s: %s is replaced by %s, whose licence and checksum are others", program, dep.Path, dep.Replace.Path)
			}
			found[dep.Path] = part{name: dep.Path, version: dep.Version, sum: dep.Sum}
		}
	}
	parts := slices.SortedFunc(maps.Values(found), func(a, b part) int { return cmp.Compare(a.name, b.name) })
	embedded, err := embeddedParts()
	if err != nil {
		return nil, err
	}
	parts = append(parts, embedded...)
	for i := range parts {
		if err := parts[i].read(); err != nil {
			return nil, fmt.Errorf("%s: %w", parts[i].name, err)
		}
	}
	return parts, nil
}

// embeddedParts returns the files of others, each with its licence beside it, as LICENSE.NAME.
func embeddedParts() ([]part, error) {
	files, err := filepath.Glob("internal/*/*/LICENSE.*")
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no licence of an embedded file: %w", err)
	}
	var out []part
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // a file of the module
		if err != nil {
			return nil, err
		}
		out = append(out, part{name: strings.TrimPrefix(filepath.Ext(file), "."), texts: []string{string(text)}})
	}
	return out, nil
}

// read adds the texts of a part, and what they say.
func (p *part) read() error {
	if len(p.texts) == 0 {
		dir, err := p.folder()
		if err != nil {
			return err
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if !paperName.MatchString(entry.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, entry.Name())) //nolint:gosec // a file of the module
			if err != nil {
				return err
			}
			p.texts = append(p.texts, string(text))
		}
	}
	for _, text := range p.texts {
		if id, err := licenceOf(text); err == nil {
			p.licence = id
			return nil
		}
	}
	_, err := licenceOf(strings.Join(p.texts, "\n"))
	return err
}

// folder returns the folder of a module, or of the language's own library.
func (p *part) folder() (string, error) {
	args := []string{"mod", "download", "-json", p.name + "@" + p.version}
	if p.name == "Go" {
		args = []string{"env", "-json", "GOROOT"}
	}
	said, err := exec.Command("go", args...).Output() //nolint:gosec,noctx // a module of the program
	if err != nil {
		return "", err
	}
	var out struct{ Dir, GOROOT string }
	err = json.Unmarshal(said, &out)
	return cmp.Or(out.Dir, out.GOROOT), err
}

// notices returns the texts of all parts, each text once, below the parts that have it.
func notices(parts []part) []byte {
	of := map[string][]string{}
	var order []string
	for _, p := range parts {
		name := strings.TrimSpace(p.name + " " + p.version)
		if p.licence == "MPL-2.0" {
			name += " (source: https://" + p.name + ")"
		}
		for _, text := range p.texts {
			text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
			if of[text] == nil {
				order = append(order, text)
			}
			of[text] = append(of[text], name)
		}
	}
	var b bytes.Buffer
	b.WriteString("bmad-mcp contains work of others, under these terms.\n")
	for _, text := range order {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(of[text], "\n"), text)
	}
	return b.Bytes()
}
