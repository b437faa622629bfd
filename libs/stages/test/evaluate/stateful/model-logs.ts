/* Logs of a model of two workers, and what each of them alone says. */

/** Seconds after a match at which the rule fires. */
export const AFTER = 3;

export type ModelRecord = {
  /** `again`: the rule is removed and published again. */
  readonly kind: 'arm' | 'end' | 'tick' | 'on' | 'off' | 'again';
  readonly entity?: 'a' | 'b';
  /** Seconds. */
  readonly at: number;
};

export const isEdit = ({ kind }: ModelRecord): boolean => kind === 'on' || kind === 'off' || kind === 'again';

/** What the log alone says, by entity and offset of the event. */
export function owedOf(log: readonly ModelRecord[]): ReadonlySet<string> {
  const owed = new Set<string>();
  for (const entity of ['a', 'b'] as const) {
    let wait = null as { readonly deadline: number; readonly from: number } | null;
    let on = true;
    for (const [offset, record] of log.entries()) {
      if (wait && wait.deadline < record.at) {
        if (on) owed.add(`${entity}${wait.from}`);
        wait = null;
      }
      if (isEdit(record)) on = record.kind !== 'off';
      if (record.kind === 'again') wait = null;
      if (record.entity !== entity || !on) continue;
      if (record.kind === 'end') wait = null;
      if (record.kind === 'arm') wait = { deadline: wait?.deadline ?? record.at + AFTER, from: offset };
    }
  }
  return owed;
}

const KINDS: readonly Omit<ModelRecord, 'at'>[] = [
  { kind: 'arm', entity: 'a' },
  { kind: 'arm', entity: 'b' },
  { kind: 'end', entity: 'a' },
  { kind: 'tick' },
  { kind: 'off' },
  { kind: 'on' },
  { kind: 'again' },
];

/** All logs of a length, with gaps before, at and after the deadline, and a tick that passes every deadline. */
export function* logsOf(length: number): Generator<readonly ModelRecord[]> {
  const choices = KINDS.length * 3;
  for (let number = 0; number < choices ** length; number += 1) {
    const records: ModelRecord[] = [];
    let left = number;
    let at = 1;
    for (let index = 0; index < length; index += 1) {
      const choice = left % choices;
      left = Math.floor(left / choices);
      // The first gap makes no difference.
      if (index === 0 && choice >= KINDS.length) break;
      at += index === 0 ? 0 : ([0, AFTER, AFTER + 1][Math.floor(choice / KINDS.length)] ?? 0);
      records.push({ ...(KINDS[choice % KINDS.length] ?? { kind: 'tick' }), at });
    }
    if (records.length < length || !records.some(({ kind }) => kind === 'arm')) continue;
    yield [...records, { kind: 'tick', at: at + 9 }];
  }
}
