package web_test

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	dashboard "github.com/bmad-mcp/bmad-mcp/internal/web"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// images is the folder of the documentation's pictures.
var images = filepath.Join("..", "..", "docs", "images")

// photo is a picture of a page.
type photo struct {
	file, path, language, scheme string
	// comment is what a person writes beside the text.
	comment string
}

// photos are the pictures of the documentation, of the world that they show.
func (w *world) photos() []photo {
	w.t.Helper()
	w.still = true
	relay, library := w.project("relay"), w.project("library")
	english := w.play(relay, "webhook-relay", "as webhook-relay", "po 01-po-first.md", "answer 02-answers.json", "po 03-po-second.json", "yes", "architect 04-architect-first.md", "no name the owner of each lane", "architect 04-architect-first.md")
	chinese := w.play(library, "zh-booking", "as zuowei", "po 01-po-first.md", "yes", "architect 02-architect-first.md")
	w.play(w.project("clock"), "webhook-relay", "as clock-in", "po 01-po-first.md")
	document := dashboard.PageOf(relay, english.SessionID, "architect")
	home, _, _ := strings.Cut(document, "/d/")
	booking := dashboard.PageOf(library, chinese.SessionID, "architect")
	const question, questionInChinese = "Which instance delivers if both have the event?", "馆内由谁负责维护？"
	return []photo{
		{"inbox.png", "/", "en", "light", ""},
		{"run.png", home + "/", "en", "light", ""},
		{"diff.png", home + "/d/po?view=split", "en", "light", ""},
		{"page-light.png", document, "en", "light", question},
		{"page-dark.png", document, "en", "dark", question},
		{"page-light.zh.png", booking, "zh", "light", questionInChinese},
		{"page-dark.zh.png", booking, "zh", "dark", questionInChinese},
	}
}

// shown returns a hash of what a picture shows, without what differs from run to run.
func (w *world) shown(p photo) string {
	w.t.Helper()
	status, page, _ := w.get(p.path, p.language)
	if status != 200 {
		w.t.Fatalf("%s is of %s: %d", p.file, p.path, status)
	}
	parts := [][]byte{[]byte(w.steady(page)), []byte(p.comment + p.scheme)}
	for _, name := range []string{"style.css", "review.css", "run.css", "review.js"} {
		data, err := os.ReadFile(filepath.Join("assets", name))
		if err != nil {
			w.t.Fatal(err)
		}
		parts = append(parts, data)
	}
	return workflow.Hash(bytes.Join(parts, nil))
}

// source is the line of a picture in the list of what the pictures show.
func source(p photo, picture []byte, shown string) string {
	return fmt.Sprintf("%s %s %s\n", p.file, workflow.Hash(picture), shown)
}

// TestPicturesAreCurrent: the pictures of the documentation were taken of the pages as they are today, and are
// quick to load. .ci/pictures takes them anew, and lists them.
func TestPicturesAreCurrent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list, err := os.ReadFile(filepath.Join(images, "SOURCES"))
	if err != nil {
		t.Fatal(err)
	}
	photos := map[string]photo{}
	for _, p := range w.photos() {
		photos[p.file] = p
	}
	files, err := filepath.Glob(filepath.Join(images, "*.*"))
	if err != nil || len(files) <= len(photos) { // there are those of the terminal too
		t.Fatal(files, err)
	}
	for _, name := range files {
		picture, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(picture) > 150_000 {
			t.Errorf("%s has %d bytes, at most 150,000 are quick to load", name, len(picture))
		}
		p, taken := photos[filepath.Base(name)]
		if taken && !strings.Contains(string(list), source(p, picture, w.shown(p))) {
			t.Errorf("%s does not show the page of today: run .ci/pictures", p.file)
		}
		if delete(photos, p.file); !taken && filepath.Ext(name) != ".svg" {
			t.Errorf("%s is not made by .ci/pictures", name)
		}
	}
	if len(photos) > 0 {
		t.Errorf("pictures are missing: %v", photos)
	}
}

// TestPicturesInABrowser takes the pictures of the documentation, if TEST_BMAD_PICTURES names a folder for them.
func TestPicturesInABrowser(t *testing.T) {
	folder := os.Getenv("TEST_BMAD_PICTURES")
	if folder == "" {
		t.Skip("SKIPPED: no pictures were asked for; TEST_BMAD_PICTURES names their folder")
	}
	b := openBrowser(t)
	b.do(chromedp.Do(b.ctx, chromedp.EmulateViewport(1100, 740, chromedp.EmulateScale(2))))
	list := ""
	for i := range newWorld(t).photos() {
		w := newWorld(t) // without the comments of the last picture
		p := w.photos()[i]
		shown := w.shown(p)
		b.scheme(p.scheme)
		address, err := url.Parse(w.server.URL + p.path)
		b.do(err)
		query := address.Query()
		query.Set("lang", p.language)
		address.RawQuery = query.Encode()
		b.open(address.String())
		b.await("document.readyState === 'complete'")
		if p.comment != "" {
			b.keys("jjjc")
			b.await(`document.activeElement?.name === 'text'`)
			b.do(chromedp.Do(b.ctx, chromedp.SendKeys(`[name=text]`, p.comment)))
			b.press(".editor button")
			b.await(`!document.querySelector('.editor')`)
			look[bool](b, `(scrollTo(0, 150), document.activeElement.blur(), true)`)
		}
		if p.path == "/" { // the folders of the test say nothing to a reader
			look[bool](b, `(document.querySelectorAll('.side .mono').forEach((c) => { c.textContent = c.textContent.replace(/.*\//, '/home/you/src/'); }), true)`)
		}
		data, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		b.do(err)
		picture, err := small(data)
		b.do(err)
		b.do(os.WriteFile(filepath.Join(folder, p.file), picture, 0o600))
		list += source(p, picture, shown)
	}
	b.do(os.WriteFile(filepath.Join(folder, "SOURCES"), []byte(list), 0o600))
}

// small returns a picture with the colours that it has most of, which are enough for text.
func small(picture []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	bounds, counts := full.Bounds(), map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(full.At(x, y)).(color.RGBA) }
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[at(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	var palette color.Palette
	for _, c := range colours[:min(len(colours), 256)] {
		palette = append(palette, c)
	}
	out, index := image.NewPaletted(bounds, palette), map[color.RGBA]uint8{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := at(x, y)
			i, known := index[c]
			if !known {
				i = uint8(palette.Index(c)) // at most 255
				index[c] = i
			}
			out.SetColorIndex(x, y, i)
		}
	}
	var packed bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&packed, out)
	return packed.Bytes(), err
}
