import { negateValue, notValue } from '../runtime/arithmetic.ts';
import { access, has, maybeAccess, or, orValue } from '../runtime/access.ts';
import { changed, changedFromTo, changedTo } from '../runtime/changes.ts';
import { makeList, makeMap } from '../runtime/construction.ts';
import { andRest, notTest, orRest } from '../runtime/logic.ts';
import { LOOPS } from '../runtime/loops.ts';
import type { Meter } from '../runtime/meter.ts';
import { BINARY_OPERATIONS, unsetName, wholeName } from '../runtime/operations.ts';
import { CelError } from '../runtime/values.ts';
import type { Value } from '../runtime/values.ts';
import type { ChangedPlan, LoopPlan, Plan } from './plan.ts';
import type { Frame, Run } from './program.ts';

type State = { readonly frame: Frame; readonly meter: Meter; readonly slots: Value[] };
type Step = (state: State) => Value;

/** A tree of closures: the way to run where generating code is forbidden. Slower, and the same answers. */
export function runByClosures(plan: Plan): Run {
  const step = close(plan);
  return (frame, meter) => step({ frame, meter, slots: [] });
}

function close(plan: Plan): Step {
  switch (plan.op) {
    case 'literal': {
      const { value } = plan;
      return () => value;
    }
    case 'root': {
      const { name } = plan;
      const unset = unsetName(name);
      const read = ({ frame }: State): Value => frame[name] ?? (frame[name] === null ? null : unset);
      return plan.whole ? (state) => state.frame[wholeName(name)] ?? read(state) : read;
    }
    case 'local': {
      const { slot } = plan;
      return ({ slots }) => slots[slot] ?? null;
    }
    case 'and':
    case 'or':
      return closeLogic(plan.op === 'or', close(plan.left), close(plan.right));
    case 'choose': {
      const [test, whenTrue, otherwise] = [close(plan.test), close(plan.chosen), close(plan.otherwise)];
      return (state) => {
        const chosen = test(state);
        return chosen === true ? whenTrue(state) : chosen === false ? otherwise(state) : notTest(chosen);
      };
    }
    case 'binary': {
      const operation = BINARY_OPERATIONS[plan.name];
      const [left, right] = [close(plan.left), close(plan.right)];
      return (state) => operation(state.meter, left(state), right(state));
    }
    case 'call': {
      const { run } = plan;
      const args = plan.args.map(close);
      return (state) => run(state.meter, ...args.map((arg) => arg(state)));
    }
    case 'list':
    case 'map': {
      const { optional } = plan;
      const make = plan.op === 'list' ? makeList : makeMap;
      const items = plan.items.map(close);
      return (state) =>
        make(
          items.map((item) => item(state)),
          optional,
        );
    }
    case 'fallback': {
      const choose = plan.kind === 'or' ? or : orValue;
      const [of, other] = [close(plan.of), close(plan.other)];
      return (state) => choose(of(state), () => other(state));
    }
    case 'bind':
      return closeBind(plan.slot, close(plan.value), close(plan.body));
    case 'changed':
      return closeChanged(plan);
    case 'loop':
      return closeLoop(plan);
    case 'field':
    case 'optional_field':
    case 'has':
    case 'index':
    case 'optional_index':
    case 'not':
    case 'negate':
    case 'matches':
      return closeOperand(plan);
  }
}

type Operand = Extract<
  Plan,
  { op: 'field' | 'optional_field' | 'has' | 'index' | 'optional_index' | 'not' | 'negate' | 'matches' }
>;

function closeOperand(plan: Operand): Step {
  const of = close(plan.of);
  switch (plan.op) {
    case 'field':
      return (state) => access(of(state), plan.key);
    case 'optional_field':
      return (state) => maybeAccess(of(state), plan.key);
    case 'has':
      return (state) => has(of(state), plan.key);
    case 'index':
    case 'optional_index': {
      const at = close(plan.at);
      const find = plan.op === 'index' ? access : maybeAccess;
      return (state) => find(of(state), at(state));
    }
    case 'not':
      return (state) => notValue(of(state));
    case 'negate':
      return (state) => negateValue(of(state));
    case 'matches':
      return (state) => plan.pattern.matches(state.meter, of(state));
  }
}

function closeChanged({ path, from, to }: ChangedPlan): Step {
  if (to === null) return ({ meter, frame }) => changed(meter, frame, path);
  const reached = close(to);
  if (from === null) return (state) => changedTo(state.meter, state.frame, path, reached(state));
  const left = close(from);
  return (state) => changedFromTo(state.meter, state.frame, path, left(state), reached(state));
}

function closeLogic(deciding: boolean, left: Step, right: Step): Step {
  const rest = deciding ? orRest : andRest;
  return (state) => {
    const first = left(state);
    return first === deciding ? deciding : rest(first, right(state));
  };
}

function closeBind(slot: number, value: Step, body: Step): Step {
  return (state) => {
    const bound = value(state);
    if (bound instanceof CelError) return bound;
    state.slots[slot] = bound;
    return body(state);
  };
}

function closeLoop({ kind, over, slot, test, make, cost }: LoopPlan): Step {
  const loop = LOOPS[kind];
  const list = close(over);
  const inSlot = (body: Step) => (state: State) => (item: Value) => {
    state.slots[slot] = item;
    return body(state);
  };
  const tested = inSlot(close(test));
  const made = make === null ? null : inSlot(close(make));
  return (state) => loop(state.meter, list(state), cost, tested(state), made === null ? null : made(state));
}
