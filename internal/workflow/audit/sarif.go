package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Scan is the audit of one file, in the form for code scanners.
type Scan struct {
	// Version is the program's.
	Version string
	// File is the path of the document, relative to the reader of the report.
	File     string
	Stage    workflow.StageID
	Score    float64
	Findings []workflow.AuditFinding
}

// sarifLevel maps a severity to SARIF's levels.
var sarifLevel = map[string]string{"critical": "error", "major": "warning", "minor": "note", workflow.SeverityQuestion: "note"}

// WriteSARIF writes findings in the format SARIF 2.1.0.
func WriteSARIF(w io.Writer, s Scan) error {
	type object = map[string]any
	rules, results := []object{}, []object{}
	index := map[string]int{}
	for _, f := range s.Findings {
		if _, ok := index[f.ID]; !ok {
			index[f.ID] = len(rules)
			rules = append(rules, object{"id": f.ID, "shortDescription": object{"text": f.Fix}})
		}
		text := fmt.Sprintf("%s; %s", f.Problem, f.Fix)
		if !f.Asks() {
			text = fmt.Sprintf("%s (−%g); %s", f.Problem, f.Points, f.Fix)
		}
		results = append(results, object{
			"ruleId": f.ID, "ruleIndex": index[f.ID], "level": sarifLevel[f.Severity],
			"message": object{"text": text},
			"locations": []object{{"physicalLocation": object{
				"artifactLocation": object{"uri": sarifURI(s.File)},
				"region":           object{"startLine": max(f.Line, 1)},
			}}},
		})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{
			"tool":       object{"driver": object{"name": "bmad-mcp", "version": s.Version, "rules": rules}},
			"results":    results,
			"properties": object{"stage": s.Stage, "score": s.Score},
		}},
	})
}

// sarifURI escapes a path for a relative reference.
func sarifURI(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`%#?"<>\^{}|`+"`", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return strings.TrimPrefix(b.String(), "./")
}
