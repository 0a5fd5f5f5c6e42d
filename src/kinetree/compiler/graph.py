"""Traced scalars: run ordinary array code on them and the graph of what it computes is left behind.

The intermediate representation, which is all that an emitter has to understand::

    graph   :=  node*                          node i refers only to nodes before it
    node    :=  input                          numbered in the order they were asked for
             |  const VALUE                    a float; only ever an operand, never a result
             |  add a b  |  sub a b  |  mul a b  |  div a b
             |  neg a    |  abs a    |  sqrt a   |  sin a    |  cos a    |  log a    |  rint a
             |  check a                        a - a, never folded: 0 for finite a, NaN otherwise
             |  where c a b                    a if c != 0 else b
    result  :=  node | float                   what an expression becomes when everything folds

Equal expressions are one node (hash-consing), and construction simplifies::

    x + 0 = x     x * 0 = 0      x * 1 = x     x * -1 = -x        x - x = 0       x + x = 2 x
    x / x = 1     (a / x) x = a  -(-x) = x     a + (-b) = a - b   a b = b a       c (d x) = (c d) x
    (-a) b = -(a b)              sin(-x) = -sin x                 cos(-x) = cos x                |-x| = |x|

Laws hold as in real algebra: NaN, infinity and the sign of zero do not survive ``x * 0 = 0``; `finite_check` brings
non-finite values back where a result must show them. Division by a constant is multiplication by its reciprocal: exact
for powers of two, otherwise about one ulp further off at most, for a tenth of the time.
"""

import time
from collections.abc import Sequence

import numpy as np

__all__ = ["Expr", "Graph", "cos", "finite_check", "log", "rint", "sin", "sqrt", "where"]

_SMALLEST, _LARGEST = 2.0**-126, 2.0**127
"""Constants made here lie between, because a kernel of float32 has to hold them."""


class Graph:
    """The nodes of one trace, in the order they were made.

    Attributes
    ----------
    nodes : list of Expr
        Every node; `Expr.index` is its place here.
    inputs : list of Expr
        The nodes made by `input`.
    started : float
        `time.perf_counter()` when the graph was made.
    """

    __slots__ = ("_constants", "_table", "inputs", "nodes", "started")

    def __init__(self):
        self.nodes: list[Expr] = []
        self.inputs: list[Expr] = []
        self.started = time.perf_counter()
        self._table: dict[tuple, Expr] = {}
        self._constants: dict[float | str, Expr] = {}

    def input(self, shape: int | tuple[int, ...] = ()) -> np.ndarray:
        """An object array of fresh inputs (...shape)."""
        array = np.empty(shape, dtype=object)
        flat = array.reshape(-1)
        for k in range(flat.size):
            flat[k] = Expr(self, "input", ())
            self.inputs.append(flat[k])
        return array

    def constant(self, value: float) -> "Expr":
        """The node that holds a float, for use as an operand."""
        key = value if value else str(value)  # tells -0.0 from 0.0
        node = self._constants.get(key)
        if node is None:
            node = self._constants[key] = Expr(self, "const", (), value)
        return node

    def again(self, node: "Expr", args: Sequence["Expr"]) -> "Expr":
        """The operation of a node of another graph on operands of this one."""
        return self._node(node.op, *args)

    def _node(self, op: str, *args: "Expr") -> "Expr":
        key = (op, *[x.index for x in args])
        node = self._table.get(key)
        if node is None:
            node = self._table[key] = Expr(self, op, args)
        return node


def _refusal(what):
    """A method that raises, because `what` would need a number."""

    def refuse(self, *others):
        raise TypeError(f"a traced value has no number yet: {what} would be a branch on data, which a kernel does not take.")

    return refuse


