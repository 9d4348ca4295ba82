package codemode

import (
	"context"
	"sync"
	"time"

	"codemode/frames"
)

// deadline is the context of a program: it is done a little before the host ends the program. A timer is started only when
// the program calls Done, and answers are read only while a call is open: otherwise Go's own deadlock detection would not
// find a program that waits for nothing. While a call is open, the host reports the timeout.
type deadline struct {
	lock     sync.Mutex
	ends     time.Time
	isHeld   bool
	isWanted bool
	timer    *time.Timer
	done     chan struct{}
	err      error
}

func newDeadline(left time.Duration) *deadline {
	return &deadline{ends: time.Now().Add(left), done: make(chan struct{})}
}

func (d *deadline) Deadline() (time.Time, bool) {
	d.lock.Lock()
	defer d.lock.Unlock()
	return d.ends, true
}

func (d *deadline) Done() <-chan struct{} {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.isWanted = true
	d.arm()
	return d.done
}

func (d *deadline) Err() error {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.check()
	return d.err
}

func (d *deadline) Value(any) any {
	return nil
}

// told updates the deadline from the host's message: it is paused while a person is asked.
func (d *deadline) told(message frames.Head) {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.isHeld = message.IsHeld
	if !d.isHeld {
		d.ends = time.Now().Add(time.Duration(message.LeftMs) * time.Millisecond)
	}
	d.check()
	d.arm()
}

func (d *deadline) end(err error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.finish(err)
}

func (d *deadline) arm() {
	if d.timer != nil {
		d.timer.Stop()
	}
	if d.isWanted && !d.isHeld && d.err == nil {
		d.timer = time.AfterFunc(time.Until(d.ends), func() { _ = d.Err() })
	}
}

func (d *deadline) check() {
	if !d.isHeld && !time.Now().Before(d.ends) {
		d.finish(context.DeadlineExceeded)
	}
}

func (d *deadline) finish(err error) {
	if d.err == nil {
		d.err = err
		close(d.done)
	}
}
