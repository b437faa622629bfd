import { DAY, type CaseRecord, type Condition, type Edit, type EventBody, type Case, type RuleSpec } from './cases.ts';
import { countSample, definitionText, valueOfTotal, type TotalSample } from './oracle-totals.ts';

/**
 * What docs/waiting.md, docs/compare-events.md and docs/count-events.md say of rules with state, over the whole list of records. It shares no code
 * with the product: it has no memory that is saved, no batches and no watermark that is passed on. For each deadline it looks
 * up the record at which the deadline has passed.
 */

/** A rule that fires. */
export type Firing = {
  readonly rule: number;
  /** Index of the event's record. */
  readonly event: number;
  /** Index of the record at which it fires, and by whose configuration. */
  readonly record: number;
  readonly deadline: number | null;
  /** `previous.kind` at the event. Undefined if no expression of the rule names `previous`. */
  readonly was: string | null | undefined;
  /** The totals of the rule when it fires. */
  readonly totals: readonly number[];
};

type Placed = RuleSpec & {
  readonly rule: number;
  readonly isEnabled: boolean;
  /** Index of the record that published the rule. What came before it is forgotten. */
  readonly since: number;
};
type EventRecord = Extract<CaseRecord, { readonly holds: 'event' }>;

/** The rules at each record, after its own edit. */
export function rulesAtEach({ rules, records }: Case): readonly (readonly Placed[])[] {
  let now: readonly Placed[] = rules.map((spec, rule) => ({ ...spec, rule, isEnabled: true, since: -1 }));
  return records.map((record, index) => {
    if (record.holds !== 'edit') return now;
    const { edit } = record;
    const spec = rules[edit.rule];
    now = now.flatMap((each) => edited(each, edit));
    if (edit.to === 'added' && spec && !now.some(({ rule }) => rule === edit.rule))
      now = [...now, { ...spec, rule: edit.rule, isEnabled: true, since: index }];
    return now;
  });
}

function edited(rule: Placed, edit: Edit): readonly Placed[] {
  if (edit.rule !== rule.rule) return [rule];
  if (edit.to === 'removed') return [];
  if (edit.to === 'added') return [rule];
  if (edit.to === 'within') {
    return [
      { ...rule, totals: rule.totals.map((total, at) => (at === 0 ? { ...total, within: edit.within } : total)) },
    ];
  }
  if (edit.to === 'disabled' || edit.to === 'enabled') return [{ ...rule, isEnabled: edit.to === 'enabled' }];
  return [{ ...rule, when: edit.to }];
}

const isAboutPrevious = ({ is }: Condition): boolean =>
  ['changed', 'changed_to', 'changed_from_to', 'was'].includes(is);
export const readsPrevious = ({ when, unless, totals }: RuleSpec): boolean =>
  [when, unless, ...totals.map(({ where }) => where)].some(
    (condition) => condition !== null && isAboutPrevious(condition),
  );

/** Such a rule looks at one event only, so it fires again for a repeated event. */
const isStateless = (rule: RuleSpec): boolean =>
  rule.wait === null && rule.cooldown === null && rule.totals.length === 0 && !readsPrevious(rule);

/** Null: an error. */
function holds(
  condition: Condition,
  now: EventBody,
  before: EventBody | null,
  totals: readonly number[] = [],
): boolean | null {
  switch (condition.is) {
    case 'always':
      return true;
    case 'kind':
      return now.kind === condition.kind;
    case 'above':
      return now.count === undefined ? null : now.count > condition.count;
    case 'changed':
      return before !== null && before.kind !== now.kind;
    case 'changed_to':
      return before !== null && before.kind !== now.kind && now.kind === condition.kind;
    case 'changed_from_to':
      return before?.kind === condition.from && before.kind !== now.kind && now.kind === condition.kind;
    case 'was':
      return before?.kind === condition.kind;
    case 'total': {
      const value = totals[condition.total];
      return value === undefined ? null : value >= condition.atLeast;
    }
  }
}

