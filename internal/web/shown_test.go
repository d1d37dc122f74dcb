package web_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// shapes are ways to write a document; each § becomes a word that occurs once in the document, and
// each ¤ the name of something that the page's style or script reads.
var shapes = []string{
	"§ *§* **§ `§`** ~~§~~ § <§@§.org> https://§.org www.§.org", "# § {#¤ .¤}\n\n[§](#§) [§](#§ '§')", "§\n===", "§\n---", "###### § ######",
	"```§\t¤\n§\n```", "```text ¤ §\n§\n```", "~~~ §\v¤\n§\n~~~", "```\u00a0¤ §\n§\n```", "````mermaid §\ngraph TD; §-->§\n````", "```¤\n§\n```", "``` {.¤ #¤ hidden §=\"§\"}\n§", "> ```§ §\n> §\n> ```",
	"- ```¤\t¤ §\n  §\n  ```", "    §\n\t§", "[§](https://§.org/§)", "[§](https://§.org '§ §')", "[](https://§.org/§ \"§\")", "[](§)", "[ ](§)", "[§](<§ §> (§))", "[§](javascript:§)",
	"[*§*](/§ '§')", "[https://§.org](https://§.org)", "[![§](§ '§')](§ '§')", "![§ *§* [§](§)](§ \"§\")", "![](§)", "[§][§]\n\n[§]: §", "[§ §]: https://§.org/§ '§\n§'", "[a¤]: <§> \"§\"\n\n[§][a¤] [a¤]", "> [q¤]: § '§'\n>\n> [q¤]",
	"<!-- § -->", "§ <!-- § --> §", "<!-- §\n\n§", "<div class=\"¤\" hidden>§</div>", "<span class='¤' id=¤ style='display:none'>§</span> §", "<details><summary>§</summary>\n\n§ **§**\n\n</details>", "<details>\n<summary>§</summary>§",
	"<script>§</script>", "<style>.paper { display: none } /* § */</style>", "<template>§</template>", "<textarea>§", "<![CDATA[ § ]]>", "<?php § ?>", "<!X § >", "</div></div> §", "<p hidden>§\n\n§</p>", "&lt;§&gt; &#60;§ &amp;§; \\<§\\>",
	"| § | § |\n|:--|--:|\n| § | § | § |\n| § |\n| `§\\|§` | [§](§ '§') |", "§ | §\n-|-\n§|§ <!-- § --> | §", "> | § |\n> |:-:|\n> | § | ¤ § |", "- [ ] §\n- [x] §\n  - [X] §", "§[^§]\n\n[^§]: §", "[^1]: §\n    §", "§\n: §", "*[§]: §",
	"9. §\n10. §\n\n987654321. §", "- §\n\n  §\n  1) §\n     > §\n     > - §", "> > > §\n§\n> §", "***\n§\n___", "§\\\n§  \n§", "§\u200b§ §\u202e§\u202c §\u2066§ §\u00ad§ \U000e0041§", "§\x00§\x1b[8m§\x7f", "\ufeff§", "§ §",
	":¤: $§$ $$\n§\n$$ {{§}} {% § %}", "--- §", "+++\n§\n+++", "[[§]] [[§|§]] ==§== ^§^ %%§%% ::: ¤\n§\n:::", "> [!NOTE] §\n> §", "\\[§\\](§)", "[§]( §", "![§", "`§``§` ``§`§``", "*§_§*_ **§", "\t- §\n\t\t- §",
	strings.Repeat("> ", 40) + "§", strings.Repeat("- ", 30) + "§ [§](§)", strings.Repeat("x", 3000) + "§", "[" + strings.Repeat("y", 900) + "](§ '" + strings.Repeat("z", 900) + "')", strings.Repeat("*", 50) + "§" + strings.Repeat("*", 50), "1. " + strings.Repeat("a\u0301\u0302", 50) + " §",
}

