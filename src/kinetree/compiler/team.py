"""Code of the team that shares out large batches: threads that sleep until a kernel offers them a job.

A caller claims the workers that are free, offers them a job that lies on its own stack, and works itself; all take the
next `grain` states until none are left. An offer that nobody has taken by then is taken back, so that nobody waits for a
thread to wake. Nothing here touches Python but its locks, which need no GIL; a caller without free workers works alone, so
that kernels called at once, or from anywhere, cannot wait for each other.

Workers compute under the caller's rounding and denormal modes, and what floating-point flags they raise is raised in the
caller. Each part is a whole number of vectors, so that the results are those of one thread, bit for bit.

::

    team      split, threads, started, workers
    worker    busy, offer, wake, done, and spare words up to a cache line
    split     i32 (team, states, count of arrays, args, dims, steps, data)
    work      void (worker): the life of a thread
"""

from kinetree.compiler.entry import ALL_EXCEPTIONS, ARGUMENTS, GRAIN

__all__ = ["TEAM_TEXT", "WORKER_WORDS"]

WORKER_WORDS = 8

TEAM_TEXT = f"""
declare i32 @PyThread_acquire_lock(ptr, i32)
declare void @PyThread_release_lock(ptr)
declare i32 @fegetenv(ptr)
declare i32 @fesetenv(ptr)
declare i32 @feclearexcept(i32)
declare i32 @fetestexcept(i32)
declare i32 @feraiseexcept(i32)

%Team = type {{ ptr, i64, i64, ptr }}
%Worker = type {{ i64, ptr, ptr, ptr, [{WORKER_WORDS - 4} x i64] }}
%Job = type {{ ptr, i64, ptr, ptr, ptr, i64, i64, i64, i32, i32, i64, ptr, [16 x i64] }}

define internal void @share(ptr %job) #0 {{
entry:
  %states = load ptr, ptr %job
  %count.at = getelementptr %Job, ptr %job, i32 0, i32 1
  %count = load i64, ptr %count.at
  %args.at = getelementptr %Job, ptr %job, i32 0, i32 2
  %args = load ptr, ptr %args.at
  %steps.at = getelementptr %Job, ptr %job, i32 0, i32 3
  %steps = load ptr, ptr %steps.at
  %data.at = getelementptr %Job, ptr %job, i32 0, i32 4
  %data = load ptr, ptr %data.at
  %n.at = getelementptr %Job, ptr %job, i32 0, i32 5
  %n = load i64, ptr %n.at
  %grain.at = getelementptr %Job, ptr %job, i32 0, i32 6
  %grain = load i64, ptr %grain.at
  %next.at = getelementptr %Job, ptr %job, i32 0, i32 7
  %failed.at = getelementptr %Job, ptr %job, i32 0, i32 9
  %own.dims = alloca i64
  %own.args = alloca ptr, i64 %count
  br label %part
part:
  %start = atomicrmw add ptr %next.at, i64 %grain monotonic
  %left = sub i64 %n, %start
  %some = icmp sgt i64 %left, 0
  br i1 %some, label %array, label %exit
array:
  %k = phi i64 [0, %part], [%k.next, %array]
  %arg.at = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg.at
  %step.at = getelementptr i64, ptr %steps, i64 %k
  %step = load i64, ptr %step.at
  %offset = mul i64 %step, %start
  %own.arg = getelementptr i8, ptr %arg, i64 %offset
  %own.arg.at = getelementptr ptr, ptr %own.args, i64 %k
  store ptr %own.arg, ptr %own.arg.at
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, %count
  br i1 %more, label %array, label %compute
compute:
  %whole = icmp sgt i64 %left, %grain
  %m = select i1 %whole, i64 %grain, i64 %left
  store i64 %m, ptr %own.dims
  %failed = call i32 %states(ptr %own.args, ptr %own.dims, ptr %steps, ptr %data)
  %before = atomicrmw or ptr %failed.at, i32 %failed monotonic
  br label %part
exit:
  ret void
}}

define void @work(ptr %worker) #0 {{
entry:
  %offer.at = getelementptr %Worker, ptr %worker, i32 0, i32 1
  %wake.at = getelementptr %Worker, ptr %worker, i32 0, i32 2
  %wake = load ptr, ptr %wake.at
  br label %sleep
sleep:
  %woken = call i32 @PyThread_acquire_lock(ptr %wake, i32 1)
  %job = atomicrmw xchg ptr %offer.at, ptr null seq_cst
  %none = icmp eq ptr %job, null
  br i1 %none, label %sleep, label %take
take:
  %environment = getelementptr %Job, ptr %job, i32 0, i32 12
  %set = call i32 @fesetenv(ptr %environment)
  %cleared = call i32 @feclearexcept(i32 {ALL_EXCEPTIONS})
  call void @share(ptr %job)
  %flags = call i32 @fetestexcept(i32 {ALL_EXCEPTIONS})
  %flags.at = getelementptr %Job, ptr %job, i32 0, i32 8
  %before = atomicrmw or ptr %flags.at, i32 %flags monotonic
  %done.at = getelementptr %Job, ptr %job, i32 0, i32 11
  %done = load ptr, ptr %done.at
  %pending.at = getelementptr %Job, ptr %job, i32 0, i32 10
  %pending = atomicrmw sub ptr %pending.at, i64 1 seq_cst
  %last = icmp eq i64 %pending, 1
  br i1 %last, label %tell, label %sleep
tell:
  call void @PyThread_release_lock(ptr %done)
  br label %sleep
}}

define i32 @split(ptr %team, ptr %states, i64 %count, {ARGUMENTS}) #0 {{
entry:
  %n = load i64, ptr %dims
  %least = load i64, ptr %data
  %grain.at = getelementptr i64, ptr %data, i64 {GRAIN}
  %grain = load i64, ptr %grain.at
  %threads.at = getelementptr %Team, ptr %team, i32 0, i32 1
  %threads = load atomic i64, ptr %threads.at acquire, align 8
  %started.at = getelementptr %Team, ptr %team, i32 0, i32 2
  %started = load atomic i64, ptr %started.at acquire, align 8
  %workers.at = getelementptr %Team, ptr %team, i32 0, i32 3
  %workers = load atomic ptr, ptr %workers.at acquire, align 8
  %others = sub i64 %threads, 1
  %most.1 = call i64 @llvm.smin.i64(i64 %others, i64 %started)
  %before.last = sub i64 %n, 1
  %other.parts = sdiv i64 %before.last, %least
  %most = call i64 @llvm.smin.i64(i64 %most.1, i64 %other.parts)
  %useful = icmp sgt i64 %most, 0
  br i1 %useful, label %prepare, label %alone
prepare:
  %claimed = alloca ptr, i64 %most
  br label %look
look:
  %w = phi i64 [0, %prepare], [%w.next, %looked]
  %c = phi i64 [0, %prepare], [%c.next, %looked]
  %worker = getelementptr %Worker, ptr %workers, i64 %w
  %claim = cmpxchg ptr %worker, i64 0, i64 1 seq_cst monotonic
  %is.free = extractvalue {{ i64, i1 }} %claim, 1
  br i1 %is.free, label %keep, label %looked
keep:
  %claimed.at = getelementptr ptr, ptr %claimed, i64 %c
  store ptr %worker, ptr %claimed.at
  br label %looked
looked:
  %one = zext i1 %is.free to i64
  %c.next = add i64 %c, %one
  %w.next = add i64 %w, 1
  %more.workers = icmp slt i64 %w.next, %started
  %more.wanted = icmp slt i64 %c.next, %most
  %look.on = and i1 %more.workers, %more.wanted
  br i1 %look.on, label %look, label %looked.at.all
looked.at.all:
  %nobody = icmp eq i64 %c.next, 0
  br i1 %nobody, label %alone, label %offer
alone:
  %alone.failed = call i32 %states({ARGUMENTS})
  ret i32 %alone.failed
offer:
  %job = alloca %Job, align 64
  store ptr %states, ptr %job
  %job1 = getelementptr %Job, ptr %job, i32 0, i32 1
  store i64 %count, ptr %job1
  %job2 = getelementptr %Job, ptr %job, i32 0, i32 2
  store ptr %args, ptr %job2
  %job3 = getelementptr %Job, ptr %job, i32 0, i32 3
  store ptr %steps, ptr %job3
  %job4 = getelementptr %Job, ptr %job, i32 0, i32 4
  store ptr %data, ptr %job4
  %job5 = getelementptr %Job, ptr %job, i32 0, i32 5
  store i64 %n, ptr %job5
  %job6 = getelementptr %Job, ptr %job, i32 0, i32 6
  store i64 %grain, ptr %job6
  %job7 = getelementptr %Job, ptr %job, i32 0, i32 7
  store i64 0, ptr %job7
  %flags.at = getelementptr %Job, ptr %job, i32 0, i32 8
  store i32 0, ptr %flags.at
  %failed.at = getelementptr %Job, ptr %job, i32 0, i32 9
  store i32 0, ptr %failed.at
  %pending.at = getelementptr %Job, ptr %job, i32 0, i32 10
  %all = add i64 %c.next, 1
  store i64 %all, ptr %pending.at
  %first = load ptr, ptr %claimed
  %first.done.at = getelementptr %Worker, ptr %first, i32 0, i32 3
  %done = load ptr, ptr %first.done.at
  %job11 = getelementptr %Job, ptr %job, i32 0, i32 11
  store ptr %done, ptr %job11
  %environment = getelementptr %Job, ptr %job, i32 0, i32 12
  %got = call i32 @fegetenv(ptr %environment)
  br label %offer.one
offer.one:
  %o = phi i64 [0, %offer], [%o.next, %offer.one]
  %o.worker.at = getelementptr ptr, ptr %claimed, i64 %o
  %o.worker = load ptr, ptr %o.worker.at
  %o.offer = getelementptr %Worker, ptr %o.worker, i32 0, i32 1
  %o.none = atomicrmw xchg ptr %o.offer, ptr %job seq_cst
  %o.wake.at = getelementptr %Worker, ptr %o.worker, i32 0, i32 2
  %o.wake = load ptr, ptr %o.wake.at
  call void @PyThread_release_lock(ptr %o.wake)
  %o.next = add i64 %o, 1
  %o.more = icmp slt i64 %o.next, %c.next
  br i1 %o.more, label %offer.one, label %compute
compute:
  call void @share(ptr %job)
  br label %take.back
take.back:
  %b = phi i64 [0, %compute], [%b.next, %take.back]
  %mine = phi i64 [1, %compute], [%mine.next, %take.back]
  %b.worker.at = getelementptr ptr, ptr %claimed, i64 %b
  %b.worker = load ptr, ptr %b.worker.at
  %b.offer = getelementptr %Worker, ptr %b.worker, i32 0, i32 1
  %b.job = atomicrmw xchg ptr %b.offer, ptr null seq_cst
  %b.untaken = icmp ne ptr %b.job, null
  %b.one = zext i1 %b.untaken to i64
  %mine.next = add i64 %mine, %b.one
  %b.next = add i64 %b, 1
  %b.more = icmp slt i64 %b.next, %c.next
  br i1 %b.more, label %take.back, label %settle
settle:
  %pending = atomicrmw sub ptr %pending.at, i64 %mine.next seq_cst
  %settled = icmp eq i64 %pending, %mine.next
  br i1 %settled, label %free, label %wait
wait:
  %waited = call i32 @PyThread_acquire_lock(ptr %done, i32 1)
  br label %free
free:
  br label %free.one
free.one:
  %f = phi i64 [0, %free], [%f.next, %free.one]
  %f.worker.at = getelementptr ptr, ptr %claimed, i64 %f
  %f.worker = load ptr, ptr %f.worker.at
  store atomic i64 0, ptr %f.worker release, align 8
  %f.next = add i64 %f, 1
  %f.more = icmp slt i64 %f.next, %c.next
  br i1 %f.more, label %free.one, label %report
report:
  %flags = load i32, ptr %flags.at
  %raised = icmp eq i32 %flags, 0
  br i1 %raised, label %exit, label %raise
raise:
  %ignored = call i32 @feraiseexcept(i32 %flags)
  br label %exit
exit:
  %failed = load i32, ptr %failed.at
  ret i32 %failed
}}

declare i64 @llvm.smin.i64(i64, i64)
"""