/** What one rule has with one entity. */
type Story = {
  readonly since: number;
  wait: { deadline: number; from: number; time: number; setAt: number; was: string | null } | null;
  matched: boolean;
  firedAt: number | null;
  decided: number | null;
  /** The newest time at which `unless` was true. Null also on a stream without a `time` path. */
  unlessAt: number | null;
  /** Samples that the totals of the rule have counted, with the definition that they were counted by. */
  samples: readonly TotalSample[];
};

const NO_STORY = { wait: null, matched: false, firedAt: null, decided: null, unlessAt: null, samples: [] };
const hasMemory = ({ wait, matched, firedAt, decided, unlessAt, samples }: Story): boolean =>
  matched || samples.length > 0 || [wait, firedAt, decided, unlessAt].some((part) => part !== null);

export function firingsOf(given: Case): readonly Firing[] {
  const rules = rulesAtEach(given);
  const watermarks = given.records.map((_record, index) =>
    Math.max(...given.records.slice(0, index + 1).map(({ at }) => at)),
  );
  const entities = new Set(given.records.flatMap((record) => (record.holds === 'event' ? [record.entity] : [])));
  return [...entities].flatMap((entity) => firingsOfEntity(given, rules, watermarks, entity));
}

function firingsOfEntity(
  { records, grace }: Pick<Case, 'records' | 'grace'>,
  rules: readonly (readonly Placed[])[],
  watermarks: readonly number[],
  entity: string,
): readonly Firing[] {
  const firings: Firing[] = [];
  const stories = new Map<number, Story>();
  const storyOf = ({ rule, since }: Placed): Story => {
    const story = stories.get(rule) ?? { ...NO_STORY, since };
    stories.set(rule, story);
    return story;
  };
  let counted: string[] = [];
  let before: EventBody | null = null;
  /** Null: there is nothing to forget. */
  let forgottenFrom: number | null = null;
  const remembersUntil = (time: number): number => Math.ceil((time + DAY) / DAY) * DAY;

  const forgetEntity = (): void => {
    stories.clear();
    counted = [];
    before = null;
    forgottenFrom = null;
  };

  /** Forgets the entity if its last event was too long ago and nothing waits. */
  const forgetIfOld = (at: number): void => {
    const isOld = forgottenFrom !== null && (watermarks[at] ?? 0) > forgottenFrom;
    if (isOld && [...stories.values()].every(({ wait }) => wait === null)) forgetEntity();
  };

  /** Forgets rules that were removed, also if they are there again. Returns true if there was something to forget. */
  const forgetRemoved = (at: number): boolean => {
    let forgot = false;
    for (const [rule, story] of stories) {
      if (rules[at]?.some((each) => each.rule === rule && each.since === story.since)) continue;
      forgot ||= hasMemory(story);
      stories.delete(rule);
    }
    return forgot;
  };

  /** Ends the waits whose deadline has passed at a record. */
  const passDeadlines = (at: number): void => {
    const hasPassed = ({ wait }: Story): boolean =>
      wait !== null &&
      wait.from < at &&
      Math.max(wait.deadline + 1000 * (grace ?? 0), wait.setAt) < (watermarks[at] ?? 0);
    const passed = [...stories.values()].filter(hasPassed);
    if (passed.length === 0) return;
    const deadlines = passed.map(({ wait }) => remembersUntil(wait?.deadline ?? 0));
    forgottenFrom = Math.max(forgottenFrom ?? 0, ...deadlines);
    forgetRemoved(at);
    for (const placed of rules[at] ?? []) {
      const story = stories.get(placed.rule);
      const wait = story?.wait;
      if (!story || !wait || !hasPassed(story)) continue;
      story.wait = null;
      if (!placed.isEnabled) continue;
      forgetChangedTotals(placed, story);
      if (placed.wait?.by === 'at') story.decided = wait.deadline;
      if (isCooling(placed, story, wait.deadline)) continue;
      noteFiring(placed, story, wait.deadline);
      const was = readsPrevious(placed) ? wait.was : undefined;
      const totals = totalsAt(placed, story, wait.deadline, grace);
      firings.push({ rule: placed.rule, event: wait.from, record: at, deadline: wait.deadline, was, totals });
    }
  };

  for (const [index, record] of records.entries()) {
    passDeadlines(index);
    if (record.holds === 'forget' && record.entity === entity) forgetEntity();
    if (record.holds !== 'event' || record.entity !== entity) continue;
    const present = rules[index] ?? [];
    for (const placed of present) {
      const fires = placed.isEnabled && isStateless(placed) && holds(placed.when, record.body, null) === true;
      if (fires)
        firings.push({ rule: placed.rule, event: index, record: index, deadline: null, was: undefined, totals: [] });
    }
    forgetIfOld(index);
    if (counted.includes(record.id)) continue;
    const isKept = present.some(readsPrevious);
    let makesDifference = forgetRemoved(index) || isKept || before !== null;
    for (const placed of present) {
      if (!placed.isEnabled || isStateless(placed)) continue;
      const story = storyOf(placed);
      const at = grace === null ? record.at : record.time;
      const isCounted = countEvent(placed, story, { at, body: record.body, before }, grace);
      const totals = totalsAt(placed, story, at, grace);
      const taken = takeEvent(placed, story, record, {
        index,
        before,
        totals,
        watermark: watermarks[index] ?? 0,
        hasTime: grace !== null,
      });
      makesDifference ||= isCounted || taken.makesDifference;
      const was = readsPrevious(placed) ? (before?.kind ?? null) : undefined;
      if (taken.fires)
        firings.push({ rule: placed.rule, event: index, record: index, deadline: taken.deadline, was, totals });
    }
    before = isKept ? record.body : null;
    if (!makesDifference) continue;
    counted.push(record.id);
    forgottenFrom = remembersUntil(watermarks[index] ?? 0);
  }
  return firings;
}

