/**
 * A model of digests: one head, two deliveries, two workers that may die or be held still between any two steps, and an
 * operator who cancels and sends again. Every interleaving is looked at. The steps are those of `collectForDigest` and
 * `closeWindows`; a mutant does one of them otherwise.
 */

export type Mutant = 'none' | 'noToken' | 'listFirst' | 'noFreeze' | 'emitWaiting' | 'insertFirst' | 'reuseN';

type Listed = { readonly d: number; readonly t: number };
type Closing = { readonly n: number; readonly items: readonly Listed[] };
type Item = { v: number; st: 'WAITING' | 'COLLECTED' | 'DIGESTED' | 'CANCELLED'; n: number; t: number };
type Worker = {
  pc: 'idle' | 'collect' | 'list' | 'collect2' | 'move_on' | 'move' | 'insert' | 'done';
  d: number;
  v: number;
  n: number;
  t: number;
  c: Closing;
  k: number;
  set: number[];
};
type State = {
  h: { n: number; items: readonly Listed[]; closing: Closing | null };
  d: Item[];
  /** Digests by the number of their window. */
  g: Record<number, readonly number[]>;
  w: Worker[];
  crashes: number;
  decisions: number;
};
type Step = readonly [label: string, after: State];

const NOTHING: Closing = { n: -1, items: [] };
const idle = (): Worker => ({ pc: 'idle', d: 0, v: 0, n: 0, t: 0, c: NOTHING, k: 0, set: [] });
const START: State = {
  h: { n: 0, items: [], closing: null },
  d: [0, 1].map(() => ({ v: 0, st: 'WAITING', n: -1, t: 0 })),
  g: {},
  w: [idle(), idle()],
  crashes: 0,
  decisions: 0,
};
const BOTH = [0, 1] as const;
const MAX_CRASHES = 1;
const MAX_DECISIONS = 2;
const MAX_WINDOWS = 3;

/** Two workers are alike, so which of them is which says nothing. */
function keyOf(state: State): string {
  const [a = '', b = ''] = state.w.map((worker) => JSON.stringify(worker));
  return JSON.stringify({ ...state, w: 0 }) + (a < b ? a + b : b + a);
}

function at<Value>(list: readonly Value[], index: number): Value {
  const value = list[index];
  if (value === undefined) throw new RangeError(`nothing at ${index}`);
  return value;
}

function* workerSteps(s: State, i: number, mutant: Mutant): Generator<Step> {
  const w = at(s.w, i);
  const item = at(s.d, w.d);
  const go = (label: string, change: (next: State, worker: Worker) => void): Step => {
    const next = structuredClone(s);
    change(next, at(next.w, i));
    return [`w${i} ${label}`, next];
  };
  const rest = (next: State): void => void (next.w[i] = idle());
  const tokenOf = (version: number): number => (mutant === 'noToken' ? 0 : version);
  const isSame = (one: Listed): boolean => one.d === w.d && one.t === w.t;
  switch (w.pc) {
    case 'idle':
      for (const d of BOTH) {
        const one = at(s.d, d);
        const first = mutant === 'listFirst' ? 'list' : 'collect';
        if (one.st === 'WAITING')
          yield go(`takes d${d} up`, (_, x) => Object.assign(x, { pc: first, d, v: one.v, n: s.h.n }));
        if (one.st === 'COLLECTED')
          yield go(`looks at d${d} again`, (_, x) =>
            Object.assign(x, { pc: 'list', d, v: one.v, n: one.n, t: tokenOf(one.t) }),
          );
      }
      if (s.h.items.length > 0 && !s.h.closing)
        yield go('closes the window', (next) => {
          const n = mutant === 'reuseN' ? s.h.n : s.h.n + 1;
          next.h = { n, items: [], closing: { n: s.h.n, items: s.h.items } };
        });
      if (s.h.closing) {
        const { n } = s.h.closing;
        const live = s.d.flatMap((one, d) =>
          one.n === n && (one.st === 'COLLECTED' || one.st === 'DIGESTED') ? [{ d, t: one.t }] : [],
        );
        const c = mutant === 'noFreeze' ? { n, items: live } : s.h.closing;
        const set = mutant === 'insertFirst' ? s.h.closing.items.map(({ d }) => d) : [];
        const pc = mutant === 'insertFirst' ? 'insert' : 'move';
        yield go('begins to empty', (_, x) => Object.assign(x, { pc, c, k: 0, set }));
      }
      return;
    case 'collect':
    case 'collect2':
    case 'move_on': {
      const n = w.pc === 'move_on' ? s.h.n : w.n;
      const isHeld = item.v === w.v && (w.pc !== 'move_on' || item.st === 'COLLECTED');
      yield go(isHeld ? `COLLECTED(${n})` : 'is stale', (next, x) => {
        if (!isHeld || w.pc === 'collect2') rest(next);
        if (!isHeld) return;
        const v = item.v + 1;
        Object.assign(at(next.d, w.d), { st: 'COLLECTED', n, v, t: v });
        if (w.pc !== 'collect2') Object.assign(x, { pc: 'list', v, n, t: tokenOf(v) });
      });
      return;
    }
    case 'list':
      if (s.h.n === w.n)
        yield go(`lists d${w.d} in ${w.n}`, (next, x) => {
          if (!next.h.items.some(isSame))
            next.h.items = [...next.h.items.filter(({ d }) => d !== w.d), { d: w.d, t: w.t }];
          if (mutant === 'listFirst') x.pc = 'collect2';
          else rest(next);
        });
      else if (s.h.closing?.n === w.n && s.h.closing.items.some(isSame)) yield go('is on the closed list', rest);
      else yield go(`window ${w.n} is gone`, (_, x) => void (x.pc = 'move_on'));
      return;
    case 'move': {
      const listed = w.c.items[w.k];
      if (!listed) {
        yield go('has moved all', (_, x) => void (x.pc = mutant === 'insertFirst' ? 'done' : 'insert'));
        return;
      }
      const one = at(s.d, listed.d);
      const isOwn = mutant === 'noToken' || mutant === 'listFirst' || one.t === listed.t;
      const isIn = one.n === w.c.n && isOwn;
      const can = (one.st === 'COLLECTED' && isIn) || (mutant === 'emitWaiting' && one.st === 'WAITING');
      const has = one.st === 'DIGESTED' && isIn;
      yield go(can ? `d${listed.d} DIGESTED(${w.c.n})` : `d${listed.d} ${has ? 'is' : 'left out'}`, (next, x) => {
        if (can) Object.assign(at(next.d, listed.d), { st: 'DIGESTED', n: w.c.n, v: one.v + 1 });
        if (can || has) x.set = [...x.set, listed.d];
        x.k += 1;
      });
      return;
    }
    case 'insert':
      yield go(`inserts digest ${w.c.n} of ${w.set.join()}`, (next, x) => {
        if (!next.g[w.c.n] && w.set.length > 0) next.g[w.c.n] = w.set;
        x.pc = mutant === 'insertFirst' ? 'move' : 'done';
      });
      return;
    case 'done':
      yield go('ends the closing', (next) => {
        if (next.h.closing?.n === w.c.n) next.h.closing = null;
        rest(next);
      });
  }
}

