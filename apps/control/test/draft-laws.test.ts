import { findResource, type Draft, type ResourceRef } from '@carillon/domain/configuration';
import { isCarillonError, type JsonObject } from '@carillon/kernel';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { publishDrafts } from '../src/drafts/publish-drafts.ts';
import { discardDraft, saveDraft } from '../src/drafts/save-draft.ts';
import { stateOf } from '../src/drafts/states.ts';
import type { ControlPorts } from '../src/index.ts';
import { publishResource } from '../src/resources/publish-resources.ts';
import { personWith } from './control-fixture.ts';
import { openResourceFixture, type ResourceFixture } from './resource-fixture.ts';

let fixture: ResourceFixture;
beforeEach(async () => {
  fixture = await openResourceFixture();
  await fixture.topology.publish({ ref: { kind: 'workspace', workspace: 'shop', name: '' }, body: {} });
  for (const name of NAMES) await put(name, ['first'], null);
});
afterEach(() => fixture.close());

const NAMES = ['one', 'two'] as const;
const WRITERS = ['ada', 'bob', 'cleo'] as const;
const refOf = (name: string): ResourceRef<'template'> => ({ kind: 'template', workspace: 'shop', name });
/** The draft that an author saves: the text as the author saw it, and one more word. */
const bodyOf = (words: readonly string[]): JsonObject => ({ email: { subject: 'Words', text: words.join(' ') } });
const wordsIn = (body: unknown): readonly string[] =>
  ((body as { email?: { text?: string } } | null)?.email?.text ?? '').split(' ');
const actor = (id: string) => ({ kind: 'person', id }) as const;
const by = (id: string) => ({ actor: actor(id), origin: 'portal', message: null, requestId: null }) as const;
const may = (id: string) => personWith(id, ['configure']);
const now = async (name: string) => findResource(await fixture.ports.configuration.refresh(), 'template', 'shop', name);

function put(name: string, words: readonly string[], seen: number | null) {
  const precondition = seen === null ? ({ kind: 'absent' } as const) : ({ kind: 'numbers', numbers: [seen] } as const);
  const request = () => ({ put: [{ ref: refOf(name), body: bodyOf(words) }], remove: [] });
  return publishResource({ ref: refOf(name), request, precondition, principal: may('ada') }, by('ada'), fixture.ports);
}

const REFUSALS = ['precondition_failed', 'draft_conflict', 'conflict'];
/** Whether it was done; false: it was refused, and said so. */
const done = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    (error: unknown) => {
      if (isCarillonError(error) && REFUSALS.includes(error.code)) return false;
      throw error;
    },
  );

/** State that a writer sees: words and number of the published version, and the draft. */
type View = { readonly words: readonly string[]; readonly number: number; readonly draft: Draft | null };
const look = async (name: string): Promise<View> => {
  const draft = await fixture.ports.drafts.find(refOf(name));
  const resource = await now(name);
  return { words: wordsIn(resource?.body), number: resource?.number ?? -1, draft };
};
const both = (...lists: readonly (readonly string[])[]): readonly string[] => [...new Set(lists.flat())];

const step = fc.record({
  writer: fc.constantFrom(...WRITERS),
  name: fc.constantFrom(...NAMES),
  does: fc.constantFrom('look', 'type', 'choose', 'publish', 'publish both', 'put', 'discard'),
  /** Begun together with the step before. */
  at_once: fc.boolean(),
});

