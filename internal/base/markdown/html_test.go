package markdown

import (
	"strings"
	"testing"
)

// TestHTML: headings, items and tables that a document writes in HTML.
func TestHTML(t *testing.T) {
	t.Parallel()
	d := Read("# A\n\n<h2 id=\"x\">Stories &amp; more</h2>\n<ul>\n<li><b>US-1</b>: in</li>\n<li>US-2\n<ul><li>deeper</li></ul>\n</li>\n</ul>\n"+
		"<table>\n<tr><th>ID</th><th>Text</th></tr>\n<tr>\n<td>R1</td>\n<td>signs <i>in</i>\nand out</td>\n</tr>\n<tr><td>R2</td><td>orders</td></tr>\n</table>\nafter <b>it</b>\n", nil)
	if len(d.Heads) != 2 || d.Heads[1].Level != 2 || d.Heads[1].Text != "Stories & more" {
		t.Errorf("headings: %+v", d.Heads)
	}
	for line, want := range map[int]string{4: "- US-1 : in", 5: "- US-2", 6: "  - deeper", 9: "", 18: "after <b>it</b>"} {
		if d.Said[line] != want {
			t.Errorf("line %d is %q, want %q", line, d.Said[line], want)
		}
	}
	if len(d.Tables) != 1 || strings.Join(d.Tables[0].Header, "|") != "id|text" || len(d.Tables[0].Rows) != 2 {
		t.Fatalf("tables: %+v", d.Tables)
	}
	if first, second := d.Rows[11], d.Rows[16]; strings.Join(first.Cells, "|") != "R1|signs in and out" || strings.Join(second.Cells, "|") != "R2|orders" {
		t.Errorf("rows: %+v", d.Tables[0].Rows)
	}
	for _, open := range []string{"<table>\n<tr><td>R1", "<table><tr><td></table", "</", "<", "<table></table></table>", "<td>x</td>", strings.Repeat("<ul>", 5000) + "<li>x</li>"} {
		Read(open, nil)
	}
}
