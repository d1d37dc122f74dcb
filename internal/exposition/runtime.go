package exposition

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
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

// memory adds the figures of the memory.
func (p *Page) memory() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p.One(Gauge, "go_memstats_alloc_bytes", "Number of bytes allocated in heap and currently in use. Equals to /memory/classes/heap/objects:bytes.", float64(m.Alloc))
	p.One(Counter, "go_memstats_alloc_bytes_total",
		"Total number of bytes allocated in heap until now, even if released already. Equals to /gc/heap/allocs:bytes.", float64(m.TotalAlloc))
	p.One(Gauge, "go_memstats_buck_hash_sys_bytes",
		"Number of bytes used by the profiling bucket hash table. Equals to /memory/classes/profiling/buckets:bytes.", float64(m.BuckHashSys))
	p.One(Counter, "go_memstats_frees_total", "Total number of heap objects frees. Equals to /gc/heap/frees:objects + /gc/heap/tiny/allocs:objects.", float64(m.Frees))
	p.One(Gauge, "go_memstats_gc_sys_bytes", "Number of bytes used for garbage collection system metadata. Equals to /memory/classes/metadata/other:bytes.", float64(m.GCSys))
	p.One(Gauge, "go_memstats_heap_alloc_bytes",
		"Number of heap bytes allocated and currently in use, same as go_memstats_alloc_bytes. "+
			"Equals to /memory/classes/heap/objects:bytes.", float64(m.HeapAlloc))
	p.One(Gauge, "go_memstats_heap_idle_bytes",
		"Number of heap bytes waiting to be used. "+
			"Equals to /memory/classes/heap/released:bytes + /memory/classes/heap/free:bytes.", float64(m.HeapIdle))
	p.One(Gauge, "go_memstats_heap_inuse_bytes",
		"Number of heap bytes that are in use. Equals to /memory/classes/heap/objects:bytes + /memory/classes/heap/unused:bytes", float64(m.HeapInuse))
	p.One(Gauge, "go_memstats_heap_objects", "Number of currently allocated objects. Equals to /gc/heap/objects:objects.", float64(m.HeapObjects))
	p.One(Gauge, "go_memstats_heap_released_bytes", "Number of heap bytes released to OS. Equals to /memory/classes/heap/released:bytes.", float64(m.HeapReleased))
	p.One(Gauge, "go_memstats_heap_sys_bytes",
		"Number of heap bytes obtained from system. "+
			"Equals to /memory/classes/heap/objects:bytes + /memory/classes/heap/unused:bytes + "+
			"/memory/classes/heap/released:bytes + /memory/classes/heap/free:bytes.", float64(m.HeapSys))
	p.One(Counter, "go_memstats_mallocs_total",
		"Total number of heap objects allocated, both live and gc-ed. "+
			"Semantically a counter version for go_memstats_heap_objects gauge. "+
			"Equals to /gc/heap/allocs:objects + /gc/heap/tiny/allocs:objects.", float64(m.Mallocs))
	p.One(Gauge, "go_memstats_mcache_inuse_bytes", "Number of bytes in use by mcache structures. Equals to /memory/classes/metadata/mcache/inuse:bytes.", float64(m.MCacheInuse))
	p.One(Gauge, "go_memstats_mcache_sys_bytes",
		"Number of bytes used for mcache structures obtained from system. "+
			"Equals to /memory/classes/metadata/mcache/inuse:bytes + /memory/classes/metadata/mcache/free:bytes.", float64(m.MCacheSys))
	p.One(Gauge, "go_memstats_mspan_inuse_bytes", "Number of bytes in use by mspan structures. Equals to /memory/classes/metadata/mspan/inuse:bytes.", float64(m.MSpanInuse))
	p.One(Gauge, "go_memstats_mspan_sys_bytes",
		"Number of bytes used for mspan structures obtained from system. "+
			"Equals to /memory/classes/metadata/mspan/inuse:bytes + /memory/classes/metadata/mspan/free:bytes.", float64(m.MSpanSys))
	p.One(Gauge, "go_memstats_next_gc_bytes", "Number of heap bytes when next garbage collection will take place. Equals to /gc/heap/goal:bytes.", float64(m.NextGC))
	p.One(Gauge, "go_memstats_other_sys_bytes", "Number of bytes used for other system allocations. Equals to /memory/classes/other:bytes.", float64(m.OtherSys))
	p.One(Gauge, "go_memstats_stack_inuse_bytes",
		"Number of bytes obtained from system for stack allocator in non-CGO environments. "+
			"Equals to /memory/classes/heap/stacks:bytes.", float64(m.StackInuse))
	p.One(Gauge, "go_memstats_stack_sys_bytes",
		"Number of bytes obtained from system for stack allocator. "+
			"Equals to /memory/classes/heap/stacks:bytes + /memory/classes/os-stacks:bytes.", float64(m.StackSys))
	p.One(Gauge, "go_memstats_sys_bytes", "Number of bytes obtained from system. Equals to /memory/classes/total:byte.", float64(m.Sys))
}