describe('three writers of the same resources', () => {
  it('lose no acknowledged change in any order of reading, saving, publishing and writing', async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 40 }), async (steps) => {
        runs += 1;
        const counts = new Map<string, Set<string>>(NAMES.map((name) => [name, new Set<string>()]));
        const views = new Map<string, View>();
        for (const name of NAMES) {
          const { draft } = await look(name);
          if (draft) await discardDraft(draft.ref, draft.revision, fixture.ports);
        }
        const act = async ({ writer, name, does }: (typeof steps)[number], at: number): Promise<void> => {
          const key = `${writer} ${name}`;
          const view = views.get(key) ?? (await look(name));
          views.set(key, view);
          const word = `${writer}${runs}x${at}`;
          const { ports } = fixture;
          const publish = async (names: readonly string[]): Promise<void> => {
            const found = await Promise.all(names.map((one) => ports.drafts.find(refOf(one))));
            const drafts = found.filter((draft) => draft !== null);
            if (!(await done(publishDrafts(drafts, by(writer), may(writer), ports)))) return;
            for (const { ref, body } of drafts) for (const one of wordsIn(body)) counts.get(ref.name)?.add(one);
          };
          if (does === 'look') views.set(key, await look(name));
          else if (does === 'put') {
            const words = both(view.words, [word]);
            if (await done(put(name, words, view.number))) counts.get(name)?.add(word);
          } else if (does === 'publish') await publish([name]);
          else if (does === 'publish both') await publish(NAMES);
          else if (does === 'discard') {
            if (view.draft) await done(discardDraft(refOf(name), view.draft.revision, ports));
          } else {
            const mine = wordsIn(view.draft?.body ?? bodyOf(view.words));
            const chosen = does === 'choose' || view.draft === null;
            const body = bodyOf(both(chosen ? both(mine, view.words) : mine, [word]));
            const wish = { ref: refOf(name), body, ...(chosen && { basedOn: view.number }) };
            await done(saveDraft(wish, { revision: view.draft?.revision ?? null }, actor(writer), ports));
          }
        };
        for (let at = 0; at < steps.length;) {
          const together = [at];
          while (steps[at + together.length]?.at_once) together.push(at + together.length);
          await Promise.all(steps.slice(at, at + together.length).map((one, after) => act(one, at + after)));
          at += together.length;
        }
        for (const name of NAMES) {
          const words = wordsIn((await now(name))?.body);
          expect([...(counts.get(name) ?? [])].filter((word) => !words.includes(word))).toEqual([]);
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('a publisher that crashes', () => {
  const STEPS = [
    'before the record',
    'after the record',
    'before the markers',
    'before a draft goes',
    'after a draft went',
  ];
  it.each(STEPS)('%s publishes all or nothing, and a repeat completes it', async (place) => {
    const { ports } = fixture;
    for (const name of NAMES) {
      const number = (await now(name))?.number ?? -1;
      const wish = { ref: refOf(name), body: bodyOf(['first', 'new']), basedOn: number };
      await saveDraft(wish, { revision: null }, actor('ada'), ports);
    }
    const drafts = async () => (await ports.drafts.list('shop', 10)).items;
    const before = (await ports.configuration.refresh()).number;
    await expect(publishDrafts(await drafts(), by('ada'), may('ada'), dyingAt(place, ports))).rejects.toThrow('dies');

    const after = await ports.configuration.refresh();
    const changed = await Promise.all(NAMES.map(async (name) => wordsIn((await now(name))?.body).includes('new')));
    expect(new Set(changed).size).toBe(1);
    for (const draft of await drafts()) expect(stateOf(draft, after)).toBe(changed[0] ? 'published' : 'open');

    await publishDrafts(await drafts(), by('ada'), may('ada'), ports);
    const { number } = await ports.configuration.refresh();
    expect(number).toBe(before + 1);
    expect(await drafts()).toEqual([]);
    for (const name of NAMES) expect(wordsIn((await now(name))?.body)).toEqual(['first', 'new']);
  });
});

/** Ports of a process that dies at a place; what it did before lasts. */
function dyingAt(place: string, ports: ControlPorts): ControlPorts {
  let appends = 0;
  const die = (here: string): void => {
    if (here === place) throw new Error('dies');
  };
  return {
    ...ports,
    log: {
      ...ports.log,
      append: async (records) => {
        appends += 1;
        die(appends === 1 ? 'before the record' : 'before the markers');
        const offsets = await ports.log.append(records);
        if (appends === 1) die('after the record');
        return offsets;
      },
    },
    drafts: {
      ...ports.drafts,
      remove: async (ref, revision) => {
        die('before a draft goes');
        const answer = await ports.drafts.remove(ref, revision);
        die('after a draft went');
        return answer;
      },
    },
  };
}