// writeHiding writes a document of n shapes, in random order and partly inside each other, with
// the words that have to be seen, or listed as hidden.
func writeHiding(r *rand.Rand, n int, read []string) (source string, words []string) {
	var out strings.Builder
	for range n {
		shape := shapes[r.IntN(len(shapes))]
		if r.IntN(4) == 0 {
			shape = "> " + strings.ReplaceAll(shape, "\n", "\n> ")
		}
		if r.IntN(4) == 0 {
			shape = "* " + strings.ReplaceAll(shape, "\n", "\n  ")
		}
		for strings.Contains(shape, "§") {
			words = append(words, fmt.Sprintf("w%dq", len(words)+1000))
			shape = strings.Replace(shape, "§", words[len(words)-1], 1)
		}
		for strings.Contains(shape, "¤") {
			shape = strings.Replace(shape, "¤", read[r.IntN(len(read))], 1)
		}
		out.WriteString(shape + strings.Repeat("\n", 1+r.IntN(2)))
	}
	return out.String(), words
}

var (
	cssRule    = regexp.MustCompile(`([^{}]+)\{([^{}]*)\}`)
	cssName    = regexp.MustCompile(`[.#]([a-z][a-z-]*)|\[([a-z-]+)`)
	scriptName = regexp.MustCompile(`(?:getElementById|querySelector(?:All)?|closest|matches|toggle|add|remove)\([` + "`'" + `"]([^` + "`'" + `"]+)`)
	hides      = regexp.MustCompile(`display: *none|visibility: *(hidden|collapse)|clip|opacity: *0?\.?0*[;}\s]|font-size: *0[;}\s]|(?:left|right|top|text-indent|margin-\w+): *-\d{2,}|(?:width|height): *[01]px|transparent|line-clamp|overflow: *hidden`)
)

// readNames returns the classes, ids and attributes that the style and the scripts of the pages
// read, and the ones among them that may hide an element.
func readNames(t *testing.T) (read, hiding []string) {
	t.Helper()
	var style []byte
	sheets, err := filepath.Glob("assets/*.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sheets {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		style = append(style, data...)
	}
	names := func(selector string) (out []string) {
		for _, m := range cssName.FindAllStringSubmatch(selector, -1) {
			out = append(out, m[1]+m[2])
		}
		return out
	}
	for _, m := range cssRule.FindAllStringSubmatch(string(style), -1) {
		read = append(read, names(m[1])...)
		if hides.MatchString(m[2]) {
			hiding = append(hiding, names(m[1])...)
		}
	}
	for _, name := range []string{"review", "live", "door", "run", "passkey"} {
		script, err := os.ReadFile("assets/" + name + ".js")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range scriptName.FindAllStringSubmatch(string(script), -1) {
			read = append(read, strings.Fields(m[1])...)
			read = append(read, names(m[1])...)
		}
	}
	if len(read) < 100 || len(hiding) < 4 || !slices.Contains(hiding, "unheard") || !slices.Contains(hiding, "hidden") {
		t.Fatalf("only %d names are read, and %v hide", len(read), hiding)
	}
	return read, hiding
}

// submitDocument hands a document in as a round of a run, and returns its page.
func (w *world) submitDocument(name, document string) string {
	w.t.Helper()
	folder := w.project(name)
	at := w.do(folder, request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: name, TaskName: name}})
	text, err := json.Marshal(map[string]any{"prd": document, "quality_score": 40})
	if err != nil {
		w.t.Fatal(err)
	}
	w.do(folder, request.Request{Address: project.Address{Session: at.SessionID}, Action: workflow.ActionSubmit, Stage: "po", Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Text: string(text)}}}})
	_, inbox, _ := w.get("/", "en")
	board := regexp.MustCompile(`href="(/p/[^"/]+/)">` + name + `<`).FindStringSubmatch(inbox)
	if board == nil {
		w.t.Fatalf("no project %q in %s", name, inbox)
	}
	return board[1] + "r/" + name + "/d/po"
}

