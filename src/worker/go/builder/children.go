package main

import (
	"os/exec"
	"runtime"
	"syscall"
)

const setParentDeathSignal = 1 // PR_SET_PDEATHSIG

// runToEnd runs a command that dies with the builder. A jail ends all that is in it, and refuses the call that says so
// once more; without a jail a compiler would go on after the host and the builder are gone.
func runToEnd(command *exec.Cmd) error {
	// The kernel ties it to the thread that starts the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, _, refused := syscall.RawSyscall(syscall.SYS_PRCTL, setParentDeathSignal, uintptr(syscall.SIGKILL), 0); refused == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	}
	return command.Run()
}
