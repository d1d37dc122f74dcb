package exposition

import "time"

// Process adds the figures of this process that the system reports, by the names that every client
// library of Prometheus uses. The caller tells when the process started.
func (p *Page) Process(started time.Time) {
	figures := measure()
	figures["process_start_time_seconds"] = float64(started.UnixNano()) / 1e9
	for _, f := range []struct {
		kind       Kind
		name, help string
	}{
		{Counter, "process_cpu_seconds_total", "Total user and system CPU time spent in seconds."},
		{Gauge, "process_max_fds", "Maximum number of open file descriptors."},
		{Counter, "process_network_receive_bytes_total", "Number of bytes received by the process over the network."},
		{Counter, "process_network_transmit_bytes_total", "Number of bytes sent by the process over the network."},
		{Gauge, "process_open_fds", "Number of open file descriptors."},
		{Gauge, "process_resident_memory_bytes", "Resident memory size in bytes."},
		{Gauge, "process_start_time_seconds", "Start time of the process since unix epoch in seconds."},
		{Gauge, "process_virtual_memory_bytes", "Virtual memory size in bytes."},
		{Gauge, "process_virtual_memory_max_bytes", "Maximum amount of virtual memory available in bytes."},
	} {
		if value, told := figures[f.name]; told {
			p.One(f.kind, f.name, f.help, value)
		}
	}
}