// TestShownIsSaved: each word of a document is in sight on its page, or in the list of the parts that it hides,
// and no element of it has a name of the document.
func TestShownIsSaved(t *testing.T) {
	t.Parallel()
	read, hiding := readNames(t)
	w := newWorld(t)
	for seed := range uint64(8) {
		source, words := writeHiding(rand.New(rand.NewPCG(seed, 1)), 60, read)
		path := w.submitDocument(fmt.Sprintf("hiding-%d", seed), source)
		_, text, _ := w.get(path, "en")
		p := readPage(t, path, text)
		var seen strings.Builder
		for _, n := range p.nodes {
			inNotes := inside(n, func(p *html.Node) bool { class, _ := attr(p, "class"); return class == "notes" })
			inPaper := !inNotes && inside(n, func(p *html.Node) bool { id, _ := attr(p, "id"); return id == "paper" })
			inList := inside(n, func(p *html.Node) bool { class, _ := attr(p, "class"); return class == "hidden-list" })
			if !inPaper && !inList {
				continue
			}
			if n.Type == html.TextNode {
				seen.WriteString(n.Data + " ")
				continue
			}
			for _, a := range n.Attr {
				for _, value := range strings.Fields(a.Val) {
					named := a.Key == "class" || a.Key == "id"
					if inPaper && (named && slices.Contains(hiding, value) || slices.Contains(hiding, a.Key)) && value != "adder" {
						if id, _ := attr(n, "id"); id != "adder" {
							t.Errorf("seed %d: <%s %s=%q> is hidden by the style", seed, n.Data, a.Key, a.Val)
						}
					}
					if a.Key != "title" && a.Key != "href" && regexp.MustCompile(`w\d{4}q`).MatchString(value) {
						t.Errorf("seed %d: the document writes %s=%q", seed, a.Key, a.Val)
					}
				}
			}
		}
		for _, word := range words {
			if !strings.Contains(seen.String(), word) {
				at := strings.Index(source, word)
				t.Errorf("seed %d: nobody sees %s of %q", seed, word, source[max(0, at-60):min(len(source), at+40)])
			}
		}
		if t.Failed() {
			return
		}
	}
}

// seenScript returns the text of an element that a person can see: in the box of the page, with a
// size, not clipped away, not transparent.
const seenScript = `(root) => {
  let out = '';
  const seen = (el) => {
    for (let e = el; e; e = e.parentElement) {
      const s = getComputedStyle(e), box = e.getBoundingClientRect();
      if (s.display === 'contents') continue;
      if (!e.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true }) || s.clipPath !== 'none' || s.clip !== 'auto' || parseFloat(s.fontSize) < 4) return false;
      if ((s.overflowX !== 'visible' || s.overflowY !== 'visible') && (box.width < 4 || box.height < 4)) return false;
      if (s.color === s.backgroundColor) return false;
    }
    return true;
  };
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let n; (n = walker.nextNode());) {
    const range = document.createRange();
    range.selectNodeContents(n);
    const boxes = [...range.getClientRects()];
    if (!seen(n.parentElement) || !boxes.some((b) => b.width > 0 && b.height > 3 && b.right + scrollX > 0 && b.bottom + scrollY > 0 && b.left + scrollX < document.documentElement.scrollWidth)) continue;
    out += n.data + ' ';
  }
  return out;
}`

