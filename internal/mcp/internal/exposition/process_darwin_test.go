package exposition_test

// processFigures are the figures that macOS reports without cgo.
var processFigures = []string{"process_cpu_seconds_total", "process_max_fds", "process_open_fds", "process_virtual_memory_max_bytes"}
