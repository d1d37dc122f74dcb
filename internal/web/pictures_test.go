package web_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
)

const (
	aPNG  = "\x89PNG\r\n\x1a\nx"
	aGIF  = "GIF89ax"
	aJPEG = "\xff\xd8\xffx"
	aWebP = "RIFF0000WEBPVPx"
)

// paste sends a picture as a page does, and returns the status and the answer.
func (h *house) paste(data string, header map[string]string) (status int, kept struct{ Name, Path, Error string }) {
	h.t.Helper()
	status, answer, _ := h.send(sending{method: "POST", path: h.doc("/pictures"), body: data, header: header})
	if err := json.Unmarshal([]byte(answer), &kept); err != nil {
		h.t.Fatalf("%s: %v", answer, err)
	}
	return status, kept
}

func TestPictures(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	h.enter()
	h.pair()
	h.read()
	for name, test := range map[string]struct {
		data, want string
		status     int
		header     map[string]string
	}{
		"PNG":              {aPNG, ".png", 200, nil},
		"JPEG":             {aJPEG, ".jpg", 200, nil},
		"GIF":              {aGIF, ".gif", 200, nil},
		"WebP":             {aWebP, ".webp", 200, nil},
		"as another type":  {aPNG, ".png", 200, map[string]string{"Content-Type": "image/svg+xml"}},
		"SVG":              {`<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>`, "", 400, map[string]string{"Content-Type": "image/png"}},
		"SVG with a mark":  {`<?xml version="1.0"?><svg/>`, "", 400, nil},
		"a page":           {"<!DOCTYPE html><script>1</script>", "", 400, nil},
		"BMP":              {"BM" + strings.Repeat("x", 50), "", 400, nil},
		"empty":            {"", "", 400, nil},
		"at the limit":     {aPNG + strings.Repeat("x", 1<<20-len(aPNG)), ".png", 200, nil},
		"over the limit":   {aPNG + strings.Repeat("x", 1<<20), "", 413, nil},
		"without a key":    {aPNG, "", 401, map[string]string{"Authorization": ""}},
		"of another page":  {aPNG, "", 403, map[string]string{"Origin": "http://evil.example"}},
		"without a cookie": {aPNG, "", 401, map[string]string{"Cookie": ""}},
	} {
		status, kept := h.paste(test.data, test.header)
		if status != test.status || !strings.HasSuffix(kept.Name, test.want) || (kept.Error == "") != (status == 200) {
			t.Errorf("%s: %d, %+v", name, status, kept)
		}
		if status != http.StatusOK {
			continue
		}
		status, shown, head := h.send(sending{method: "GET", path: h.doc("/pictures/" + kept.Name)})
		if status != 200 || shown != test.data || !strings.HasPrefix(head.Get("Content-Type"), "image/") || head.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: shown as %d, %v", name, status, head)
		}
	}
	for _, name := range []string{"x.png", "..%2f..%2fx.png", strings.Repeat("0", 16) + ".png", strings.Repeat("0", 16) + ".svg", strings.Repeat("0", 16), ".png"} {
		if status, _, _ := h.send(sending{method: "GET", path: h.doc("/pictures/" + name)}); status != http.StatusNotFound {
			t.Errorf("%q is shown: %d", name, status)
		}
	}
}

// TestPictureGoesWithADecision: a picture is saved in the project with the decision, where the change request names it,
// and a refused decision leaves nothing there.
func TestPictureGoesWithADecision(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	h.enter()
	h.pair()
	h.read()
	_, kept := h.paste(aPNG, nil)
	folder := filepath.Join(h.folder, artifact.Folder)
	comment := map[string]any{"kind": "change", "text": "as drawn\nPicture: " + kept.Path}
	for name, changes := range map[string]map[string]any{
		"unknown":       {"comments": []any{comment}, "pictures": []string{strings.Repeat("0", 16) + ".png"}},
		"not mentioned": {"comments": []any{map[string]any{"kind": "change", "text": "x"}}, "pictures": []string{kept.Name}},
		"a path":        {"comments": []any{comment}, "pictures": []string{"../../" + kept.Name}},
		"stale":         {"comments": []any{comment}, "pictures": []string{kept.Name}, "revision": 1},
		"no decision":   {"comments": []any{comment}, "pictures": []string{kept.Name}, "decision": "accept"},
	} {
		if _, has := changes["decision"]; !has {
			changes["decision"] = "request_changes"
		}
		if status, answer, _ := h.send(sending{method: "POST", path: h.doc("/decide"), body: h.with(changes)}); status < 400 {
			t.Fatalf("%s: %d %s", name, status, answer)
		}
		if _, err := os.Stat(filepath.Join(h.folder, filepath.FromSlash(kept.Path))); err == nil {
			t.Errorf("%s: the picture is in %s", name, folder)
		}
	}
	status, answer, _ := h.send(sending{method: "POST", path: h.doc("/decide"), body: h.with(map[string]any{"decision": "request_changes", "comments": []any{comment}, "pictures": []string{kept.Name}})})
	if status != http.StatusOK {
		t.Fatal(status, answer)
	}
	if data, err := os.ReadFile(filepath.Join(h.folder, filepath.FromSlash(kept.Path))); err != nil || string(data) != aPNG {
		t.Errorf("the project has %q, %v", data, err)
	}
	if requests := h.storedSession().Current().ChangeRequests; len(requests) != 1 || !strings.Contains(requests[0].Text, kept.Path) {
		t.Errorf("the change requests are %+v", requests)
	}
	if status, shown, _ := h.send(sending{method: "GET", path: h.doc("/pictures/" + kept.Name)}); status != http.StatusOK || shown != aPNG {
		t.Errorf("afterwards it is shown as %d", status)
	}
}
