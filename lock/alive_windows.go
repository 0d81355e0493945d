package lock

import (
	"errors"

	"golang.org/x/sys/windows"
)

// stillActive is the exit code of a process that has not exited.
const stillActive = 259

// alive says whether there is a process of that pid, whoever owns it.
func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer windows.CloseHandle(h) // only queried
	var code uint32
	err = windows.GetExitCodeProcess(h, &code)
	return err != nil || code == stillActive
}
