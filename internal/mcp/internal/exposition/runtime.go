package exposition

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Go adds the figures of the Go runtime, by the names that the Prometheus client for Go gave them.
func (p *Page) Go() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	threads, _ := runtime.ThreadCreateProfile(nil)
	percent := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(percent)
	gc := debug.GCStats{PauseQuantiles: make([]time.Duration, 5)}
	debug.ReadGCStats(&gc)

	var pauses []Sample
	for i, pause := range gc.PauseQuantiles {
		pauses = append(pauses, Sample{"", []string{"quantile", number(float64(i) / 4)}, pause.Seconds()})
	}
	pauses = append(pauses, Sample{"_sum", nil, gc.PauseTotal.Seconds()}, Sample{"_count", nil, float64(gc.NumGC)})
	p.Add(Summary, "go_gc_duration_seconds", "A summary of the wall-time pause (stop-the-world) duration in garbage collection cycles.", pauses...)
	p.Add(Gauge, "go_info", "Information about the Go environment.", Sample{Labels: []string{"version", runtime.Version()}, Value: 1})
	p.addKnown(map[string]float64{
		"go_gc_gogc_percent":               float64(percent[0].Value.Uint64()),
		"go_gc_gomemlimit_bytes":           float64(debug.SetMemoryLimit(-1)), // -1 only reads it
		"go_goroutines":                    float64(runtime.NumGoroutine()),
		"go_memstats_alloc_bytes":          float64(m.Alloc),
		"go_memstats_alloc_bytes_total":    float64(m.TotalAlloc),
		"go_memstats_buck_hash_sys_bytes":  float64(m.BuckHashSys),
		"go_memstats_frees_total":          float64(m.Frees),
		"go_memstats_gc_sys_bytes":         float64(m.GCSys),
		"go_memstats_heap_alloc_bytes":     float64(m.HeapAlloc),
		"go_memstats_heap_idle_bytes":      float64(m.HeapIdle),
		"go_memstats_heap_inuse_bytes":     float64(m.HeapInuse),
		"go_memstats_heap_objects":         float64(m.HeapObjects),
		"go_memstats_heap_released_bytes":  float64(m.HeapReleased),
		"go_memstats_heap_sys_bytes":       float64(m.HeapSys),
		"go_memstats_last_gc_time_seconds": float64(gc.LastGC.UnixNano()) / 1e9,
		"go_memstats_mallocs_total":        float64(m.Mallocs),
		"go_memstats_mcache_inuse_bytes":   float64(m.MCacheInuse),
		"go_memstats_mcache_sys_bytes":     float64(m.MCacheSys),
		"go_memstats_mspan_inuse_bytes":    float64(m.MSpanInuse),
		"go_memstats_mspan_sys_bytes":      float64(m.MSpanSys),
		"go_memstats_next_gc_bytes":        float64(m.NextGC),
		"go_memstats_other_sys_bytes":      float64(m.OtherSys),
		"go_memstats_stack_inuse_bytes":    float64(m.StackInuse),
		"go_memstats_stack_sys_bytes":      float64(m.StackSys),
		"go_memstats_sys_bytes":            float64(m.Sys),
		"go_sched_gomaxprocs_threads":      float64(runtime.GOMAXPROCS(0)),
		"go_threads":                       float64(threads),
	})
}
