package exposition

import (
	"syscall"
	"unsafe"
)

var (
	kernel      = syscall.NewLazyDLL("kernel32.dll")
	memoryInfo  = kernel.NewProc("K32GetProcessMemoryInfo")
	handleCount = kernel.NewProc("GetProcessHandleCount")
)

// memoryCounters is PROCESS_MEMORY_COUNTERS_EX.
type memoryCounters struct {
	size, faults            uint32
	peakResident, resident  uintptr
	_, _, _, _, _, _, owned uintptr
}

// maxHandles is the limit of Windows for every process.
const maxHandles = 16 << 20

// measure returns the figures of the process by name, except for its start.
func measure() map[string]float64 {
	figures := map[string]float64{"process_max_fds": maxHandles}
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return figures
	}
	var created, exited, system, user syscall.Filetime
	if syscall.GetProcessTimes(self, &created, &exited, &system, &user) == nil {
		seconds := func(f syscall.Filetime) float64 {
			return float64(uint64(f.HighDateTime)<<32|uint64(f.LowDateTime)) / 1e7
		}
		figures["process_cpu_seconds_total"] = seconds(system) + seconds(user)
	}
	m := memoryCounters{size: uint32(unsafe.Sizeof(memoryCounters{}))}
	if ok, _, _ := memoryInfo.Call(uintptr(self), uintptr(unsafe.Pointer(&m)), uintptr(m.size)); ok != 0 {
		figures["process_virtual_memory_bytes"], figures["process_resident_memory_bytes"] = float64(m.owned), float64(m.resident)
	}
	var handles uint32
	if ok, _, _ := handleCount.Call(uintptr(self), uintptr(unsafe.Pointer(&handles))); ok != 0 {
		figures["process_open_fds"] = float64(handles)
	}
	return figures
}
