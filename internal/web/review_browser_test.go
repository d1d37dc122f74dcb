package web_test

import (
	"encoding/base64"
	"strings"
	"testing"
)

// selectWords selects the first characters of a block's text, and waits for the toolbar.
func (k *desk) selectWords(block string, n int) {
	k.t.Helper()
	look[bool](k.browser, `(() => {
		const block = document.querySelector(`+quote(block)+`), walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT), range = document.createRange();
		let node = walker.nextNode();
		while (node.data.trim().length < 3) node = walker.nextNode();
		block.scrollIntoView({ block: 'center', behavior: 'instant' });
		range.setStart(node, 0);
		range.setEnd(node, Math.min(`+itoa(n)+`, node.length));
		getSelection().removeAllRanges();
		getSelection().addRange(range);
		return true;
	})()`)
	k.await(`!document.getElementById('toolbar').hidden`)
}

// TestSelectionInABrowser: each button and key of the toolbar opens an editor of its kind with the selected words, and a
// letter over selected words begins a comment.
func TestSelectionInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", oneGate...)
	for _, test := range []struct{ name, keys, button, kind, text string }{
		{"comment by key", "c", "", "change", ""},
		{"question by key", "q", "", "question", ""},
		{"replacement by key", "e", "", "edit", ""},
		{"a letter", "n", "", "change", "n"},
		{"comment by button", "", "change", "change", ""},
		{"removal by button", "", "remove", "remove", ""},
	} {
		k.selectWords("#paper p[data-l]", 6)
		if test.button != "" {
			k.press("#toolbar [data-kind=" + test.button + "]")
		} else {
			k.keys(test.keys)
		}
		k.await(`['text', 'replace'].includes(document.activeElement?.name)`)
		got := look[string](k.browser, `(() => { const f = document.activeElement.form.elements; return f.kind.value + '|' + f.text.value + '|' + [...document.querySelector('.editor [data-quote]').textContent].length; })()`)
		if want := test.kind + "|" + test.text + "|6"; got != want {
			t.Errorf("%s: the editor has %q, want %q", test.name, got, want)
		}
		k.press("[data-cancel]")
		k.await(`!document.querySelector('.editor')`)
	}
}

// TestComposingInABrowser: a key that belongs to an input method neither closes an editor nor adds the comment.
func TestComposingInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", oneGate...)
	k.comments(1, "")
	for _, key := range []string{`key: 'Escape'`, `key: 'Enter', ctrlKey: true`} {
		look[bool](k.browser, `(document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { `+key+`, isComposing: true, bubbles: true, cancelable: true })), true)`)
		if n := look[int](k.browser, `document.querySelectorAll('.editor').length`); n != 1 {
			t.Errorf("%s: %d editors", key, n)
		}
	}
}

// TestTicksInABrowser: a section that looks good stays marked over loads of the page, and decides nothing.
func TestTicksInABrowser(t *testing.T) {
	k := openDesk(t, "zh-booking", oneGate...)
	before := k.w.last(k.folder, k.session).At
	k.press(".ok")
	k.await(`document.querySelector('.ok').getAttribute('aria-pressed') === 'true' && document.querySelector('#outline .own').textContent.includes('✓')`)
	k.again()
	if n := look[int](k.browser, `document.querySelectorAll('.ok[aria-pressed=true]').length`); n != 1 {
		t.Errorf("%d sections are marked", n)
	}
	k.press(".ok[aria-pressed=true]")
	k.again()
	if n := look[int](k.browser, `document.querySelectorAll('.ok[aria-pressed=true]').length`); n != 0 {
		t.Errorf("%d sections are marked still", n)
	}
	if !k.w.last(k.folder, k.session).At.Equal(before) {
		t.Error("a tick changed the run")
	}
}

// onePixel is a picture.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// TestPastedPictureInABrowser: a pasted picture is shown, kept over loads, and named in the comment that is sent.
func TestPastedPictureInABrowser(t *testing.T) {
	if _, err := base64.StdEncoding.DecodeString(onePixel); err != nil {
		t.Fatal(err)
	}
	k := openDesk(t, "zh-booking", oneGate...)
	k.comments(1, "as drawn")
	look[bool](k.browser, `(() => {
		const bytes = Uint8Array.from(atob('`+onePixel+`'), (c) => c.charCodeAt(0)), data = new DataTransfer();
		data.items.add(new File([bytes], 'a.png', { type: 'image/png' }));
		document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
		return true;
	})()`)
	const shown = `[...document.querySelectorAll('[data-shots] img')].filter((i) => i.naturalWidth === 1).length === 1`
	k.await(shown)
	k.again()
	k.await(shown)
	k.press(".editor .primary")
	k.await(`!document.querySelector('.editor') && ` + shown)
	k.press("[data-decision=request_changes]")
	k.awaitDecision("Recorded")
	if sent := k.w.last(k.folder, k.session).Grant.Comments; len(sent) != 1 || !strings.Contains(sent[0].Text, "as drawn\nPicture: .claude/specs/") || !strings.HasSuffix(sent[0].Text, ".png") {
		t.Errorf("sent were %+v", sent)
	}
}

// TestReadingInABrowser: lines have a readable length, headings stand out, the decision is in sight everywhere, and the
// section in view is marked.
func TestReadingInABrowser(t *testing.T) {
	k := openDesk(t, "webhook-relay", "po 01-po-first.md", "answer 02-answers.json", "po 03-po-second.json", "yes", "architect 04-architect-first.md")
	for _, width := range []int64{1440, 1024, 390} {
		k.size(width, 844)
		k.again()
		for _, top := range []string{"0", "2000", "document.body.scrollHeight"} {
			look[bool](k.browser, `(scrollTo({ top: `+top+`, behavior: 'instant' }), true)`)
			k.await(`(() => { const box = document.querySelector('[data-decision=approve]').getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight; })()`)
		}
		if wide := look[int](k.browser, `document.documentElement.scrollWidth`); wide > int(width) {
			t.Errorf("at %d the page is %d pixels wide", width, wide)
		}
	}
	k.size(1440, 900)
	k.again()
	sizes := look[string](k.browser, `['h2', 'h3', 'p'].map((e) => parseFloat(getComputedStyle(document.querySelector('#paper .s ' + e + '[data-l]')).fontSize)).join()`)
	if sizes != "32,24,17" {
		t.Errorf("title, section and text have %s pixels", sizes)
	}
	if measure := look[float64](k.browser, `document.querySelector('#paper p[data-l]').getBoundingClientRect().width`); measure > 600 {
		t.Errorf("a line has %.0f pixels", measure)
	}
	look[bool](k.browser, `(document.querySelector('#outline a[href="#s4"]').click(), true)`)
	k.await(`document.querySelector('#outline [aria-current]')?.getAttribute('href') === '#s4'`)
}
