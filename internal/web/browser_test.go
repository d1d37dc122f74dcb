package web_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// browser is a real browser.
type browser struct {
	t   *testing.T
	ctx context.Context
}

// openBrowser starts a browser, or skips the test. It is asked for by name, because it takes
// minutes in all: .ci/run does.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	name := os.Getenv("TEST_BMAD_BROWSER")
	if name == "" {
		t.Skip("SKIPPED: nobody has looked at the pages in a browser; apt-get install chromium-headless-shell, and name it in TEST_BMAD_BROWSER, as .ci/run browser does")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, chromedp.ExecPath(name), chromedp.Flag("no-sandbox", os.Getuid() == 0), chromedp.Flag("headless", true), chromedp.Flag("hide-scrollbars", true))
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{t, ctx}
	b.do(chromedp.Do(ctx))
	return b
}

// tab opens another tab of the browser.
func (b *browser) tab() *browser {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	return &browser{b.t, ctx}
}

func (b *browser) do(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// keys presses keys one after the other, as a keyboard does: the character of a key that the page
// took for itself is not typed.
func (b *browser) keys(keys ...string) {
	b.t.Helper()
	raw := func(event *input.DispatchKeyEventParams) {
		if event.Type == kb.KeyDown {
			event.Type = kb.KeyRawDown
		}
	}
	b.do(chromedp.Do(b.ctx, chromedp.KeyEvent(strings.Join(keys, ""), raw)))
}

// open loads a page.
func (b *browser) open(address string) {
	b.t.Helper()
	b.do(chromedp.Do(b.ctx, chromedp.Navigate(address)))
}

// look returns the value of an expression in the page.
func look[T any](b *browser, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	b.do(err)
	return value
}

// settle returns the value that a promise of the page comes to.
func settle[T any](b *browser, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	b.do(err)
	return value
}

// await waits until an expression is true in the page, also in one that it is led to meanwhile.
func (b *browser) await(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
	defer cancel()
	whole := "(async () => { try { return !!(await (" + expression + ")) } catch { return false } })()"
	for {
		met, err := chromedp.Run(ctx, chromedp.Evaluate[bool](whole, chromedp.EvalAwaitPromise))
		switch {
		case err == nil && met:
			return
		case ctx.Err() != nil:
			b.t.Fatalf("%s does not come true\n%s", expression, look[string](b, "document.body.innerText"))
		}
		b.do(chromedp.Do(b.ctx, chromedp.Sleep(20*time.Millisecond)))
	}
}

// size sets the size of the window.
func (b *browser) size(width, height int64) {
	b.t.Helper()
	b.do(chromedp.Do(b.ctx, chromedp.EmulateViewport(width, height)))
}

// scheme sets the colours that the person prefers: light or dark.
func (b *browser) scheme(name string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
	b.do(err)
}
