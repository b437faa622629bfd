import type { InvitationShown, MemberShown, PersonShown, TokenShown } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type Client, type CommonOptions } from '../client.ts';
import { UsageError } from '../failure.ts';
import { clean, paint, table, zonedTime } from '../output.ts';
import { answer, command, readWhole, type Items } from './api-command.ts';

type Invited = InvitationShown & { readonly word: string; readonly link: string; readonly mailed: string };
type Roles = { readonly role?: readonly string[]; readonly owner?: boolean };

const ROLES = 'owner, editor, operator or viewer';

/** A word that may come several times, and several with commas. */
const many = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== ''),
];

/** Finds a person by id or address. */
async function personIn<One>(
  who: string,
  list: readonly One[],
  idOf: (one: One) => string,
  emailOf: (one: One) => string | null,
): Promise<string> {
  if (!who.includes('@')) return who;
  const found = list.find((one) => emailOf(one)?.toLowerCase() === who.trim().toLowerCase());
  if (!found) throw new UsageError(`no person has the address ${who}; npx carillon people list shows all people`);
  return idOf(found);
}

const people = (client: Client): Promise<Items<PersonShown>> => readWhole(client, '/v1/people');
const idOfPerson = async (client: Client, who: string): Promise<string> =>
  personIn(
    who,
    who.includes('@') ? (await people(client)).items : [],
    ({ id }) => id,
    ({ email }) => email,
  );

const rolesText = ({ owner, memberships }: Pick<PersonShown, 'owner' | 'memberships'>): string =>
  [
    ...(owner ? ['owner of the deployment'] : []),
    ...memberships.map(({ workspace, role }) => `${role} in ${workspace}`),
  ].join(', ');

/** `carillon people`: who may sign in, and how somebody comes in and goes. */
export function peopleCommands(program: Command): void {
  const all = program
    .command('people')
    .description(
      'who may sign in: list, invite, invitations, uninvite, disable, enable, make-owner, unmake-owner, reset, remove',
    );

  listCommand(all);
  invitationCommands(all);
  stateCommands(all);
  removalCommands(all);
}

function listCommand(all: Command): void {
  command(all, 'list', 'list people with their roles and sign-in methods').action(async (options: CommonOptions) => {
    await answer(options, people, ({ items }) =>
      table(
        items.map((one) => [
          one.id,
          clean(one.name),
          clean(one.email ?? ''),
          one.state,
          rolesText(one),
          [one.has_password ? 'password' : 'links alone', ...(one.totp ? ['authenticator'] : [])].join(', '),
        ]),
        ['id', 'name', 'address', 'state', 'roles', 'signs in by'],
      ),
    );
  });
}

function invitationCommands(all: Command): void {
  command(
    all,
    'invite <email>',
    'invite a person: creates a link for one use within 7 days, and mails it if the deployment has an email account',
  )
    .option('--role <role>', `roles in the workspace, separated by commas: ${ROLES}`, many)
    .option('--owner', 'owner of the whole deployment')
    .action(async (email: string, options: CommonOptions & Roles) => {
      const { role = [], owner = false } = options;
      if (role.length === 0 && !owner)
        throw new UsageError(`pass --role (${ROLES}), or --owner for the whole deployment`);
      await answer(
        options,
        async (client) => {
          const workspace = role.length === 0 ? '' : await client.workspace();
          const memberships = role.map((one) => ({ workspace, role: one }));
          return client.post<Invited>('/v1/invitations', { email, owner, memberships });
        },
        invitedText,
      );
    });

  command(all, 'invitations', 'list invitations of the last seven days').action(async (options: CommonOptions) => {
    await answer(
      options,
      (client) => readWhole<InvitationShown>(client, '/v1/invitations'),
      ({ items }) =>
        items.length === 0
          ? paint('dim', 'no invitations')
          : table(
              items.map((one) => [
                one.id,
                clean(one.email),
                rolesText(one),
                one.used ? 'used' : `until ${zonedTime(one.ends_at)}`,
              ]),
              ['id', 'address', 'roles', 'good'],
            ),
    );
  });

  command(all, 'uninvite <id>', 'revoke an invitation').action(async (id: string, options: CommonOptions) => {
    await answer(
      options,
      (client) => client.delete(`/v1/invitations/${seg(id)}`),
      () => `${clean(id)} has ended`,
    );
  });
}

/** Commands that change one field of a person. */
function stateCommands(all: Command): void {
  for (const [name, words, body, done] of [
    [
      'disable',
      'block sign-in of a person, end their sessions and pause their tokens',
      { state: 'disabled' },
      'can no longer sign in',
    ],
    ['enable', 'allow a blocked person to sign in again', { state: 'active' }, 'may sign in again'],
    ['make-owner', 'make a person an owner of the whole deployment', { owner: true }, 'owns the deployment'],
    [
      'unmake-owner',
      'end a person’s ownership of the deployment; the last owner cannot be removed',
      { owner: false },
      'does not own the deployment',
    ],
  ] as const) {
    command(all, `${name} <person>`, words).action(async (who: string, options: CommonOptions) => {
      await answer(
        options,
        async (client) => client.put<PersonShown>(`/v1/people/${seg(await idOfPerson(client, who))}`, body),
        (one) => `${clean(one.name)} ${done}`,
      );
    });
  }
}