/** Returns the totals of a rule at a time. */
const totalsAt = ({ totals }: Placed, { samples }: Story, at: number, grace: number | null): readonly number[] =>
  totals.map((total, place) => {
    const own = samples.filter((sample) => sample.total === place);
    return valueOfTotal(total, own, at, grace);
  });

/** A total starts at 0 if its definition has changed. Returns true if there was something to forget. */
function forgetChangedTotals({ totals }: Placed, story: Story): boolean {
  const before = story.samples.length;
  story.samples = story.samples.filter(({ total, definition }) => {
    const spec = totals[total];
    return spec !== undefined && definitionText(spec) === definition;
  });
  return story.samples.length !== before;
}

/** Counts an event in the totals of a rule. Returns true if that makes a difference: a sample, or an error. */
function countEvent(
  placed: Placed,
  story: Story,
  { at, body, before }: Pick<EventRecord, 'at' | 'body'> & Pick<Around, 'before'>,
  grace: number | null,
): boolean {
  let makesDifference = forgetChangedTotals(placed, story);
  for (const [total, spec] of placed.totals.entries()) {
    const isWanted = holds(spec.where, body, before);
    const value = spec.kind === 'sum' ? (body.count ?? null) : spec.kind === 'distinct' ? body.kind : 1;
    if (isWanted === null || (isWanted && value === null)) makesDifference = true;
    if (isWanted !== true || value === null) continue;
    const own = story.samples.filter((sample) => sample.total === total);
    if (!countSample(spec, own, { at, value }, grace)) continue;
    story.samples = [...story.samples, { total, definition: definitionText(spec), at, value }];
    makesDifference = true;
  }
  return makesDifference;
}

/** Only a cooldown of a duration asks for the last firing. */
function noteFiring({ cooldown }: RuleSpec, story: Story, at: number): void {
  if (typeof cooldown === 'number') story.firedAt = at;
}

const isCooling = ({ cooldown }: RuleSpec, { firedAt }: Story, at: number): boolean =>
  typeof cooldown === 'number' && firedAt !== null && at - firedAt < cooldown * 1000;

type Taken = { readonly fires: boolean; readonly deadline: number | null; readonly makesDifference: boolean };
const NOTHING: Taken = { fires: false, deadline: null, makesDifference: false };
const NOTED: Taken = { ...NOTHING, makesDifference: true };

