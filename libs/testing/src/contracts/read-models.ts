import type { ParkedReceipt } from '@carillon/domain/receipts';
import type {
  DeadLetterFilter,
  DeadLetterRow,
  DuplicateRow,
  EvaluationRow,
  EventRow,
  FieldRow,
  ReadModels,
} from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { allPages } from './pages.ts';
import { freshFor, freshName, type UnderTest } from './under-test.ts';

let offset = 0;
const next = (): number => {
  offset += 1;
  return (Date.now() % 1_000_000_000) * 1000 + offset;
};

const event = (workspace: string, more: Partial<EventRow> = {}): EventRow => ({
  id: freshName('evt'),
  workspace,
  stream: `${workspace}/orders`,
  partition: 0,
  offset: next(),
  at: 10,
  bytes: 100,
  configNumber: 1,
  reused: false,
  traceId: null,
  ...more,
});
const duplicate = (workspace: string, more: Partial<DuplicateRow> = {}): DuplicateRow => ({
  id: freshName('dup'),
  workspace,
  notification: 'order-paid',
  intentId: freshName('int'),
  eventId: freshName('evt'),
  deliveryId: freshName('dlv'),
  at: 10,
  detail: '',
  ...more,
});
const PARKED: ParkedReceipt = {
  source: 'twilio',
  account: 'shop/sms',
  verdict: 'note',
  suppress: 'stop',
  code: '',
  detail: 'wrote "STOP" and $more',
  receivedAt: 1_700_000_000_000,
  deliveryId: null,
  attempt: null,
  address: '+4915112345678',
  wish: 'stop',
};

const deadLetter = (workspace: string | null, more: Partial<DeadLetterRow> = {}): DeadLetterRow => ({
  id: freshName('ded'),
  workspace,
  stage: 'evaluate',
  topic: 'carillon.events',
  partition: 0,
  offset: next(),
  reason: 'invalid_json',
  at: 10,
  ownPartition: 0,
  ownOffset: next(),
  redrivenAt: null,
  redrivenBy: null,
  dismissedAt: null,
  dismissedBy: null,
  receipt: null,
  ...more,
});
const evaluation = (workspace: string, more: Partial<EvaluationRow> = {}): EvaluationRow => ({
  partition: 0,
  from: next(),
  to: next(),
  configNumber: 1,
  workspace,
  rule: 'order-paid.paid',
  fired: 1,
  failed: 0,
  sampleEventId: null,
  sampleError: null,
  ...more,
});
const field = (workspace: string, more: Partial<FieldRow> = {}): FieldRow => ({
  workspace,
  stream: `${workspace}/orders`,
  partition: 0,
  path: 'customer.email',
  offset: 5,
  count: 3,
  types: ['string'],
  tables: ['public.orders', 'public.people'],
  sample: '"ada@example.com"',
  firstAt: 10,
  lastAt: 20,
  ...more,
});