class Expr:
    """One scalar of a trace. Arithmetic with it makes further nodes, or plain floats where everything folds.

    Attributes
    ----------
    graph : Graph
    index : int
        Place in `graph.nodes`.
    op : str
        One of the words in the grammar above.
    args : tuple of Expr
        Operands.
    value : float or None
        Of a `const`.
    """

    __slots__ = ("args", "graph", "index", "op", "value")

    # Above NumPy's scalars, which therefore leave `np.float64(2) * x` to us; below its arrays, which work elementwise.
    __array_priority__ = -1.0

    def __init__(self, graph, op, args, value=None):
        nodes = graph.nodes
        self.graph = graph
        self.op = op
        self.args = args
        self.value = value
        self.index = len(nodes)
        nodes.append(self)

    def __add__(self, other):
        kind = other.__class__
        if kind is float:
            return self if other == 0.0 else _add_constant(self, other)
        if kind is Expr:
            return _add(self, other)
        other = _number(other)
        return other if other is NotImplemented else self + other

    __radd__ = __add__

    def __sub__(self, other):
        kind = other.__class__
        if kind is float:
            return self if other == 0.0 else _add_constant(self, -other)
        if kind is Expr:
            return _subtract(self, other)
        other = _number(other)
        return other if other is NotImplemented else self - other

    def __rsub__(self, other):
        if other.__class__ is not float:
            other = _number(other)
            if other is NotImplemented:
                return other
        return -self if other == 0.0 else _add_constant(-self, other)

    def __mul__(self, other):
        kind = other.__class__
        if kind is float:
            if other == 0.0:
                return 0.0
            if other == 1.0:
                return self
            return -self if other == -1.0 else _scale(self, other)
        if kind is Expr:
            return _multiply(self, other)
        other = _number(other)
        return other if other is NotImplemented else self * other

    __rmul__ = __mul__

    def __truediv__(self, other):
        if other.__class__ is Expr:
            return _divide(self, other)
        other = _number(other)
        if other is NotImplemented:
            return other
        if other == 0.0:
            raise ZeroDivisionError("a traced value is divided by the constant zero")
        reciprocal = 1.0 / other
        if _SMALLEST <= abs(reciprocal) <= _LARGEST:
            return self * reciprocal
        return _divide(self, self.graph.constant(other))

    def __rtruediv__(self, other):
        other = _number(other)
        if other is NotImplemented:
            return other
        return 0.0 if other == 0.0 else _divide(self.graph.constant(other), self)

    def __neg__(self):
        if self.op == "neg":
            return self.args[0]
        graph = self.graph
        key = ("neg", self.index)
        node = graph._table.get(key)
        if node is None:
            node = graph._table[key] = Expr(graph, "neg", (self,))
        return node

    def __pos__(self):
        return self

    def __abs__(self):
        if self.op in ("abs", "sqrt"):
            return self
        return self.graph._node("abs", self.args[0] if self.op == "neg" else self)

    def __pow__(self, exponent):
        exponent = _number(exponent)
        if exponent is NotImplemented:
            return exponent
        if exponent == 0.5:
            return self.sqrt()
        if exponent != int(exponent) or abs(exponent) > 64:
            raise TypeError(f"a traced value can be raised to a whole power up to 64 or to 0.5, not to {exponent}")
        result, square, n = 1.0, self, abs(int(exponent))
        while n:
            if n & 1:
                result = square * result
            n >>= 1
            if n:
                square = square * square
        return result if exponent >= 0 else 1.0 / result

    def sin(self):
        """Sine; odd."""
        if self.op == "neg":
            return -self.args[0].sin()
        return self.graph._node("sin", self)

    def cos(self):
        """Cosine; even."""
        if self.op == "neg":
            return self.args[0].cos()
        return self.graph._node("cos", self)

    def sqrt(self):
        """Square root."""
        return self.graph._node("sqrt", self)

    def log(self):
        """Natural logarithm."""
        return self.graph._node("log", self)

    def rint(self):
        """Nearest whole number, ties to even; odd."""
        if self.op == "neg":
            return -self.args[0].rint()
        return self if self.op == "rint" else self.graph._node("rint", self)

    def nonzero(self):
        """1 if the value is not 0, else 0."""
        return where(self, 1.0, 0.0)

    def finite_check(self):
        """0 if the value is finite, NaN otherwise; never folded."""
        return self.graph._node("check", self.args[0] if self.op == "neg" else self)

    __bool__ = _refusal("its truth")
    __float__ = _refusal("converting it to a float")
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refusal("comparing it")
    __hash__ = object.__hash__

    def __repr__(self):
        if self.op == "const":
            return repr(self.value)
        if self.op == "input":
            return f"input[{self.index}]"
        return f"%{self.index} = {self.op} " + " ".join(str(x.value) if x.op == "const" else f"%{x.index}" for x in self.args)


def _number(value):
    """`value` as a Python float if it is one real number, else NotImplemented (arrays then work elementwise)."""
    if isinstance(value, (int, float, np.floating, np.integer)):
        return float(value)
    return NotImplemented


def _add_constant(x, c):
    if x.op == "neg":
        return x.graph._node("sub", x.graph.constant(c), x.args[0])  # c - y
    if c < 0.0:
        return x.graph._node("sub", x, x.graph.constant(-c))
    return x.graph._node("add", x.graph.constant(c), x)


