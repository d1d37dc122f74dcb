package process

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// boot names the run of the system, from which the starts of processes are counted.
var boot = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // without it, the count stands alone
	return strings.TrimSpace(string(id))
})

// startOf returns the start of a process; "" for a zombie.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The name of the program is in parentheses, and can have blanks and parentheses itself.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const state, start = 0, 19 // fields 3 and 22 of proc_pid_stat(5)
	if err != nil || len(fields) <= start || fields[state] == "Z" {
		return ""
	}
	return fields[start] + " " + boot()
}
