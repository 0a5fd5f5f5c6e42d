"""``@loop``, the function of a module that NumPy calls: it runs ``@states`` on a batch, alone or with a team.

``@states`` is a kernel on one core: ``i32 (ptr args, ptr dims, ptr steps, ptr data)``, 0 if it went well, else it had no
memory for its workspace. `DATA` is what ``data`` points to.
"""

__all__ = ["DATA", "GRAIN", "HOST", "LEAST", "REFUSALS", "TEAM", "entry"]

LEAST, GRAIN, TEAM, REFUSALS, HOST = range(5)
"""States worth waking a thread for; those that threads take at a time; where the team is, a count (see `guard`), and what NumPy
has to tell (see `direct`)."""
DATA = 5
"""Words before the addresses of the tables."""

ARGUMENTS = "ptr %args, ptr %dims, ptr %steps, ptr %data"

# Every bit that is a floating-point exception on x86, ARM or Windows, whichever bit means which.
ALL_EXCEPTIONS = 31

_ENTRY = f"""
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare ptr @PyErr_NoMemory()
declare i32 @feclearexcept(i32)

define void @loop({ARGUMENTS}) #0 {{{{
entry:
  %n = load i64, ptr %dims
  %least = load i64, ptr %data
  %many = icmp sgt i64 %n, %least
  br i1 %many, label %look, label %alone
look:
  %team.at = getelementptr ptr, ptr %data, i64 {TEAM}
  %team = load ptr, ptr %team.at
  %split = load atomic ptr, ptr %team acquire, align 8
  %none = icmp eq ptr %split, null
  br i1 %none, label %alone, label %together
together:
  %together.failed = call i32 %split(ptr %team, ptr @states, i64 {{arrays}}, {ARGUMENTS})
  br label %done
alone:
  %alone.failed = call i32 @states({ARGUMENTS})
  br label %done
done:
  %failed = phi i32 [%together.failed, %together], [%alone.failed, %alone]
{{quiet}}
  %well = icmp eq i32 %failed, 0
  br i1 %well, label %exit, label %no.memory
no.memory:
  %gil = call i32 @PyGILState_Ensure()
  %ignored = call ptr @PyErr_NoMemory()
  call void @PyGILState_Release(i32 %gil)
  br label %exit
exit:
  ret void
}}}}
"""


def entry(arrays: int, warn: bool) -> str:
    """LLVM text of ``@loop`` of a kernel with so many arguments and results.

    Without `warn` it leaves no floating-point flags behind, so that NumPy has nothing to warn of.
    """
    quiet = "" if warn else f"  %cleared = call i32 @feclearexcept(i32 {ALL_EXCEPTIONS})"
    return _ENTRY.format(arrays=arrays, quiet=quiet)
