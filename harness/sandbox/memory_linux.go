package sandbox

import "syscall"

// machineMemory is the machine's memory in bytes, or 0 where it cannot be told. Source: sysinfo(2).
func machineMemory() int64 {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}
