// Command starter waits in a jail that was made ahead of need until its program has been put there, and becomes it: a
// jail takes longer to make than most programs take to run.
package main

import (
	"os"
	"runtime"
	"syscall"
)

// channel is Descriptor of the package frames, which would bring half of the standard library along.
const channel = 3

// The kernel keeps PR_SET_PDEATHSIG (die with the parent) for each thread, and exec keeps that of the calling thread. Only
// the first thread has it. Go may continue on another thread after a blocking read: the program would then outlive a
// killed host. So the first thread is locked from the start.
func init() {
	runtime.LockOSThread()
}

func main() {
	// The one byte that is not a frame: the program is there. No byte: the host has gone.
	if count, err := syscall.Read(channel, make([]byte, 1)); err != nil || count != 1 {
		os.Exit(70)
	}
	err := syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	os.Stderr.WriteString("the program cannot be started: " + err.Error() + "\n")
	os.Exit(70)
}
