import { createExpressionLanguage } from '@carillon/adapter-cel';
import { systemClock } from '@carillon/adapter-system';
import { sourcesOf, streamTable, type Configuration } from '@carillon/domain/configuration';
import type { ChangeOp } from '@carillon/domain/changes';
import { RULE_STEPS, StepBudget, type Bindings } from '@carillon/domain/rules';
import type { LogId } from '@carillon/kernel';
import type { LogRecord, NewRecord, PartitionState } from '@carillon/ports';
import { createEvaluateStage, prepareAppend, prepareChange, readSourceRecord } from '@carillon/stages';
import {
  configurationOf,
  givenIds,
  givenRuleBook,
  integration,
  neverYield,
  noRuleStates,
  notification,
  ORDERS,
  stream,
  template,
} from '@carillon/testing/given';
import type { BenchCase, OpenSide, Side } from '../harness/bench.ts';
import { spin } from '../harness/load.ts';
import { createRows, ROW_RULES, rowBefore, type OrderRow } from './order-rows.ts';

const LOG = { logId: 'log_bench' as LogId, partitions: () => 1, bounds: async () => ({ start: 0, end: ROWS }) };
const ROWS = 20_000;
const SNAPSHOT_RECORDS = 100_000;
const BATCH = 500;

const configurationWith = (isSource: boolean): Configuration =>
  configurationOf([
    ...(isSource ? [integration('shop-db', { kind: 'postgres', url: { secret: 'SHOP_DB' } })] : []),
    stream('orders', isSource ? { from: { integration: 'shop-db', tables: { 'public.orders': 'event.id' } } } : ORDERS),
    template('order-news', { email: { subject: 'Order {{order_id}}', text: 'Hello.' } }),
    notification('order-news', {
      channels: { email: { template: 'order-news' } },
      rules: Object.fromEntries(
        ROW_RULES.map(({ name, when }) => [
          name,
          {
            stream: 'orders',
            when,
            recipients: { from: 'event', to: { email: 'event.email' }, unique_id: `event_id + "/${name}"` },
          },
        ]),
      ),
    }),
  ]);

function jsonRecord(row: OrderRow, configuration: Configuration): NewRecord {
  const orders = streamTable(configuration).streams.get('shop/orders');
  if (!orders) throw new Error('the stream is not configured');
  const request = {
    stream: orders,
    bytes: Buffer.from(JSON.stringify(row)),
    body: row,
    principal: 'api_key:backend',
    identity: ['http', String(row.id)] as const,
    traceparent: null,
  };
  const prepared = prepareAppend(request, { ids: givenIds, now: Date.now(), partitions: 1 });
  if (!prepared.ok) throw prepared.error;
  return prepared.value.record;
}

function changeRecord(row: OrderRow, op: ChangeOp, configuration: Configuration): NewRecord {
  const [source] = sourcesOf(configuration);
  const codecs = { deadLetter: { encode: () => new Uint8Array() } } as never;
  const [prepared] = prepareChange(
    {
      change: {
        op,
        event: row,
        previous: op === 'update' ? rowBefore(row) : null,
        unknown: [],
        source: {
          integration: 'shop-db',
          table: 'public.orders',
          tx: 700 + row.id,
          position: `0/1948580:${row.id}`,
          at: '2026-11-28T06:30:00.123456Z',
        },
      },
      identity: [String(row.id)],
    },
    source?.streams ?? [],
    { ids: givenIds, clock: systemClock, log: LOG, codecs },
  );
  if (prepared?.result !== 'appended') throw new Error(`the change was not appended: ${prepared?.result}`);
  return prepared.record;
}

/** One pass over all records. Returns the intents. */
type Pass = () => Promise<number>;

function evaluate(records: readonly LogRecord[], configuration: Configuration): Pass {
  const stage = createEvaluateStage({
    log: LOG,
    configuration: { at: async () => configuration },
    codecs: { deadLetter: { encode: () => new Uint8Array() } } as never,
    ids: givenIds,
    clock: systemClock,
    slice: neverYield,
    ruleStates: noRuleStates,
    book: givenRuleBook(),
  });
  return async () => {
    let state: PartitionState = { partition: 0, configNumber: configuration.number, watermark: 0 };
    let intents = 0;
    for (let at = 0; at < records.length; at += BATCH) {
      const result = await stage.handle(records.slice(at, at + BATCH), state);
      ({ state } = result);
      intents += result.outputs.filter(({ kind }) => kind === 'intent').length;
    }
    return intents;
  };
}

const onLog = (records: readonly NewRecord[]): readonly LogRecord[] =>
  records.map((record, offset) => ({ ...record, offset, time: 1_760_000_000_000 + offset }));

/** Passes over the records until a round is over. Each has to give the same intents. */
const passing = (name: string, count: number, expected: number, prepare: () => Pass): Side => ({
  name,
  syncs: 'nothing',
  async open(): Promise<OpenSide> {
    const pass = prepare();
    const wrong = new Set<string>();
    return {
      async round({ seconds }) {
        const begun = performance.now();
        let done = 0;
        let passed = 0;
        while (passed < seconds * 1000) {
          const intents = await pass();
          if (intents !== expected) wrong.add(`${intents} intents came, ${expected} are right`);
          done += count;
          passed = performance.now() - begun;
        }
        return { done, seconds: passed / 1000 };
      },
      verify: async () => [...wrong],
    };
  },
});

