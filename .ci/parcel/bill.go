package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

type component struct {
	Type     string     `json:"type"`
	Ref      string     `json:"bom-ref"`
	Name     string     `json:"name"`
	Version  string     `json:"version,omitempty"`
	Licences []licensed `json:"licenses"`
	PURL     string     `json:"purl,omitempty"`
	Props    []property `json:"properties,omitempty"`
}

type licensed struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type bill struct {
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// billOfMaterials returns a CycloneDX document of the program and its parts.
func billOfMaterials(version string, parts []part) ([]byte, error) {
	when, err := epoch()
	if err != nil {
		return nil, err
	}
	self := component{Type: "application", Name: "bmad-mcp", Version: version, Licences: under("MIT"), PURL: "pkg:golang/github.com/bmad-mcp/bmad-mcp@v" + version}
	self.Ref = self.PURL
	out := bill{Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Metadata: metadata{when.Format(time.RFC3339), self}}
	above := dependency{Ref: self.Ref, DependsOn: []string{}}
	for _, p := range parts {
		c := component{Type: "library", Ref: p.name, Name: p.name, Version: p.version, Licences: under(p.licence)}
		switch {
		case p.name == "Go":
			c.Name, c.PURL = "stdlib", "pkg:golang/stdlib@"+strings.TrimPrefix(p.version, "go")
		case strings.Contains(p.name, "/"):
			c.PURL = "pkg:golang/" + p.name + "@" + p.version
		}
		if c.PURL != "" {
			c.Ref = c.PURL
		}
		if p.sum != "" {
			// What go.sum has is of the module's files one by one, not of one that could be downloaded.
			sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.sum, "h1:"))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			c.Props = []property{{"go.sum:h1", hex.EncodeToString(sum)}}
		}
		above.DependsOn = append(above.DependsOn, c.Ref)
		out.Components = append(out.Components, c)
	}
	out.Dependencies = []dependency{above}
	data, err := json.MarshalIndent(out, "", "  ")
	return append(data, '\n'), err
}

func under(id string) []licensed {
	out := make([]licensed, 1)
	out[0].License.ID = id
	return out
}
