package harness

import (
	"context"
	"sync"
)

// job is one piece of work of a queue. Group names its concurrency group, or "".
type job struct {
	group string
	run   func(ctx context.Context)
}

// runJobs runs jobs in order, at most parallel at once and of each group at most its limit. A job
// whose group is full does not hold up those behind it, nor a place. When ctx ends no further job
// is started; those running are waited for.
func runJobs(ctx context.Context, jobs []job, parallel int, limits map[string]int) {
	var mu sync.Mutex
	free := sync.NewCond(&mu)
	defer context.AfterFunc(ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		free.Broadcast()
	})()
	running, inGroup := 0, map[string]int{}
	fits := func(j job) bool {
		limit, limited := limits[j.group]
		return j.group == "" || !limited || inGroup[j.group] < limit
	}
	var wg sync.WaitGroup
	mu.Lock()
	for waiting := jobs; len(waiting) > 0 && ctx.Err() == nil; {
		next := -1
		for i, j := range waiting {
			if running < max(parallel, 1) && fits(j) {
				next = i
				break
			}
		}
		if next < 0 {
			free.Wait()
			continue
		}
		j := waiting[next]
		waiting = append(waiting[:next:next], waiting[next+1:]...)
		running++
		inGroup[j.group]++
		wg.Go(func() {
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				running--
				inGroup[j.group]--
				free.Broadcast()
			}()
			j.run(ctx)
		})
	}
	mu.Unlock()
	wg.Wait()
}
