import type { Decision } from '@carillon/domain/consent';
import type { ConsentStore } from '@carillon/ports';
import { decideConsents } from '@carillon/stages';
import { givenIds } from '@carillon/testing/given';
import { createMemoryStores } from '@carillon/testing/memory';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { accessOf, openControl, personWith, type Fixture, publishWishes } from './control-fixture.ts';

type Word = {
  readonly target: string;
  readonly name: string | null;
  readonly channel: string | null;
  readonly opted_out: boolean;
  readonly at: string;
};
type Answered = { readonly words: readonly Word[]; readonly changed: readonly Word[] };

let consents: ConsentStore;
let fixture: Fixture;
let url = '';
beforeEach(async () => {
  consents = createMemoryStores().connect().consents;
  fixture = await openControl(accessOf(personWith('ann', ['read', 'bodies', 'operate'])), { consents });
  const categories = { orders: { was: ['purchases'] } };
  const shop = { ref: { kind: 'workspace', workspace: 'shop', name: '' }, body: { categories } } as const;
  await publishWishes(fixture, [shop]);
  ({ address: url } = await fixture.control.listen());
});
afterEach(() => fixture.control.close(0));

let status = 0;
const set = async (body: object): Promise<Answered> => {
  const headers = { 'content-type': 'application/json' };
  const said = JSON.stringify({ person: 'ada', target: 'all', ...body });
  const answer = await fetch(`${url}/v1/workspaces/shop/consents`, { method: 'POST', headers, body: said });
  status = answer.status;
  return (await answer.json()) as Answered;
};
/** Said by the person on the page. */
const saying = (said: Partial<Decision>) =>
  decideConsents('shop', 'ada', [{ target: { kind: 'all' }, channel: null, optedOut: true, way: 'page', ...said }], {
    ...fixture,
    ids: givenIds,
    consents,
  });
const wordsOf = (words: readonly Word[]) =>
  words.map(({ target, channel, opted_out: out }) => `${target} ${channel ?? 'all'} ${out ? 'out' : 'in'}`).toSorted();
/** As the portal does for Undo: what changed is said back. */
async function undo({ changed }: Answered): Promise<readonly string[]> {
  let words: readonly Word[] = [];
  for (const word of changed) ({ words } = await set(sayingBack(word)));
  return wordsOf(words);
}
const sayingBack = ({ target, name, channel, opted_out: out, at }: Word) => ({
  target,
  ...(name !== null && { name }),
  channel,
  opted_out: !out,
  undoes: at,
});

it('changes nothing and offers no undo if the person had already chosen this', async () => {
  await saying({});
  expect((await set({ opted_out: true })).changed).toEqual([]);
});

it('undo leaves an opt-out of a single channel in place', async () => {
  await saying({ channel: 'sms' });
  const answer = await set({ opted_out: true });
  expect(wordsOf(answer.changed)).toEqual(['all all out']);
  expect(await undo(answer)).toEqual(['all all in', 'all sms out']);
});

it('is undone with what went along, where it allowed single channels too', async () => {
  await saying({});
  await saying({ channel: 'sms' });
  const answer = await set({ opted_out: false });
  expect(wordsOf(answer.changed)).toEqual(['all all in', 'all sms in']);
  expect(await undo(answer)).toEqual(['all all out', 'all sms out']);
});

it('undo of an opt-out leaves a choice under an older name of the category in place', async () => {
  await saying({ target: { kind: 'category', name: 'purchases' } });
  const answer = await set({ target: 'category', name: 'orders', opted_out: true });
  expect(await undo(answer)).toEqual(['category all in', 'category all out']);
});

it('undo of an opt-in restores the opt-out under an older name of the category', async () => {
  await saying({ target: { kind: 'category', name: 'purchases' } });
  const answer = await set({ target: 'category', name: 'orders', opted_out: false });
  expect(wordsOf(answer.changed)).toEqual(['category all in']);
  expect(await undo(answer)).toEqual(['category all in', 'category all out']);
});

it('is undone no more once the person said something else', async () => {
  const { changed } = await set({ opted_out: true });
  await saying({});
  for (const word of changed) await set(sayingBack(word));
  expect(status).toBe(409);
  const [document] = await consents.find('shop', ['ada']);
  expect(document?.words).toMatchObject([{ optedOut: true, way: 'page' }]);
});
