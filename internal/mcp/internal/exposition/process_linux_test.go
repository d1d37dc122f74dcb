package exposition_test

// processFigures are the figures that Linux reports.
var processFigures = []string{
	"process_cpu_seconds_total", "process_max_fds", "process_network_receive_bytes_total", "process_network_transmit_bytes_total",
	"process_open_fds", "process_resident_memory_bytes", "process_virtual_memory_bytes", "process_virtual_memory_max_bytes",
}