function removalCommands(all: Command): void {
  command(
    all,
    'reset <person>',
    'remove password and authenticator of a person who lost them, and end the sessions',
  ).action(async (who: string, options: CommonOptions) => {
    await answer(
      options,
      async (client) => client.delete(`/v1/people/${seg(await idOfPerson(client, who))}/credentials`),
      () =>
        `${clean(who)} no longer has a password: owners sign in with npx carillon owner-link --email, others need a new invitation`,
    );
  });

  command(
    all,
    'remove <person>',
    'remove a person with name, address and sessions; the id stays in the history',
  ).action(async (who: string, options: CommonOptions) => {
    await answer(
      options,
      async (client) => client.delete(`/v1/people/${seg(await idOfPerson(client, who))}`),
      () => `${clean(who)} is removed`,
    );
  });
}

function invitedText(one: Invited): string {
  const mailed = {
    sent: 'mailed to them',
    no_account: 'not mailed: the deployment has no email account (accounts of carillon.yaml); send them the link',
    no_portal_url: 'not mailed: carillon.yaml has no portal_url for the link; send the link yourself',
    failed: 'not mailed: the email account refused it (npx carillon account check default); send them the link',
  }[one.mailed];
  const until = `works once, until ${zonedTime(one.ends_at)}; shown this once`;
  return `${clean(one.link)}\n${paint('dim', `${until}\n${mailed ?? clean(one.mailed)}`)}`;
}

/** `carillon members`: who is what in a workspace. */
export function memberCommands(program: Command): void {
  const members = program.command('members').description('who has a role in a workspace: list, set, remove');
  const path = async (client: Client): Promise<string> => `/v1/workspaces/${seg(await client.workspace())}/members`;
  const list = async (client: Client): Promise<Items<MemberShown>> => readWhole(client, await path(client));
  const memberPath = async (client: Client, who: string): Promise<string> => {
    const { items } = who.includes('@') ? await list(client) : { items: [] };
    const known = items.some(({ email }) => email?.toLowerCase() === who.trim().toLowerCase());
    // Only a caller who sees all people can add a non-member.
    const id =
      known || !who.includes('@')
        ? await personIn(
            who,
            items,
            ({ person }) => person,
            ({ email }) => email,
          )
        : await idOfPerson(client, who);
    return `${await path(client)}/${seg(id)}`;
  };
  const shown = (one: MemberShown): readonly string[] => [
    one.person,
    clean(one.name),
    clean(one.email ?? ''),
    one.roles.join(', '),
  ];

  command(
    members,
    'list',
    'list people with a role in the workspace; owners of the deployment have every role everywhere',
  ).action(async (options: CommonOptions) => {
    await answer(options, list, ({ items }) =>
      items.length === 0
        ? paint('dim', 'nobody has a role in this workspace; owners of the deployment can do everything')
        : table(items.map(shown), ['id', 'name', 'address', 'roles']),
    );
  });

  command(members, 'set <person> <roles>', `set the roles of a person, separated by commas: ${ROLES}`).action(
    async (who: string, roles: string, options: CommonOptions) => {
      await answer(
        options,
        async (client) => client.put<MemberShown>(await memberPath(client, who), { roles: many(roles) }),
        (one) => `${clean(one.name)} is ${one.roles.join(', ')}; it applies from their next request`,
      );
    },
  );

  command(members, 'remove <person>', 'remove all roles of a person in the workspace').action(
    async (who: string, options: CommonOptions) => {
      await answer(
        options,
        async (client) => client.delete(await memberPath(client, who)),
        () => `${clean(who)} has no role here any more`,
      );
    },
  );
}

/** `carillon tokens`: credentials of programs. */
export function tokenCommands(program: Command): void {
  const tokens = program.command('tokens').description('service tokens of programs: create, list, revoke');

  command(tokens, 'create <name>', 'create a token; it is shown only once')
    .requiredOption('--scope <scope>', 'read, configure, operate or people, separated by commas', many)
    .option('--expires <duration>', 'lifetime, such as 90d (default: no end)')
    .option('--everywhere', 'valid in all workspaces and for the deployment itself')
    .action(
      async (
        name: string,
        options: CommonOptions & { scope: readonly string[]; expires?: string; everywhere?: boolean },
      ) => {
        await answer(
          options,
          async (client) =>
            client.post<TokenShown & { token: string }>('/v1/tokens', {
              name,
              scopes: options.scope,
              ...(options.everywhere !== true && { workspaces: [await client.workspace()] }),
              ...(options.expires !== undefined && { expires_in: options.expires }),
            }),
          (one) => {
            const where = one.workspaces === null ? 'everywhere' : `in ${one.workspaces.join(', ')}`;
            const until = one.expires_at === null ? 'does not expire' : `until ${zonedTime(one.expires_at)}`;
            return `${one.token}\n${paint('dim', `shown this once; ${one.scopes.join(', ')} ${clean(where)}, ${until}; programs send it as Authorization: Bearer, the command line takes it as CARILLON_TOKEN`)}`;
          },
        );
      },
    );

  command(tokens, 'list', 'list tokens, without their secrets').action(async (options: CommonOptions) => {
    await answer(
      options,
      (client) => readWhole<TokenShown>(client, '/v1/tokens'),
      ({ items }) =>
        items.length === 0
          ? paint('dim', 'no tokens')
          : table(
              items.map((one) => [
                one.id,
                clean(one.name),
                one.scopes.join(', '),
                one.workspaces === null ? 'everywhere' : one.workspaces.join(', '),
                one.expired ? 'expired' : (one.expires_at ?? 'never'),
                one.used_at ?? 'never',
              ]),
              ['id', 'name', 'scopes', 'workspaces', 'expires', 'last used'],
            ),
    );
  });

  command(tokens, 'revoke <id>', 'revoke a token at once').action(async (id: string, options: CommonOptions) => {
    await answer(
      options,
      (client) => client.delete(`/v1/tokens/${seg(id)}`),
      () => `${clean(id)} is revoked`,
    );
  });
}
