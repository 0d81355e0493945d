package dispatch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// Job is one piece of work for the session of an item.
type Job struct {
	// Ref is the item whose session it is for.
	Ref workitem.Ref
	// Item is the one whose row pays for it, when that is another (P3).
	Item workitem.Ref
	// ID names the job among those of its session.
	ID string
	// Run does the work and commits its outcome. Its context ends when the job's
	// time is up or the queue is stopped. An error only says that it failed.
	Run func(context.Context) error
}

// Options are the bounds of a Queue.
type Options struct {
	// Concurrency is how many sessions are worked on at once; at least 1.
	Concurrency int
	// Timeout bounds one job, and is asked for when the job begins; nil or zero
	// means none.
	Timeout func() time.Duration
	// Bound is how many jobs one session may hold; zero means any number.
	Bound int
	// OnError is told of each job that failed or panicked; it may be nil.
	OnError func(Job, error)
}

// Queue runs jobs. It is safe for concurrent use.
type Queue struct {
	o     Options
	slots chan struct{}
	// root is the context of every job; cut ends it.
	root context.Context
	cut  context.CancelFunc

	mu      sync.Mutex
	lanes   map[string]*lane
	stopped bool
	failed  int
	// idle is closed and made anew whenever the last lane ends.
	idle chan struct{}
}

// lane is the queue of one session. The first job is the one that runs.
type lane struct {
	jobs  []Job
	begun bool
}

// New returns a Queue that takes jobs.
func New(o Options) *Queue {
	o.Concurrency = max(o.Concurrency, 1)
	root, cut := context.WithCancel(context.Background())
	idle := make(chan struct{})
	close(idle)
	return &Queue{
		o: o, slots: make(chan struct{}, o.Concurrency), root: root, cut: cut,
		lanes: map[string]*lane{}, idle: idle,
	}
}

// Put queues a job. It refuses one whose id its session already holds or whose
// session holds as many as it may, and everything once the queue was stopped.
func (q *Queue) Put(j Job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped {
		return false
	}
	l := q.lanes[j.Ref.Key()]
	if l == nil {
		l = q.open(j.Ref.Key())
	}
	if q.o.Bound > 0 && len(l.jobs) >= q.o.Bound {
		return false
	}
	for _, held := range l.jobs {
		if held.ID == j.ID {
			return false
		}
	}
	l.jobs = append(l.jobs, j)
	return true
}

// open begins the queue of a session.
func (q *Queue) open(key string) *lane {
	if len(q.lanes) == 0 {
		q.idle = make(chan struct{})
	}
	l := &lane{}
	q.lanes[key] = l
	go q.work(key, l)
	return l
}

// Held returns the ids of what is queued or running for an item, in order.
func (q *Queue) Held(ref workitem.Ref) []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lanes[ref.Key()]
	if l == nil {
		return nil
	}
	ids := make([]string, len(l.jobs))
	for i, j := range l.jobs {
		ids[i] = j.ID
	}
	return ids
}

// work runs the jobs of one session until there are none; it is the only
// goroutine of its lane.
func (q *Queue) work(key string, l *lane) {
	for {
		q.slots <- struct{}{}
		j, ok := q.begin(key, l)
		if ok {
			q.end(l, j, q.run(j))
		}
		<-q.slots
		if !ok {
			return
		}
	}
}

// begin takes the lane's next job, or ends the lane.
func (q *Queue) begin(key string, l *lane) (Job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(l.jobs) == 0 {
		delete(q.lanes, key)
		if len(q.lanes) == 0 {
			close(q.idle)
		}
		return Job{}, false
	}
	l.begun = true
	return l.jobs[0], true
}

func (q *Queue) run(j Job) (err error) {
	ctx, cancel := q.timed()
	defer cancel()
	defer func() {
		if v := recover(); v != nil { // one job cannot end the process (C5)
			err = fmt.Errorf("internal fault in %s of %s: %v", j.ID, j.Ref, v)
		}
	}()
	return j.Run(ctx)
}

// timed is the context of a job that begins now.
func (q *Queue) timed() (context.Context, context.CancelFunc) {
	if q.o.Timeout != nil {
		if limit := q.o.Timeout(); limit > 0 {
			return context.WithTimeout(q.root, limit)
		}
	}
	return q.root, func() {}
}

func (q *Queue) end(l *lane, j Job, err error) {
	q.mu.Lock()
	l.jobs, l.begun = l.jobs[1:], false
	if err != nil {
		q.failed++
	}
	q.mu.Unlock()
	if err != nil && q.o.OnError != nil {
		q.o.OnError(j, err)
	}
}

// Failed returns how many jobs have failed so far (C7).
func (q *Queue) Failed() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failed
}

// Wait returns when no job is queued or running, or with the context's error.
func (q *Queue) Wait(ctx context.Context) error {
	q.mu.Lock()
	idle := q.idle
	q.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stop takes no more jobs, hands back those that never began, and waits for
// those that run: for drain as they are, then with their context ended, which a
// job answers after the call it is in (B4). It may be called again.
func (q *Queue) Stop(drain time.Duration) []record.Held {
	abandoned := q.abandon()
	ctx, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	if q.Wait(ctx) != nil {
		q.cut()
		_ = q.Wait(context.Background())
	}
	q.cut()
	return abandoned
}

func (q *Queue) abandon() []record.Held {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	var held []record.Held
	for _, l := range q.lanes {
		kept := 0
		if l.begun {
			kept = 1
		}
		for _, j := range l.jobs[kept:] {
			paying := j.Item
			if paying.Zero() {
				paying = j.Ref
			}
			held = append(held, record.Held{Ref: paying.String(), DeliveryID: j.ID})
		}
		l.jobs = l.jobs[:kept]
	}
	return held
}
