package web_test

import (
	"encoding/json"
	"html/template"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/render"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// hostPage plays the host of an app: it answers its requests, and keeps what the app sends.
const hostPage = `<!doctype html><title>host</title><iframe id="app" src="/app" style="width: 40rem; height: 30rem"></iframe>
<script>
const sent = [], frame = document.getElementById('app');
const post = (m) => frame.contentWindow.postMessage({ jsonrpc: '2.0', ...m }, '*');
addEventListener('message', (e) => {
  if (e.source !== frame.contentWindow) return;
  sent.push(e.data);
  const { id, method } = e.data;
  if (method === 'ui/initialize') post({ id, result: { protocolVersion: '2026-01-26', hostContext: { theme: 'light', locale: '{{.Locale}}' }, hostCapabilities: {}, hostInfo: { name: 'test', version: '0' } } });
  if (method === 'ui/notifications/initialized') post({ method: 'ui/notifications/tool-result', params: { content: [{ type: 'text', text: {{.Reply}} }] } });
  if (method === 'resources/read') post({ id, result: { contents: [{ uri: e.data.params.uri, mimeType: 'application/json', text: {{.Document}} }] } });
  if (method === 'ui/message') post({ id, result: {} });
});
</script>`

// TestAppInABrowser: a host's app shows the document, in which nothing runs, hands the comments to
// the conversation, and decides nothing.
func TestAppInABrowser(t *testing.T) {
	b := openBrowser(t)
	page := render.Document("# Clock\n\nIt ticks. <img src=x onerror=\"document.title='run'\">\n\n<script>document.title='run'</script>\n")
	document, err := json.Marshal(map[string]any{"html": string(page.HTML), "hidden": page.Hidden})
	if err != nil {
		t.Fatal(err)
	}
	reply := `{"task_name":"clock","stage":"po","state":"awaiting_confirmation","score":95,"revision":2,"iteration":1,"draft":{"path":"po.md"},"gate":{"terminal":"bmad-mcp decide clock"}}`
	locale := "en"
	host := template.Must(template.New("host").Parse(hostPage))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/app" {
			w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'")
			_, _ = w.Write([]byte(mcpserver.ReviewApp()))
			return
		}
		_ = host.Execute(w, map[string]string{"Locale": locale, "Reply": reply, "Document": string(document)})
	}))
	defer server.Close()
	b.size(800, 700)
	b.open(server.URL)
	b.await(`sent.some(m => m.method === 'resources/read' && m.params.uri === 'bmad-task://tasks/clock/artifacts/po.review.json')`)
	b.await(`sent.filter(m => m.method === 'ui/notifications/size-changed').length > 1`)

	inside := func(expression string) string {
		return "(() => { const doc = document.getElementById('app').contentDocument; " + expression + "; return true })()"
	}
	b.await(inside("if (!doc.querySelector('#paper [data-l]')) return false"))
	look[bool](b, inside("doc.querySelector('#paper [data-l]').dispatchEvent(new doc.defaultView.KeyboardEvent('keydown', { key: 'Enter' }))"))
	look[bool](b, inside("doc.querySelector('.editor textarea').value = 'name the owner'; doc.querySelector('.editor').requestSubmit()"))
	look[bool](b, inside("doc.querySelectorAll('#paper [data-l]')[1].dispatchEvent(new doc.defaultView.MouseEvent('dblclick')); doc.querySelector('.editor textarea').value = 'left open'"))
	look[bool](b, inside("doc.querySelectorAll('#paper [data-l]')[2].dispatchEvent(new doc.defaultView.MouseEvent('dblclick')); doc.querySelector('.editor textarea').value = 'open, too'"))
	look[bool](b, inside("doc.getElementById('send').click()"))
	b.await(`sent.some(m => m.method === 'ui/message')`)
	said := look[string](b, `sent.find(m => m.method === 'ui/message').params.content[0].text`)
	if !strings.Contains(said, "c1 lines 1–1 “Clock”: name the owner") {
		t.Errorf("the conversation gets %q", said)
	}
	if !strings.Contains(said, "left open") || !strings.Contains(said, "open, too") {
		t.Errorf("open editors are lost: %q", said)
	}
	if role := look[string](b, `sent.find(m => m.method === 'ui/message').params.role`); role != "user" {
		t.Errorf("the words are those of the %s", role)
	}
	if asked := look[string](b, `[...new Set(sent.map(m => m.method).filter(Boolean))].sort().join(' ')`); asked != "resources/read ui/initialize ui/message ui/notifications/initialized ui/notifications/size-changed" {
		t.Errorf("the app asks for %s", asked)
	}
	if title := look[string](b, `document.getElementById('app').contentDocument.title`); title != "bmad-mcp" {
		t.Errorf("a script of the document ran: %q", title)
	}
	locale = "zh-CN"
	b.open(server.URL)
	b.await(`document.getElementById('app').contentDocument.body.innerText.includes('此页面不作决定')`)
}
