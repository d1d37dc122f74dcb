//go:build linux || darwin

package exposition

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// measure returns the figures of the process by name, except for its start.
func measure() map[string]float64 {
	figures := map[string]float64{}
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) == nil {
		figures["process_cpu_seconds_total"] = float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
	}
	for name, which := range map[string]int{"process_max_fds": syscall.RLIMIT_NOFILE, "process_virtual_memory_max_bytes": syscall.RLIMIT_AS} {
		var limit syscall.Rlimit
		if syscall.Getrlimit(which, &limit) == nil {
			figures[name] = float64(limit.Cur)
		}
	}
	if dir, err := os.Open("/dev/fd"); err == nil {
		if names, err := dir.Readdirnames(0); err == nil {
			figures["process_open_fds"] = float64(len(names) - 1) // without the one that lists them
		}
		_ = dir.Close()
	}
	// The rest is in files that only Linux has.
	var size, resident float64
	statm, _ := os.ReadFile("/proc/self/statm")
	if n, _ := fmt.Sscan(string(statm), &size, &resident); n == 2 {
		page := float64(os.Getpagesize())
		figures["process_virtual_memory_bytes"], figures["process_resident_memory_bytes"] = size*page, resident*page
	}
	netstat, _ := os.ReadFile("/proc/self/net/netstat")
	addTraffic(figures, string(netstat))
	return figures
}

// addTraffic reads pairs of lines: names behind a title, and their values behind the same title.
func addTraffic(figures map[string]float64, netstat string) {
	lines := strings.Split(netstat, "\n")
	for i := 1; i < len(lines); i += 2 {
		names, values := strings.Fields(lines[i-1]), strings.Fields(lines[i])
		if len(names) == 0 || names[0] != "IpExt:" || len(names) != len(values) {
			continue
		}
		for j, name := range names {
			value, err := strconv.ParseFloat(values[j], 64)
			switch {
			case err != nil:
			case name == "InOctets":
				figures["process_network_receive_bytes_total"] = value
			case name == "OutOctets":
				figures["process_network_transmit_bytes_total"] = value
			}
		}
	}
}
