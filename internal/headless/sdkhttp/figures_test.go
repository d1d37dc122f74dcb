package sdkhttp

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// BenchmarkConversations holds 100 conversations, each with a document of 100 kB and a reader of its
// events.
func BenchmarkConversations(b *testing.B) {
	for b.Loop() {
		const many = 100
		d := serve(b, Options{})
		document, _ := json.Marshal(map[string]string{"file_path": "/docs/prd.md", "content": strings.Repeat("0123456789", 10_000)})
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var paths []string
		for range many {
			d.model.Add(fake.Call("write_file", string(document)), fake.Text("Written."))
			path := d.begin("write")
			d.until(path, "idle")
			d.stream(path + "/events")
			paths = append(paths, path)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse)/(1<<20), "MB/100conversations")
		if len(paths) != many {
			b.Fatal(len(paths))
		}
		d.stop()
	}
}

// BenchmarkEvent measures the time from an event to its reader.
func BenchmarkEvent(b *testing.B) {
	d := serve(b, Options{})

	d.model.Add(fake.Text("Hello."))
	path := d.begin("hello")
	d.until(path, "idle")
	s := d.stream(path + "/events")
	s.until("idle")
	e, err := d.h.holdEntry(b.Context(), strings.TrimPrefix(path, "/api/conversations/"))
	if err != nil {
		b.Fatal(err)
	}
	var total time.Duration
	n := 0
	for b.Loop() {
		d.model.Add(fake.Text("One."))
		_, _ = e.Wait(b.Context())
		from := time.Now()
		if err := e.Send(b.Context(), "again"); err != nil {
			b.Fatal(err)
		}
		s.until("turn_started")
		total += time.Since(from)
		n++
		s.until("idle")
	}
	b.ReportMetric(float64(total.Microseconds())/float64(n), "µs/event")
}
