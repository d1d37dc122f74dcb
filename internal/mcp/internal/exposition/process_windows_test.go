package exposition_test

// processFigures are the figures that Windows reports.
var processFigures = []string{
	"process_cpu_seconds_total", "process_max_fds", "process_open_fds", "process_resident_memory_bytes", "process_virtual_memory_bytes",
}
