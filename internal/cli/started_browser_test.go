//go:build unix

package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/bmad-mcp/bmad-mcp/internal/web/pairing"
)

// tab is a page of a real browser.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// openTab starts a browser, or skips the test.
func openTab(t *testing.T) *tab {
	t.Helper()
	name := os.Getenv("TEST_BMAD_BROWSER")
	if name == "" {
		t.Skip("SKIPPED: nobody has started a run in a browser; apt-get install chromium-headless-shell, and name it in TEST_BMAD_BROWSER, as .ci/run browser does")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, chromedp.ExecPath(name), chromedp.Flag("no-sandbox", os.Getuid() == 0), chromedp.Flag("headless", true), chromedp.Flag("hide-scrollbars", true))
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{t, ctx}
	b.do(chromedp.Do(ctx))
	return b
}

func (b *tab) do(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) open(address string) {
	b.t.Helper()
	b.do(chromedp.Do(b.ctx, chromedp.Navigate(address)))
}

// is reports whether an expression is true in the page.
func (b *tab) is(expression string) bool {
	whole := "(async () => { try { return !!(await (" + expression + ")) } catch { return false } })()"
	met, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](whole, chromedp.EvalAwaitPromise))
	return err == nil && met // else it is led to another page now
}

func (b *tab) await(expression string) {
	b.t.Helper()
	for range 1000 {
		if b.is(expression) {
			return
		}
		b.do(chromedp.Do(b.ctx, chromedp.Sleep(30*time.Millisecond)))
	}
	text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText"))
	b.t.Fatalf("%s does not come true\n%s", expression, text)
}

func (b *tab) press(selector string) {
	b.t.Helper()
	b.await(fmt.Sprintf("document.querySelector(%q)", selector))
	b.do(chromedp.Do(b.ctx, chromedp.Click(selector)))
}

func (b *tab) write(selector, text string) {
	b.t.Helper()
	b.await(fmt.Sprintf("document.querySelector(%q)", selector))
	b.do(chromedp.Do(b.ctx, chromedp.SendKeys(selector, text)))
}

// pair enters a dashboard and pairs the browser by a code.
func (b *tab) pair(d *runDesk) {
	b.t.Helper()
	b.open(d.address)
	b.await(`document.body.dataset.screen === 'inbox'`)
	b.open(d.origin + "/pair?lang=en")
	b.await(`document.querySelector('[data-code]')`)
	code, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.querySelector('[data-code]').dataset.code`))
	if err == nil {
		_, err = pairing.Approve(filepath.Join(d.dir, ".state", "bmad-mcp"), strings.ReplaceAll(code, "-", ""), time.Now())
	}
	b.do(err)
	b.await(`localStorage.getItem('bmad-key')`)
}

// picture takes the page as it is, if a folder for pictures is named.
func (b *tab) picture(name string) {
	b.t.Helper()
	folder := os.Getenv("TEST_BMAD_PICTURES")
	if folder == "" {
		return
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1440, 1024, 390} {
			_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			b.do(err)
			b.do(chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 900)))
			data, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
			if err == nil {
				err = os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%s-%d.png", name, scheme, width)), data, 0o600)
			}
			b.do(err)
		}
	}
	b.do(chromedp.Do(b.ctx, chromedp.EmulateViewport(1280, 900)))
}

// events counts the entries of a run.
func (d *runDesk) events(run string) int {
	d.t.Helper()
	_, said, _ := d.ask("GET", run+"log.json", nil)
	var log struct{ Entries []json.RawMessage }
	if err := json.Unmarshal([]byte(said), &log); err != nil {
		d.t.Fatalf("%s: %v", said, err)
	}
	return len(log.Entries)
}

// TestRunInABrowser: a person starts a run, watches it, stops and resumes it, and takes each decision on the pages, to
// the end.
func TestRunInABrowser(t *testing.T) {
	b, d := openTab(t), openRunDesk(t)
	d.put("standin/slow", "")
	b.pair(d)
	b.open(d.origin + "/runs")
	b.press("a[href='/new']")
	b.write("#objective", "Build a to-do list for the terminal")
	time.Sleep(1100 * time.Millisecond) // no person is faster
	b.picture("new")
	b.press("[data-act=start]")
	b.await(`document.body.dataset.screen === 'run'`)
	b.await(`document.querySelector('#work .log').innerText.includes('README.md') && document.getElementById('doing').innerText.includes('README.md')`)
	b.await(`document.querySelector('.tag.state').innerText === 'PO: at work'`)
	b.await(`!document.getElementById('steers').hidden`)
	b.picture("working")
	time.Sleep(1100 * time.Millisecond)
	b.press("[data-act=stop]")
	b.await(`document.querySelector('#steers .answer').innerText.includes('Press again')`)
	b.press("[data-act=stop]")
	b.await(`document.querySelector('.tag.state').innerText === 'PO: stopped' && !document.querySelector('#steers').hidden`)
	b.picture("stopped")
	if err := os.Remove(filepath.Join(d.dir, "standin", "slow")); err != nil {
		t.Fatal(err)
	}
	d.form("/new")
	run := "/p/" + d.id + "/r/build-a-to-do-list-for-the-terminal/"
	for range 20 {
		if b.is(`document.querySelector('.tag.state.good')`) {
			break
		}
		if b.is(`document.querySelector('[data-act=resume]')`) {
			time.Sleep(1100 * time.Millisecond)
			b.press("[data-act=resume]")
			b.await(`document.querySelector('.tag.state.good, a.button.primary[href*="/d/"]')`)
			continue
		}
		before := d.events(run)
		b.press(`a.button.primary[href*="/d/"]`)
		b.await(`document.body.dataset.screen === 'document' && document.querySelector('[data-decision]')`)
		time.Sleep(1100 * time.Millisecond)
		switch {
		case b.is(`document.querySelector('[data-question]')`):
			b.is(`[...document.querySelectorAll('[data-question]')].map((f) => { f.value = 'as you like'; f.dispatchEvent(new Event('input', { bubbles: true })); }).length > 0`)
			b.press("[data-decision=answer]")
		case b.is(`document.body.innerText.includes('failed the work')`):
			b.await(`[...document.querySelectorAll('details:has(#feedback)')].every((d) => (d.open = true))`)
			b.write("#feedback", "Lost tasks are not acceptable.")
			b.press("[data-decision=request_changes]")
		default:
			b.press("[data-decision=approve]")
		}
		for n := 0; d.events(run) == before; n++ {
			if n == 200 {
				text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText"))
				t.Fatal("nothing was decided: ", text)
			}
			time.Sleep(50 * time.Millisecond)
		}
		b.open(d.origin + run)
		b.await(`document.body.dataset.screen === 'run'`)
	}
	b.await(`document.querySelector('.tag.state').innerText === 'completed'`)
	b.picture("done")
	said, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.querySelector('main').innerText"))
	b.do(err)
	if strings.Contains(said, "stopped: the workflow") || strings.Count(said, "completed") != 1 || !strings.Contains(said, "Lost tasks are not acceptable.") {
		t.Errorf("the page at the end says %s", said)
	}
}
