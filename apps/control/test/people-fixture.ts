import type { Role } from '@carillon/domain/people';
import type { Duration } from '@carillon/kernel';
import { createMemoryStores } from '@carillon/testing/memory';
import { givenIds, settableClock } from '@carillon/testing/given';
import { createAccess } from '../src/access/access.ts';
import { createDirectory } from '../src/access/people/directory.ts';
import { createPasswords } from '../src/access/people/passwords.ts';
import type { Mailed, Notice, PersonMail } from '../src/access/people/person-mail.ts';
import type { ControlPorts } from '../src/index.ts';
import { openControl, plainSealer, TOKEN } from './control-fixture.ts';

export const PASSWORD = 'correct horse battery staple';
const QUICK = { memory: 64, passes: 1, parallelism: 1 } as const;

/** A browser: it keeps its cookie, and says what a page of ours says. */
export type Browser = {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- whoever asks says what the answer looks like
  call<Body = Record<string, unknown>>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    payload?: object,
    more?: Readonly<Record<string, string>>,
  ): Promise<{
    readonly status: number;
    readonly body: Body;
    readonly headers: Readonly<Record<string, unknown>>;
  }>;
  cookie(): string;
};

/** The API over people in memory, with the real access but quick passwords; waits between guesses are noted and not waited. */
export async function openPeople(ports: Partial<ControlPorts> = {}) {
  const people = createMemoryStores().connect().people;
  const clock = settableClock();
  const waits: Duration[] = [];
  const own = { people, clock, ids: givenIds, factorSealer: plainSealer };
  const hashed: (string | null)[] = [];
  /** What happens once a password was looked at, and before anything follows from it. */
  const during: { match: () => Promise<unknown> } = { match: async () => undefined };
  const quick = createPasswords(QUICK);
  const passwords = {
    hash: (password: string, source: string) => quick.hash(password, source),
    async matches(password: string, hash: string | null, asker: Parameters<typeof quick.matches>[2]) {
      hashed.push(hash);
      const isRight = await quick.matches(password, hash, asker);
      await during.match();
      return isRight;
    },
  };
  const mails: Notice[] = [];
  /** What becomes of mails. They are kept in `mails` while it is `sent`. */
  const outgoing: { portalUrl: string | null; result: Mailed } = {
    portalUrl: 'https://carillon.example.com',
    result: 'no_account',
  };
  const mail: PersonMail = {
    async sendLink({ path, text, ...letter }) {
      if (outgoing.portalUrl === null) return 'no_portal_url';
      if (outgoing.result === 'sent') mails.push({ ...letter, text: text(`${outgoing.portalUrl}${path}`) });
      return outgoing.result;
    },
    notify(notice) {
      if (outgoing.result === 'sent') mails.push(notice);
    },
  };
  const settings = { passwords, mail, pause: async (span: Duration) => waits.push(span) };
  const access = createAccess({ ownerToken: TOKEN }, own, settings);
  const fixture = await openControl(access, { ...own, ...ports });
  const directory = createDirectory(own);

  function browser(): Browser {
    let cookie = '';
    return {
      // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- whoever asks says what the answer looks like
      async call<Body>(
        method: 'GET' | 'POST' | 'PUT' | 'DELETE',
        url: string,
        payload?: object,
        more: Readonly<Record<string, string>> = {},
      ) {
        const headers = { cookie, 'x-carillon': '1', ...more };
        const answer = await fixture.control.app.inject({ method, url, headers, ...(payload && { payload }) });
        const set = answer.headers['set-cookie'];
        if (set !== undefined) [cookie = ''] = String(set).split(';');
        return { status: answer.statusCode, body: answer.json<Body>(), headers: answer.headers };
      },
      cookie: () => cookie,
    };
  }

  async function addPerson(email: string, roles: Readonly<Record<string, Role>> = {}): Promise<string> {
    const memberships = Object.entries(roles).map(([workspace, role]) => ({ workspace, role }));
    const passwordHash = await passwords.hash(PASSWORD, '');
    return (await directory.addPerson({ name: 'Somebody', email, memberships, passwordHash })).id;
  }
  async function signedIn(email: string, password = PASSWORD): Promise<Browser> {
    const one = browser();
    const { status } = await one.call('POST', '/v1/session', { email, password });
    if (status !== 200) throw new Error(`signing in answered ${status}`);
    return one;
  }
  async function owner(): Promise<Browser> {
    const one = browser();
    const { word } = await access.makeLink();
    await one.call('POST', '/v1/session', { word });
    return one;
  }
  return {
    ...fixture,
    mails,
    outgoing,
    clock,
    people,
    directory,
    access,
    waits,
    hashed,
    during,
    browser,
    addPerson,
    signedIn,
    owner,
  };
}
export type PeopleFixture = Awaited<ReturnType<typeof openPeople>>;