const countFired = (rows: readonly OrderRow[]): number =>
  rows.reduce((sum, row) => sum + ROW_RULES.filter(({ fires }) => fires(row)).length, 0);

const [CHANGES, EVENTS] = ['changes', 'JSON events'];

/** Judging updates of rows, and the same rows as events of an application. */
export function changesBesideEvents(): BenchCase {
  const rows = createRows()(ROWS);
  const expected = countFired(rows);
  const [ofSource, ofEvents] = [configurationWith(true), configurationWith(false)];
  return {
    title: `${ROW_RULES.length} rules`,
    counted: 'records',
    sides: [
      passing(CHANGES, ROWS, expected, () =>
        evaluate(onLog(rows.map((row) => changeRecord(row, 'update', ofSource))), ofSource),
      ),
      passing(EVENTS, ROWS, expected, () => evaluate(onLog(rows.map((row) => jsonRecord(row, ofEvents))), ofEvents)),
    ],
    comparisons: [{ side: CHANGES, to: EVENTS, measure: 'rate', wanted: 'at least', floor: 0.5, goal: 0.7 }],
  };
}

const [PASSED_OVER, READ] = ['rules that take no snapshot', 'reading them'];

/** A connector's first snapshot, of which no rule wants to know. */
export function snapshotsPassedOver(): BenchCase {
  const configuration = configurationWith(true);
  // As many records as a large table gives; their rows repeat, so that they fit in memory.
  const known = createRows()(ROWS).map((row) => changeRecord(row, 'snapshot', configuration));
  const records = onLog(Array.from({ length: SNAPSHOT_RECORDS }, (_, at) => known[at % ROWS] as NewRecord));
  return {
    title: `${SNAPSHOT_RECORDS.toLocaleString('en')} snapshot records`,
    counted: 'records',
    sides: [
      passing(PASSED_OVER, SNAPSHOT_RECORDS, 0, () => evaluate(records, configuration)),
      passing(READ, SNAPSHOT_RECORDS, 0, () => async () => {
        for (const record of records) {
          const read = readSourceRecord(record, LOG.logId);
          if (!read.ok) throw new Error(read.error.detail);
        }
        return 0;
      }),
    ],
    comparisons: [{ side: PASSED_OVER, to: READ, measure: 'rate', wanted: 'at least', floor: 0.8, goal: 0.95 }],
  };
}

const CONDITION = 'changedTo(event.status, "paid")';
const BOTH_ROWS = 1_000;

/** Updates of which one in three changes to `paid`. */
function updates(): readonly { readonly event: OrderRow; readonly previous: OrderRow }[] {
  const rows = createRows()(BOTH_ROWS);
  const states = ['created', 'paid', 'shipped'];
  return rows.map((row, at) => ({ event: row, previous: { ...row, status: states[at % 3] ?? '' } }));
}

const isChangedByHand = ({ event, previous }: ReturnType<typeof updates>[number]): boolean =>
  event.status === 'paid' && previous.status !== event.status;

export function changedToBesideClosure(): BenchCase {
  const pairs = updates();
  const judging = (name: string, prepare: () => (at: number) => boolean): Side => ({
    name,
    syncs: 'nothing',
    async open() {
      const judge = prepare();
      const answers: boolean[] = Array.from({ length: BOTH_ROWS }, () => false);
      return {
        round: async ({ seconds }) =>
          spin(seconds, BOTH_ROWS, () => {
            for (let at = 0; at < BOTH_ROWS; at += 1) answers[at] = judge(at);
          }),
        async verify() {
          const wrong = answers.filter((answer, at) => answer !== isChangedByHand(pairs[at] as (typeof pairs)[number]));
          return wrong.length === 0 ? [] : [`${wrong.length} of ${BOTH_ROWS} answers differ from those of the closure`];
        },
      };
    },
  });
  return {
    title: CONDITION,
    counted: 'evaluations',
    sides: [
      judging('carillon', () => {
        const compiled = createExpressionLanguage().compile(CONDITION, 'when');
        if (!compiled.ok) throw new Error(JSON.stringify(compiled.error));
        const source = { integration: 'shop-db', table: 'public.orders', tx: 728, position: '0/1948580:1' };
        const bindings = pairs.map((rows, at): Bindings => ({
          ...rows,
          op: 'update',
          source,
          event_id: `evt_${at}`,
          time: 0,
        }));
        // As the engine has it: one budget, filled anew for each rule.
        const budget = new StepBudget();
        return (at) => {
          budget.left = RULE_STEPS;
          const answer = compiled.value.evaluate(bindings[at] as Bindings, budget);
          return answer.ok && answer.value === true;
        };
      }),
      judging('closure', () => (at) => isChangedByHand(pairs[at] as (typeof pairs)[number])),
    ],
    comparisons: [{ side: 'carillon', to: 'closure', measure: 'rate', wanted: 'at least', floor: 0.6, goal: 0.75 }],
  };
}
