import { resourceKey, type Draft, type ResourceRef } from '@carillon/domain/configuration';
import type { DraftStore } from '@carillon/ports';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { conflictsAfter } from '../src/drafts/after-a-change.ts';
import { publishDrafts } from '../src/drafts/publish-drafts.ts';
import { discardDraft, saveDraft } from '../src/drafts/save-draft.ts';
import { stateOf } from '../src/drafts/states.ts';
import type { ControlPorts } from '../src/index.ts';
import { personWith } from './control-fixture.ts';
import { openResourceFixture, type ResourceFixture } from './resource-fixture.ts';

let fixture: ResourceFixture;
beforeEach(async () => {
  fixture = await openResourceFixture();
  const body = { email: { subject: 'First', text: 'first' } };
  await fixture.topology.publish({ ref: { kind: 'workspace', workspace: 'shop', name: '' }, body: {} });
  for (const ref of [A, B]) await fixture.topology.publish({ ref, body });
});
afterEach(() => fixture.close());

const A: ResourceRef<'template'> = { kind: 'template', workspace: 'shop', name: 'a' };
const B: ResourceRef<'template'> = { kind: 'template', workspace: 'shop', name: 'b' };
const textOf = (text: string) => ({ email: { subject: 'Text', text } });
const ada = { kind: 'person', id: 'ada' } as const;
const bob = personWith('bob', ['configure']);
const by = { actor: bob.actor, origin: 'portal', message: null, requestId: null } as const;
const numberOf = async (ref: ResourceRef): Promise<number> =>
  (await fixture.ports.configuration.refresh()).resources.get(resourceKey(ref))?.number ?? -1;
const begin = async (ref: ResourceRef, text: string): Promise<Draft> =>
  saveDraft({ ref, body: textOf(text), basedOn: await numberOf(ref) }, { revision: null }, ada, fixture.ports);
const typeOn = (draft: Draft, text: string, ports: ControlPorts = fixture.ports): Promise<Draft> =>
  saveDraft({ ref: draft.ref, body: textOf(text) }, { revision: draft.revision }, ada, ports);
/** The ports with another store of drafts. */
const withDrafts = (over: Partial<DraftStore>): ControlPorts => ({
  ...fixture.ports,
  drafts: { ...fixture.ports.drafts, ...over },
});
const found = async (ref: ResourceRef): Promise<Draft> => {
  const draft = await fixture.ports.drafts.find(ref);
  if (!draft) throw new Error('there is no draft');
  return draft;
};

it('a person who keeps typing during a publish never conflicts with their own text', async () => {
  const first = await begin(A, 'one');
  const { drafts } = fixture.ports;
  // Ada has read the draft that was published, and saves after its base was moved.
  let publish = async (): Promise<unknown> => publishDrafts([first], by, bob, fixture.ports);
  const saving = withDrafts({
    async find(ref) {
      const seen = await drafts.find(ref);
      const now = publish;
      publish = async () => undefined;
      await now();
      return seen;
    },
  });
  const second = await typeOn(first, 'two');
  const third = await typeOn(second, 'three', saving);
  expect((await found(A)).body).toEqual(textOf('three'));
  expect(third.basedOn).toBe(await numberOf(A));
  expect(stateOf(await found(A), fixture.ports.configuration.current())).toBe('open');
});

it('what is saved between the two steps of a publisher gets its base all the same', async () => {
  const first = await begin(A, 'one');
  const { drafts } = fixture.ports;
  const second = await typeOn(first, 'two');
  let meanwhile = async (): Promise<unknown> => typeOn(second, 'three');
  const publishing = withDrafts({
    async find(ref) {
      const seen = await drafts.find(ref);
      const now = meanwhile;
      meanwhile = async () => undefined;
      await now();
      return seen;
    },
  });
  await publishDrafts([first], by, bob, publishing);
  const now = await found(A);
  expect(now.body).toEqual(textOf('three'));
  expect(now.basedOn).toBe(await numberOf(A));
});

it('a saving that got a new base is saved and discarded by the revision that its author has', async () => {
  const second = await typeOn(await begin(A, 'one'), 'two');
  await publishDrafts([{ ...second, body: textOf('one'), revision: 'older' }], by, bob, fixture.ports);
  const rebased = await found(A);
  expect(rebased.revision).not.toBe(second.revision);
  const third = await typeOn(second, 'three');
  await expect(typeOn(second, 'again')).rejects.toMatchObject({ code: 'precondition_failed' });
  await publishDrafts([{ ...third, body: textOf('two'), revision: 'older' }], by, bob, fixture.ports);
  await discardDraft(A, third.revision, fixture.ports);
  expect(await fixture.ports.drafts.find(A)).toBeNull();
});

it('a draft that says what counts already gets no number that its resource never had', async () => {
  const a = await begin(A, 'new');
  const b = await begin(B, 'first');
  const published = { ...b, body: { email: { subject: 'First', text: 'first' } } };
  await fixture.ports.drafts.replace({ ...published, revision: 'same' }, b.revision);
  const seen = { ...published, revision: 'same' };
  // Somebody types on it while both are published; only the other one is in the record.
  await fixture.ports.drafts.replace({ ...seen, body: textOf('typed on'), revision: 'later' }, 'same');
  const { number } = await publishDrafts([a, seen], by, bob, fixture.ports);
  const now = await found(B);
  expect(now.basedOn).toBe(await numberOf(B));
  expect(now.basedOn).not.toBe(number);
  expect(stateOf(now, fixture.ports.configuration.current())).toBe('open');
});

it('a change that counts is answered though the drafts cannot be read; their workspace is read once', async () => {
  await begin(A, 'mine');
  const after = await fixture.topology.publish({ ref: A, body: textOf('theirs') });
  await fixture.ports.configuration.refresh();
  let reads = 0;
  const counting = withDrafts({
    list: (...asked) => {
      reads += 1;
      return fixture.ports.drafts.list(...asked);
    },
  });
  const changes = [A, B].map((ref) => ({ ref, body: textOf('theirs') })) as never;
  expect(after).toBeGreaterThan(0);
  expect(await conflictsAfter(changes, counting)).toMatchObject({ draft_conflicts: [{ name: 'a' }] });
  expect(reads).toBe(1);
  const troubles: unknown[] = [];
  const watch = { trouble: (_where: string, error: unknown) => void troubles.push(error) } as ControlPorts['watch'];
  const away = withDrafts({ list: () => Promise.reject(new Error('away')) });
  expect(await conflictsAfter(changes, { ...away, watch })).toEqual({ draft_conflicts: [], drafts_unread: true });
  expect(troubles).toHaveLength(1);
});
