package cli_test

import (
	"archive/zip"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk/pandoc"
)

// TestReportAsDocx: the real program makes a document that has all headings of the report.
func TestReportAsDocx(t *testing.T) {
	if _, err := pandoc.Find(t.TempDir()); err != nil {
		t.Skipf("SKIPPED: no report is converted by the real program, as .ci/run does: %v", err)
	}
	d := newDesk(t)
	file := filepath.Join(t.TempDir(), "report.docx")
	d.run(0, "report", d.task, "--docx", "--out", file)
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	f, err := archive.Open("word/document.xml")
	if err != nil {
		t.Fatal(err)
	}
	xml, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`</w:p>`).ReplaceAllString(string(xml), "\n")
	got = "\n" + regexp.MustCompile(`<[^>]*>`).ReplaceAllString(got, "")
	headings := regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(d.run(0, "report", d.task), -1)
	if len(headings) < 4 {
		t.Fatalf("the report has the headings %q", headings)
	}
	for _, h := range headings {
		if !strings.Contains(got, "\n"+h[1]+"\n") {
			t.Errorf("the document has no heading %q", h[1])
		}
	}
}