// TestShownIsSavedInABrowser is TestShownIsSaved as a browser lays the page out.
func TestShownIsSavedInABrowser(t *testing.T) {
	b := openBrowser(t)
	read, _ := readNames(t)
	w := newWorld(t)
	b.size(1280, 900)
	for seed := range uint64(6) {
		source, words := writeHiding(rand.New(rand.NewPCG(seed, 2)), 120, read)
		if seed == 0 { // each shape once, with the parts that hide
			source, words = "", nil
			for _, name := range []string{"unheard", "hidden", "skip", "over"} {
				for _, shape := range shapes {
					for strings.Contains(shape, "§") {
						words = append(words, fmt.Sprintf("w%dq", len(words)+1000))
						shape = strings.Replace(shape, "§", words[len(words)-1], 1)
					}
					source += strings.ReplaceAll(shape, "¤", name) + "\n\n"
				}
			}
		}
		b.open(w.server.URL + w.submitDocument(fmt.Sprintf("hiding-%d", seed), source))
		b.await(`document.readyState === 'complete'`)
		look[bool](b, `(document.querySelectorAll('.hidden-list').forEach((d) => { d.open = true; }), true)`)
		if look[bool](b, `!document.querySelector('.paper p')`) {
			t.Fatalf("seed %d: the document is not rendered", seed)
		}
		seen := look[string](b, `(() => { document.querySelectorAll('figure details').forEach((d) => { d.open = true; }); const seen = `+seenScript+`; return [...document.querySelectorAll('#paper, .hidden-list')].map(seen).join(' '); })()`)
		missing := 0
		for _, word := range words {
			if at := strings.Index(source, word); !strings.Contains(seen, word) && missing < 10 {
				missing++
				t.Errorf("seed %d: nobody sees %s of %q", seed, word, source[max(0, at-60):min(len(source), at+40)])
			}
		}
		t.Logf("seed %d: %d words", seed, len(words))
	}
}

// TestTemplatesNameTheirOwn: no class and no id of a page is a text of others.
func TestTemplatesNameTheirOwn(t *testing.T) {
	t.Parallel()
	// Constants of the server: kinds of notes and of rows, views, marks of stages, kinds of items, types of notes.
	own := []string{
		`"note", n.Kind, n.Look()`, `c.Weight()`, `s.ID`, `b.ID`, `look`, `"diff", p.View`, `"became", n.Fate`, `n.Look()`, `string(r.Kind)`, `row.Mark`, `string(kind.Kind)`,
		`"of-" + string(group.Type)`, `"l" + itoa(r.After)`, `class`, `"icon", classes`, `"tag state", p.State.Kind`, `"tag", f.Tag()`, `"tag", stateLookOf(m.State).Colour`, `stateLookOf(c.State).Colour`, `colour`,
		`f.ID`, `f.ID + "h"`, `codeID(p.Unchanged)`, `f.Anchor(r.After)`, `"tag", f.Severity`,
	}
	marks := regexp.MustCompile(`^("[a-z]+", )*templ\.KV\("[a-z]+", .*\)$`)
	all, err := filepath.Glob("*.templ")
	if err != nil || len(all) < 10 {
		t.Fatal(all, err)
	}
	for _, name := range all {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\b(?:class|id)=\{ (.*?) \}`).FindAllStringSubmatch(string(data), -1) {
			if !slices.Contains(own, m[1]) && !marks.MatchString(m[1]) {
				t.Errorf("%s names an element %q", name, m[1])
			}
		}
	}
}

// TestReportIsReadAsItWasEdited checks that the page of a report that was edited at its gate has the text that a
// decision on it takes, in each view.
func TestReportIsReadAsItWasEdited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	folder := w.project("clock")
	at := w.play(folder, "webhook-relay", "po 01-po-first.md", "answer 02-answers.json", "po 03-po-second.json", "yes",
		"architect 04-architect-first.md", "no explain how ordering is kept for each merchant", "architect 05-architect-second.md", "yes",
		"sm 06-sm-first.json", "yes", "dev 07-dev-first.md", "review 08-review-first.json")
	work := filepath.Join(folder, filepath.FromSlash(artifact.WorkPath(at.TaskName, workflow.Review)))
	scored, err := os.ReadFile(work)
	if err != nil {
		t.Fatal(err)
	}
	heading, rest, _ := strings.Cut(string(scored), "\n")
	w.put(work, heading+"\n\nThe clerk has seen it.\n"+rest)
	for _, view := range []string{"rendered", "source", "diff", "split"} {
		status, text, _ := w.get(w.projectPath()+"r/"+at.SessionID+"/d/review?view="+view, "en")
		if status != http.StatusOK || !strings.Contains(text, "The clerk has seen it.") || !strings.Contains(text, "You read the draft as it was edited since round 1 was scored") {
			t.Errorf("%s: %d", view, status)
		}
	}
}