type Around = {
  readonly index: number;
  readonly before: EventBody | null;
  readonly totals: readonly number[];
  readonly watermark: number;
  /** The own time of events counts. */
  readonly hasTime: boolean;
};

function takeEvent(rule: Placed, story: Story, record: EventRecord, around: Around): Taken {
  const { body } = record;
  const at = around.hasTime ? record.time : record.at;
  const when = holds(rule.when, body, around.before, around.totals);
  const hadMatched = story.matched && rule.cooldown === 'until_false';
  const turned = rule.cooldown === 'until_false' && when !== null && when !== story.matched;
  if (when !== null) story.matched = rule.cooldown === 'until_false' && when;
  const isNewUnless = noteUnless(rule, story, { at, body }, around);
  const taken =
    when === true || story.wait ? takeMatch(rule, story, { at, body }, { ...around, when, hadMatched }) : NOTHING;
  return turned || isNewUnless ? { ...taken, makesDifference: true } : taken;
}

/** Returns true if the event is the newest for which `unless` is true. */
function noteUnless(
  { wait, unless }: Placed,
  story: Story,
  { at, body }: { readonly at: number; readonly body: EventBody },
  { hasTime, before, totals }: Around,
): boolean {
  if (!hasTime || wait === null || unless === null || holds(unless, body, before, totals) !== true) return false;
  if (story.unlessAt !== null && at <= story.unlessAt) return false;
  story.unlessAt = at;
  return true;
}

function takeMatch(
  rule: Placed,
  story: Story,
  { at, body }: Pick<EventRecord, 'at' | 'body'>,
  {
    index,
    before,
    totals,
    watermark,
    hasTime,
    when,
    hadMatched,
  }: Around & { readonly when: boolean | null; readonly hadMatched: boolean },
): Taken {
  const { wait } = story;
  const fire = (deadline: number | null): Taken => {
    if (isCooling(rule, story, at)) return NOTED;
    if (hadMatched && wait === null) return NOTED;
    noteFiring(rule, story, at);
    return { fires: true, deadline, makesDifference: true };
  };
  if (rule.wait === null) return when === true ? fire(null) : NOTHING;
  const unless = rule.unless === null ? false : holds(rule.unless, body, before, totals);
  if (unless === true) {
    if (wait && at <= wait.deadline) {
      story.wait = null;
      return NOTED;
    }
    return when === true ? NOTED : NOTHING;
  }
  if (when !== true) return unless === null ? NOTED : NOTHING;
  if (hasTime && story.unlessAt !== null && at <= story.unlessAt) {
    return wait === null || unless === null ? NOTED : NOTHING;
  }
  if (hasTime && wait && at < wait.time) return unless === null ? NOTED : NOTHING;
  const deadline = deadlineOf(rule, story, at, body);
  if (deadline === 'error') return NOTED;
  if (deadline === null) {
    story.wait = null;
    return NOTED;
  }
  if (rule.wait.by === 'at' && (deadline < at || deadline === story.decided)) {
    story.wait = null;
    if (rule.wait.ifPast === 'skip' || deadline === story.decided) return NOTED;
    story.decided = deadline;
    return fire(deadline);
  }
  if (wait === null && hadMatched) return NOTED;
  const keeps = wait !== null && rule.wait.by === 'after';
  story.wait = {
    deadline,
    from: index,
    time: at,
    setAt: keeps ? wait.setAt : watermark,
    was: readsPrevious(rule) ? (before?.kind ?? null) : null,
  };
  return NOTED;
}

function deadlineOf(rule: RuleSpec, { wait }: Story, at: number, { starts }: EventBody): number | null | 'error' {
  if (rule.wait === null) return null;
  if (rule.wait.by === 'after' && wait) return wait.deadline;
  if (rule.wait.by !== 'at') return at + rule.wait.seconds * 1000;
  if (starts === undefined || starts === null) return null;
  const time = Date.parse(starts);
  return Number.isNaN(time) ? 'error' : time - rule.wait.before * 1000;
}
