import fc from 'fast-check';
import { expect } from 'vitest';

/** What a request of the management API was answered. */
export type Answered = {
  readonly status: number;
  readonly etag: string;
  readonly body: Readonly<Record<string, unknown>>;
};
export type Ask = (
  method: 'GET' | 'PUT' | 'POST' | 'DELETE',
  path: string,
  body?: object,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answered>;

export const RESOURCES = 200;
const WRITERS = 3;
/** They meet each other at a few names, and leave most of them alone. */
const BUSY = 6;

const DOES = ['look', 'put', 'type', 'keep mine', 'publish', 'publish many', 'discard', 'apply', 'roll back'] as const;
const step = fc.record({
  does: fc.constantFrom(...DOES),
  at: fc.oneof({ weight: 4, arbitrary: fc.nat(BUSY - 1) }, { weight: 1, arbitrary: fc.nat(RESOURCES - 1) }),
  more: fc.uniqueArray(fc.nat(BUSY - 1), { maxLength: 4 }),
});
export type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;
/** What each writer does, one step after the other; the writers beside each other. */
export const interleavings = (longest: number): fc.Arbitrary<Step[][]> =>
  fc.array(fc.array(step, { minLength: longest / 2, maxLength: longest }), { minLength: WRITERS, maxLength: WRITERS });

/** A change that was acknowledged: what it was based on says what its author had seen. */
type Change = { readonly name: string; readonly number: number; readonly words: readonly string[] } & {
  readonly isSeen: (before: number) => boolean;
};
type View = { readonly words: readonly string[]; readonly number: number };

const REFUSED = new Set([404, 409, 412]);
const nameOf = (at: number): string => `t${String(at).padStart(3, '0')}`;
const wordsIn = (text: unknown): readonly string[] => String(text).split(/\s+/).filter(Boolean);
const bodyOf = (words: readonly string[]) => ({ email: { subject: 'Words', text: words.join(' ') } });
const wordsOf = (body: unknown): readonly string[] =>
  wordsIn((body as { email?: { text?: string } } | null)?.email?.text);
const filesOf = (name: string, words: readonly string[]): Readonly<Record<string, string>> => ({
  [`workspaces/shop/templates/${name}/email.yaml`]: 'subject: Words\n',
  [`workspaces/shop/templates/${name}/email.txt`]: `${words.join(' ')}\n`,
});
const own = (path: string): string => `/v1/workspaces/shop/${path}`;
const template = (name: string): string => own(`templates/${name}`);

/** Returns true if a change was done, and false if it was refused by name. Fails at any other answer. */
function isDone({ status, body }: Answered): boolean {
  if (status === 200) return true;
  expect([status, REFUSED.has(status), body['detail']]).toEqual([status, true, body['detail']]);
  return false;
}

type History = ReturnType<typeof createHistory>;

/** What the writers share: the changes that were acknowledged, and a count of their steps. */
function createHistory(ask: Ask) {
  const acknowledged: Change[] = [];
  let steps = 0;
  return {
    ask,
    acknowledged,
    nextStep: (): number => (steps += 1),
    apply: (files: Readonly<Record<string, string>>, based_on?: number): Promise<Answered> =>
      ask('POST', '/v1/configuration/apply', {
        files: { 'workspaces/shop/workspace.yaml': 'name: Shop\n', ...files },
        prune: false,
        workspace: 'shop',
        ...(based_on !== undefined && { based_on }),
      }),
    look: async (name: string): Promise<View> => {
      const { body } = await ask('GET', template(name));
      return { words: wordsOf(body['body']), number: Number(body['number']) };
    },
  };
}

/** Returns the changes that one writer makes. The writer remembers what they read and typed. */
function changesOf(id: number, { ask, apply, look, nextStep, acknowledged }: History) {
  const views = new Map<string, View>();
  const drafts = new Map<string, string>();
  const seen = async (name: string): Promise<View> => {
    const view = views.get(name) ?? (await look(name));
    views.set(name, view);
    return view;
  };
  const newWord = (): string => `w${id}x${nextStep()}`;
  const tell = (name: string, number: unknown, words: readonly string[], isSeen: Change['isSeen']): void => {
    if (typeof number === 'number') acknowledged.push({ name, number, words, isSeen });
  };

  async function put(name: string): Promise<void> {
    const { words, number } = await seen(name);
    const wanted = [...words, newWord()];
    const answer = await ask('PUT', template(name), bodyOf(wanted), { 'if-match': `"${number}"` });
    if (isDone(answer)) tell(name, answer.body['number'], wanted, (before) => before === number);
    views.delete(name);
  }
  async function type(name: string, choose: boolean): Promise<void> {
    const view = await seen(name);
    const there = await ask('GET', `${template(name)}/draft`);
    const isThere = there.status === 200;
    const mine = isThere && !choose ? wordsOf(there.body['body']) : view.words;
    const wish = {
      body: bodyOf([...mine, newWord()]),
      ...((choose || !isThere) && { based_on: view.number }),
    };
    const known = drafts.get(name) ?? there.etag;
    const condition = isThere ? { 'if-match': known } : { 'if-none-match': '*' };
    const saved = await ask('PUT', `${template(name)}/draft`, wish, condition);
    if (isDone(saved)) drafts.set(name, saved.etag);
    else drafts.delete(name);
  }
  async function publish(names: readonly string[]): Promise<void> {
    const found = await Promise.all(
      names.map(async (name) => ({ name, ...(await ask('GET', `${template(name)}/draft`)) })),
    );
    const there = found.filter(({ status }) => status === 200);
    if (there.length === 0) return;
    const named = there.map(({ name, body }) => ({ kind: 'template', name, revision: body['revision'] }));
    const answer = await ask('POST', own('drafts/publish'), { drafts: named, message: 'why' });
    if (!isDone(answer)) return;
    const changed = answer.body['changes'] as readonly { readonly resource: string }[];
    for (const { name, body } of there) {
      if (!changed.some(({ resource }) => resource === `template shop/${name}`)) continue;
      tell(name, answer.body['new_number'], wordsOf(body['body']), (before) => before === body['based_on']);
    }
  }
  async function applyFolder(names: readonly string[]): Promise<void> {
    const { number } = (await ask('GET', '/v1/configuration/export?workspace=shop')).body;
    const wanted = await Promise.all(
      names.map(async (name) => ({ name, words: [...(await look(name)).words, newWord()] })),
    );
    const files = Object.assign({}, ...wanted.map(({ name, words }) => filesOf(name, words))) as Record<string, string>;
    const answer = await apply(files, Number(number));
    if (!isDone(answer)) return;
    expect(answer.body['faults']).toEqual([]);
    for (const { name, words } of wanted) {
      tell(name, answer.body['new_number'], words, (before) => before <= Number(number));
    }
  }
  async function rollBack(name: string): Promise<void> {
    const { number } = await seen(name);
    const versions = (await ask('GET', `${template(name)}/versions`)).body['items'] as readonly View[];
    const to = versions[Math.min(2, versions.length - 1)]?.number ?? number;
    const { body } = await ask('GET', `${template(name)}/versions/${to}`);
    const answer = await ask('POST', `${template(name)}/rollback`, { number: to }, { 'if-match': `"${number}"` });
    if (isDone(answer)) {
      tell(name, answer.body['new_number'], wordsOf(body['body']), (before) => before === number);
    }
    views.delete(name);
  }

  async function discard(name: string): Promise<void> {
    const etag = drafts.get(name);
    drafts.delete(name);
    if (etag !== undefined) isDone(await ask('DELETE', `${template(name)}/draft`, undefined, { 'if-match': etag }));
  }
  return {
    look: async (name: string): Promise<void> => void views.set(name, await look(name)),
    put,
    type,
    publish,
    applyFolder,
    rollBack,
    discard,
  };
}

/** Returns what does the steps of one writer. */
function writer(id: number, history: History) {
  const { look, put, type, publish, applyFolder, rollBack, discard } = changesOf(id, history);
  return async ({ does, at, more }: Step): Promise<void> => {
    const name = nameOf(at);
    const names = [...new Set([name, ...more.map(nameOf)])];
    switch (does) {
      case 'look':
        return look(name);
      case 'put':
        return put(name);
      case 'type':
        return type(name, false);
      case 'keep mine':
        return type(name, true);
      case 'publish':
        return publish([name]);
      case 'publish many':
        return publish(names);
      case 'apply':
        return applyFolder(names);
      case 'roll back':
        return rollBack(name);
      case 'discard':
        return discard(name);
    }
  };
}

/** Three writers over 200 templates of a workspace `shop`, by every way in which a configuration is changed. */
export function historyLaw(ask: Ask) {
  const history = createHistory(ask);
  const { acknowledged, apply } = history;
  let first = 0;

  return {
    async begin(): Promise<void> {
      const all = Array.from({ length: RESOURCES }, (_, at) => filesOf(nameOf(at), ['first']));
      const { body } = await apply(Object.assign({}, ...all) as Record<string, string>);
      expect(body).toMatchObject({ applied: true, faults: [] });
      first = Number(body['new_number']);
    },
    async run(writers: readonly Step[][]): Promise<void> {
      await Promise.all(
        writers.map(async (todo, id) => {
          const act = writer(id, history);
          for (const one of todo) await act(one);
        }),
      );
    },
    /**
     * Each version of each template is a change that was acknowledged, with what its author wanted, and its author had seen the
     * version before it: nobody wrote over what they did not know. What counts is exported to what changes nothing.
     */
    async holds(): Promise<{ readonly acknowledged: number }> {
      const touched = new Set(acknowledged.map(({ name }) => name));
      for (const name of touched) {
        const numbers: number[] = [];
        for (let cursor = ''; ;) {
          const { body } = await ask('GET', `${template(name)}/versions?limit=100${cursor}`);
          numbers.push(...(body['items'] as readonly View[]).map(({ number }) => number));
          if (typeof body['next'] !== 'string') break;
          cursor = `&cursor=${encodeURIComponent(body['next'])}`;
        }
        numbers.reverse();
        const told = acknowledged.filter((one) => one.name === name).toSorted((a, b) => a.number - b.number);
        expect({ name, numbers }).toEqual({ name, numbers: [first, ...told.map(({ number }) => number)] });
        for (const [index, { number, words, isSeen }] of told.entries()) {
          const { body } = await ask('GET', `${template(name)}/versions/${number}`);
          const before = numbers[index] ?? first;
          expect({ name, number, words: wordsOf(body['body']) }).toEqual({ name, number, words });
          expect({ name, number, before, isSeen: isSeen(before) }).toEqual({ name, number, before, isSeen: true });
        }
      }
      const { body } = await ask('GET', '/v1/configuration/export');
      const again = await ask('POST', '/v1/configuration/apply', { files: body['files'] as object, prune: true });
      expect(again.body).toMatchObject({ applied: false, faults: [], changes: [] });
      return { acknowledged: acknowledged.length };
    },
  };
}
