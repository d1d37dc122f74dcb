package exposition

import (
	_ "embed"
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"
)

// Go adds the figures of the Go runtime, by the names that the Prometheus client for Go gave them.
func (p *Page) Go() {
	p.Add(Gauge, "go_info", "Information about the Go environment.", Sample{Labels: []string{"version", runtime.Version()}, Value: 1})
	p.One(Gauge, "go_goroutines", "Number of goroutines that currently exist.", float64(runtime.NumGoroutine()))
	threads, _ := runtime.ThreadCreateProfile(nil)
	p.One(Gauge, "go_threads", "Number of OS threads created.", float64(threads))
	p.One(Gauge, "go_sched_gomaxprocs_threads",
		"The current runtime.GOMAXPROCS setting, or the number of operating system threads that can execute user-level Go code simultaneously. "+
			"Sourced from /sched/gomaxprocs:threads.", float64(runtime.GOMAXPROCS(0)))
	percent := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(percent)
	p.One(Gauge, "go_gc_gogc_percent",
		"Heap size target percentage configured by the user, otherwise 100. "+
			"This value is set by the GOGC environment variable, and the runtime/debug.SetGCPercent function. "+
			"Sourced from /gc/gogc:percent.", float64(percent[0].Value.Uint64()))
	p.One(Gauge, "go_gc_gomemlimit_bytes",
		"Go runtime memory limit configured by the user, otherwise math.MaxInt64. "+
			"This value is set by the GOMEMLIMIT environment variable, and the runtime/debug.SetMemoryLimit function. "+
			"Sourced from /gc/gomemlimit:bytes.", float64(debug.SetMemoryLimit(-1))) // -1 only reads it
	p.collections()
	p.memory()
}

// collections adds the figures of the garbage collections.
func (p *Page) collections() {
	gc := debug.GCStats{PauseQuantiles: make([]time.Duration, 5)}
	debug.ReadGCStats(&gc)
	var pauses []Sample
	for i, pause := range gc.PauseQuantiles {
		pauses = append(pauses, Sample{"", []string{"quantile", number(float64(i) / 4)}, pause.Seconds()})
	}
	pauses = append(pauses, Sample{"_sum", nil, gc.PauseTotal.Seconds()}, Sample{"_count", nil, float64(gc.NumGC)})
	p.Add(Summary, "go_gc_duration_seconds", "A summary of the wall-time pause (stop-the-world) duration in garbage collection cycles.", pauses...)
	p.One(Gauge, "go_memstats_last_gc_time_seconds", "Number of seconds since 1970 of last garbage collection.", float64(gc.LastGC.UnixNano())/1e9)
}

// memoryFigures has a line for each figure of the memory: its name, kind, field of runtime.MemStats, and help.
//
//go:embed memory.tsv
var memoryFigures string

// memory adds the figures of the memory.
func (p *Page) memory() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fields := reflect.ValueOf(m)
	for line := range strings.Lines(memoryFigures) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		p.One(Kind(row[1]), row[0], row[3], float64(fields.FieldByName(row[2]).Uint()))
	}
}