def _add(a, b):
    if b.op == "neg":
        return _subtract(a, b.args[0])
    if a.op == "neg":
        return _subtract(b, a.args[0])
    i, j = a.index, b.index
    if i > j:
        i, j, a, b = j, i, b, a
    graph = a.graph
    if b.graph is not graph:
        raise ValueError("values of two traces were mixed")
    key = ("add", i, j)
    node = graph._table.get(key)
    if node is None:
        if i == j:
            return _scale(a, 2.0)
        node = graph._table[key] = Expr(graph, "add", (a, b))
    return node


def _subtract(a, b):
    if a is b:
        return 0.0
    if b.op == "neg":
        return _add(a, b.args[0])
    if a.op == "neg":
        return -_add(a.args[0], b)
    graph = a.graph
    if b.graph is not graph:
        raise ValueError("values of two traces were mixed")
    table = graph._table
    i, j = a.index, b.index
    key = ("sub", i, j)
    node = table.get(key)
    if node is None:
        opposite = table.get(("sub", j, i))
        if opposite is not None:
            return -opposite
        node = table[key] = Expr(graph, "sub", (a, b))
    return node


def _scale(x, c):
    """c x for a constant that is none of 0, 1, -1; the sign goes outside so that 2 x and -2 x share a node."""
    if x.op == "neg":
        return _scale(x.args[0], -c)
    if x.op == "mul" and x.args[0].op == "const":
        product = c * x.args[0].value
        if _SMALLEST <= abs(product) <= _LARGEST:
            return x.args[1] * product
    if c < 0.0:
        return -_scale(x, -c)
    if c == 1.0:
        return x
    return x.graph._node("mul", x.graph.constant(c), x)


def _multiply(a, b):
    if a.op == "neg":
        return -_multiply(a.args[0], b) if b.op != "neg" else _multiply(a.args[0], b.args[0])
    if b.op == "neg":
        return -_multiply(a, b.args[0])
    i, j = a.index, b.index
    if i > j:
        i, j, a, b = j, i, b, a
    graph = a.graph
    if b.graph is not graph:
        raise ValueError("values of two traces were mixed")
    key = ("mul", i, j)
    node = graph._table.get(key)
    if node is None:
        for quotient, other in ((a, b), (b, a)):
            if quotient.op == "div" and quotient.args[1] is other:  # (n / d) d = n
                numerator = quotient.args[0]
                return numerator.value if numerator.op == "const" else numerator
        node = graph._table[key] = Expr(graph, "mul", (a, b))
    return node


def _divide(a, b):
    if a is b:
        return 1.0
    if a.op == "neg":
        return -_divide(a.args[0], b)
    if b.op == "neg":
        return -_divide(a, b.args[0])
    if b.graph is not a.graph:
        raise ValueError("values of two traces were mixed")
    if a.op == "const" and a.value < 0.0:
        return -a.graph._node("div", a.graph.constant(-a.value), b)
    return a.graph._node("div", a, b)


def _on_floats_too(method, on_float):
    """`method` of traced values, `on_float` of numbers, elementwise on arrays that mix both."""

    def on_one(x):
        return getattr(x, method)() if x.__class__ is Expr else float(on_float(x))

    on_objects = np.frompyfunc(on_one, 1, 1)

    def apply(x):
        if x.__class__ is Expr:
            return getattr(x, method)()
        return on_objects(x) if np.asarray(x).dtype == object else on_float(x)

    apply.__name__ = apply.__qualname__ = method
    apply.__doc__ = f"`Expr.{method}` of traced values, numbers, and arrays that mix both."
    return apply


sin = _on_floats_too("sin", np.sin)
cos = _on_floats_too("cos", np.cos)
sqrt = _on_floats_too("sqrt", np.sqrt)
log = _on_floats_too("log", np.log)
rint = _on_floats_too("rint", np.rint)
finite_check = _on_floats_too("finite_check", lambda x: np.where(np.isfinite(x), 0.0, np.nan)[()])


def where(condition, a, b):
    """`a` where `condition` is not zero, else `b`; scalars, or arrays that broadcast, traced or not.

    Both are computed: what must not divide by zero or leave the domain of a square root in the branch not taken needs
    its own `where` around the operand.
    """
    if any(isinstance(x, np.ndarray) for x in (condition, a, b)):
        return np.asarray(np.frompyfunc(where, 3, 1)(condition, a, b), dtype=object)
    if condition.__class__ is not Expr:
        return a if condition else b
    if a is b or (a.__class__ is not Expr and b.__class__ is not Expr and a == b):
        return a
    graph = condition.graph
    if condition.op == "neg":
        condition = condition.args[0]
    a, b = (x if x.__class__ is Expr else graph.constant(float(x)) for x in (a, b))
    if a.graph is not graph or b.graph is not graph:
        raise ValueError("values of two traces were mixed")
    return graph._node("where", condition, a, b)