/** Projections may repeat as often as they like: rows are named by what they describe. */
export function describeReadModels(name: string, make: () => Promise<UnderTest<ReadModels>>): void {
  describe(`${name} keeps the contract of read models`, () => {
    const { port: models } = freshFor(make);
    const idsOf = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map(({ id }) => id);

    it('shows each place of an event once, oldest first, however often it was projected', async () => {
      const workspace = freshName('shop');
      const first = event(workspace, { at: 10 });
      const again = event(workspace, { id: first.id, at: 20, reused: true });
      await models().put({ events: [again, first] });
      await models().put({ events: [first] });
      expect(await models().event(first.id)).toEqual([first, again]);
      expect(await models().event(freshName('unknown'))).toEqual([]);
      await models().put({});
    });

    it('finds every place of many events at once, of which some may be unknown or asked for twice', async () => {
      const workspace = freshName('shop');
      const first = event(workspace, { at: 10 });
      const again = event(workspace, { id: first.id, at: 20, reused: true });
      const others = Array.from({ length: 250 }, () => event(workspace));
      await models().put({ events: [again, first, ...others] });
      const ids = [first.id, freshName('unknown'), ...others.map(({ id }) => id).slice(1), first.id];
      const found = await models().eventsWithIds(ids, 16);
      expect(found.length).toBe(2 + others.length - 1);
      expect(new Set(found)).toEqual(new Set([first, again, ...others.slice(1)]));
      expect(await models().eventsWithIds([], 16)).toEqual([]);
    });

    it('finds no more places of an id than it is asked for, and those of other ids beside it', async () => {
      const workspace = freshName('shop');
      const [often, other] = [event(workspace), event(workspace)];
      await models().put({ events: Array.from({ length: 20 }, () => event(workspace, { id: often.id })) });
      await models().put({ events: [other] });
      const found = await models().eventsWithIds([often.id, other.id], 4);
      expect(found.filter(({ id }) => id === often.id).length).toBe(4);
      expect(found.filter(({ id }) => id === other.id)).toEqual([other]);
    });

    it('lists events newest first, by workspace, stream and time', async () => {
      const workspace = freshName('shop');
      const old = event(workspace, { at: 10 });
      const other = event(workspace, { at: 20, stream: `${workspace}/other` });
      await models().put({ events: [old, other, event(freshName('elsewhere'))] });
      expect(idsOf((await models().events({ workspace }, 10)).items)).toEqual([other.id, old.id]);
      expect(idsOf((await models().events({ stream: `${workspace}/other` }, 10)).items)).toEqual([other.id]);
      expect(idsOf((await models().events({ workspace, since: 20 }, 10)).items)).toEqual([other.id]);
    });

    it('finds the events of a trace, of one workspace or of all, and none by the trace of another', async () => {
      const [workspace, elsewhere] = [freshName('shop'), freshName('elsewhere')];
      const trace = freshName('4bf92f3577b34da6a3ce929d0e0e');
      const first = event(workspace, { at: 10, traceId: trace });
      const second = event(workspace, { at: 20, traceId: trace });
      const other = event(elsewhere, { at: 30, traceId: trace });
      const strangers = [event(workspace), event(workspace, { traceId: freshName('0af7651916cd43dd8448eb21') })];
      await models().put({ events: [first, second, other, ...strangers] });
      expect((await models().events({ traceId: trace, workspace }, 10)).items).toEqual([second, first]);
      expect(idsOf((await models().events({ traceId: trace }, 10)).items)).toEqual([other.id, second.id, first.id]);
      expect((await models().events({ traceId: freshName('unknown') }, 10)).items).toEqual([]);
      const page = await models().events({ traceId: trace }, 2);
      expect(idsOf((await models().events({ traceId: trace }, 2, page.next ?? '')).items)).toEqual([first.id]);
    });

    it('turns pages of events that neither repeat nor skip while others arrive', async () => {
      const workspace = freshName('shop');
      const made = [1, 1, 1, 2, 2].map((at) => event(workspace, { at }));
      await models().put({ events: made });
      const seen = await allPages(
        (cursor) => models().events({ workspace }, 2, cursor),
        () => models().put({ events: [event(workspace, { at: 100 })] }),
      );
      expect(idsOf(seen).toSorted()).toEqual(idsOf(made).toSorted());
    });

    it('shows duplicates of an event, of a delivery, and the newest of a workspace', async () => {
      const workspace = freshName('shop');
      const one = duplicate(workspace, { at: 10 });
      const two = duplicate(workspace, { at: 20, deliveryId: one.deliveryId });
      await models().put({ duplicates: [one, two] });
      await models().put({ duplicates: [one] });
      expect(await models().duplicatesOfEvent(one.eventId)).toEqual([one]);
      expect(await models().duplicatesOfDelivery(one.deliveryId)).toEqual([one, two]);
      expect(await models().duplicates({ workspace }, 10)).toEqual({ items: [two, one], next: null });
      expect((await models().duplicates({ workspace }, 1)).items).toEqual([two]);
      expect((await models().duplicates({ workspace, since: 20 }, 10)).items).toEqual([two]);
      expect((await models().duplicates({ workspace, before: 20 }, 10)).items).toEqual([one]);
      expect((await models().duplicates({ workspace, eventId: one.eventId }, 10)).items).toEqual([one]);
      const other = duplicate(workspace, { at: 30 });
      await models().put({ duplicates: [other] });
      const ofBoth = { deliveryIds: [one.deliveryId, freshName('dlv')] };
      expect((await models().duplicates(ofBoth, 10)).items).toEqual([two, one]);
      expect((await models().duplicates({ ...ofBoth, before: 20 }, 10)).items).toEqual([one]);
      expect((await models().duplicates({ deliveryIds: [] }, 10)).items).toEqual([]);
    });

    it('turns pages of duplicates that neither repeat nor skip while others arrive', async () => {
      const workspace = freshName('shop');
      const made = [1, 1, 1, 2, 2].map((at) => duplicate(workspace, { at }));
      await models().put({ duplicates: made });
      const seen = await allPages(
        (cursor) => models().duplicates({ workspace }, 2, cursor),
        () => models().put({ duplicates: [duplicate(workspace, { at: 100 })] }),
      );
      expect(idsOf(seen).toSorted()).toEqual(idsOf(made).toSorted());
    });

    it('lists dead letters newest first, those without a workspace too', async () => {
      const workspace = freshName('shop');
      const made = [1, 1, 2].map((at) => deadLetter(workspace, { at }));
      const homeless = deadLetter(null);
      await models().put({ deadLetters: [...made, homeless] });
      const seen = await allPages(
        (cursor) => models().deadLetters({ workspace }, 1, cursor),
        () => models().put({ deadLetters: [deadLetter(workspace, { at: 100 })] }),
      );
      expect(idsOf(seen).toSorted()).toEqual(idsOf(made).toSorted());
      expect(await models().deadLetter(homeless.id)).toEqual(homeless);
      expect(await models().deadLetter(freshName('unknown'))).toBeNull();
    });

    it('remembers that a dead letter was sent on its way, even when it is projected again', async () => {
      const row = deadLetter(freshName('shop'));
      await models().put({ deadLetters: [row] });
      await models().markRedriven(row.id, 99, 'ann');
      await models().put({ deadLetters: [row] });
      expect(await models().deadLetter(row.id)).toEqual({ ...row, redrivenAt: 99, redrivenBy: 'ann' });
    });

    it('lists those of receipts apart, with what they say, and those alone that are open or new enough', async () => {
      const workspace = freshName('shop');
      const receipt = deadLetter(workspace, { stage: 'receipts', topic: 'carillon.receipts', at: 20, receipt: PARKED });
      const dismissed = deadLetter(workspace, { stage: 'receipts', topic: 'carillon.receipts', at: 30 });
      const redriven = deadLetter(workspace, { at: 40 });
      const other = deadLetter(workspace);
      await models().put({ deadLetters: [receipt, dismissed, redriven, other] });
      await models().markDismissed(dismissed.id, 99, 'ann');
      await models().markRedriven(redriven.id, 99, 'ann');
      const list = async (filter: DeadLetterFilter) =>
        (await models().deadLetters({ workspace, ...filter }, 10)).items.map(({ id }) => id);
      expect(await list({ ofReceipts: true })).toEqual([dismissed.id, receipt.id]);
      expect(await list({ ofReceipts: true, open: true })).toEqual([receipt.id]);
      expect(await list({ ofReceipts: false })).toEqual([redriven.id, other.id]);
      expect(await list({ open: true })).toEqual([receipt.id, other.id]);
      expect(await list({ since: 30 })).toEqual([redriven.id, dismissed.id]);
      expect(await models().deadLetter(receipt.id)).toEqual(receipt);
    });

    it('remembers who dismissed a receipt first, even when it is projected or dismissed again', async () => {
      const row = deadLetter(freshName('shop'), { stage: 'receipts', receipt: PARKED });
      await models().put({ deadLetters: [row] });
      await models().markDismissed(row.id, 99, 'ann');
      await models().put({ deadLetters: [row] });
      await models().markDismissed(row.id, 100, 'bob');
      await models().markDismissed(freshName('unknown'), 100, 'bob');
      expect(await models().deadLetter(row.id)).toEqual({ ...row, dismissedAt: 99, dismissedBy: 'ann' });
    });

    it('has a receipt open again once its dismissal is taken back, and lets somebody else dismiss it then', async () => {
      const workspace = freshName('shop');
      const row = deadLetter(workspace, { stage: 'receipts', topic: 'carillon.receipts', receipt: PARKED });
      await models().put({ deadLetters: [row] });
      await models().markDismissed(row.id, 99, 'ann');
      await models().markReopened(row.id);
      await models().markReopened(row.id);
      await models().markReopened(freshName('unknown'));
      expect(await models().deadLetter(row.id)).toEqual(row);
      expect((await models().deadLetters({ workspace, open: true }, 10)).items).toEqual([row]);
      await models().markDismissed(row.id, 100, 'bob');
      expect(await models().deadLetter(row.id)).toEqual({ ...row, dismissedAt: 100, dismissedBy: 'bob' });
    });

    it('shows evaluations of a rule with failures first, each once', async () => {
      const workspace = freshName('shop');
      const quiet = evaluation(workspace);
      const failing = evaluation(workspace, { failed: 2, sampleEventId: 'evt_1', sampleError: 'no such key: total' });
      const newest = evaluation(workspace);
      for (const row of [failing, quiet, newest, failing]) await models().put({ evaluations: [row] });
      await models().put({ evaluations: [evaluation(workspace, { rule: 'other.rule' })] });
      const shown = await models().evaluations(workspace, 'order-paid.paid', 10);
      expect(shown).toEqual([failing, newest, quiet]);
      expect(await models().evaluations(workspace, 'order-paid.paid', 1)).toEqual([failing]);
    });

    it('keeps of the rows of one field that of the highest offset, in whichever order and however often they come', async () => {
      const workspace = freshName('shop');
      const [old, middle, newest] = [1, 2, 3].map((count) =>
        field(workspace, { count, offset: count * 10, lastAt: count }),
      );
      if (!old || !middle || !newest) throw new Error('three rows');
      await models().put({ fields: [middle] });
      await models().put({ fields: [old, field(workspace, { path: 'b' })] });
      expect(await models().fields(old.stream)).toEqual([field(workspace, { path: 'b' }), middle]);
      await Promise.all([models().put({ fields: [newest] }), models().put({ fields: [middle] })]);
      await models().put({ fields: [old] });
      await models().put({ fields: [{ ...newest, count: 99 }] });
      expect(await models().fields(old.stream)).toEqual([field(workspace, { path: 'b' }), newest]);
    });

    it('lists fields of a stream by path and partition, or those of one partition', async () => {
      const workspace = freshName('shop');
      const rows = [
        field(workspace, { path: 'a', partition: 1, types: ['null', 'number'], sample: null }),
        field(workspace, { path: '["odd $name."][].x', partition: 0 }),
        field(workspace, { path: 'a', partition: 0 }),
      ];
      await models().put({ fields: [...rows, field(workspace, { stream: `${workspace}/other` })] });
      const stream = `${workspace}/orders`;
      expect(await models().fields(stream)).toEqual([rows[1], rows[2], rows[0]]);
      expect(await models().fields(stream, 1)).toEqual([rows[0]]);
      expect(await models().fields(`${workspace}/unknown`)).toEqual([]);
    });
  });
}