function* stepsFrom(s: State, mutant: Mutant): Generator<Step> {
  for (const i of BOTH) {
    yield* workerSteps(s, i, mutant);
    if (at(s.w, i).pc === 'idle' || s.crashes >= MAX_CRASHES) continue;
    const next = structuredClone(s);
    next.crashes += 1;
    next.w[i] = idle();
    yield [`CRASH of w${i}`, next];
  }
  for (const d of BOTH) {
    const one = at(s.d, d);
    const decide = (label: string, st: Item['st']): Step => {
      const next = structuredClone(s);
      next.decisions += 1;
      Object.assign(at(next.d, d), { st, v: one.v + 1 });
      return [`operator ${label} d${d}`, next];
    };
    // After a cancel a resend must remain possible.
    if ((one.st === 'WAITING' || one.st === 'COLLECTED') && s.decisions < MAX_DECISIONS - 1)
      yield decide('cancels', 'CANCELLED');
    if (one.st === 'CANCELLED' && s.decisions < MAX_DECISIONS) yield decide('resends', 'WAITING');
  }
}

/** Returns the broken invariant of a state, or null. `isQuiet`: no automatic step follows. */
function brokenIn({ d: items, g, h }: State, isQuiet: boolean, mutant: Mutant): string | null {
  for (const [d, one] of items.entries()) {
    const digests = Object.values(g).filter((set) => set.includes(d)).length;
    const own = g[one.n];
    if (digests > 1) return `d${d} is in two digests`;
    if (digests > 0 && one.st !== 'DIGESTED' && mutant !== 'insertFirst') return `d${d} is in a digest and ${one.st}`;
    if (digests > 0 && one.st === 'CANCELLED') return `d${d} is called off and in a digest`;
    if (one.st === 'DIGESTED' && own && !own.includes(d)) return `d${d} is lost: its digest has it not`;
    if (!isQuiet) continue;
    if (h.n < MAX_WINDOWS && (one.st === 'WAITING' || one.st === 'COLLECTED')) return `d${d} is stuck in ${one.st}`;
    if (one.st === 'DIGESTED' && !own) return `d${d} is lost: there is no digest`;
  }
  return null;
}

export type Explored = { readonly states: number; readonly broken: string | null; readonly way: readonly string[] };

/** Looks at every state that can be reached, the nearest first; ends with the first that is broken, and the way to it. */
export function exploreDigests(mutant: Mutant): Explored {
  const seen = new Map<string, readonly [label: string, before: string] | null>([[keyOf(START), null]]);
  let layer: State[] = [START];
  let states = 0;
  while (layer.length > 0) {
    const next: State[] = [];
    for (const state of layer) {
      states += 1;
      const key = keyOf(state);
      const steps = state.h.n < MAX_WINDOWS ? [...stepsFrom(state, mutant)].filter(([, to]) => keyOf(to) !== key) : [];
      const isQuiet = !steps.some(([label]) => !/CRASH|operator/.test(label));
      const broken = brokenIn(state, isQuiet, mutant);
      if (broken !== null) return { states, broken, way: wayTo(key, seen) };
      for (const [label, to] of steps) {
        const toKey = keyOf(to);
        if (seen.has(toKey)) continue;
        seen.set(toKey, [label, key]);
        next.push(to);
      }
    }
    layer = next;
  }
  return { states, broken: null, way: [] };
}

function wayTo(key: string, seen: ReadonlyMap<string, readonly [string, string] | null>): readonly string[] {
  const way: string[] = [];
  for (let step = seen.get(key); step; step = seen.get(step[1])) way.unshift(step[0]);
  return way;
}
