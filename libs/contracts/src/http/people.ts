import { z } from 'zod';
import { open, OPEN } from './privacy.ts';
import { nullable, pageOf, time } from './fields.ts';

/** Bodies of the management API about who may use it. */

const ROLES = ['owner', 'editor', 'operator', 'viewer'] as const;
const SCOPES = ['read', 'configure', 'operate', 'people'] as const;

const actor = z
  .object({ kind: z.string().describe('person, token, cli (the owner token) or system'), id: z.string() })
  .meta({ id: 'AccountActor', ...OPEN });
const membership = z.object({ workspace: z.string(), role: z.enum(ROLES) }).meta({ id: 'Membership', ...OPEN });
const membershipInput = z.strictObject({ workspace: z.string().min(1).max(100), role: z.enum(ROLES) });
const email = z
  .string()
  .max(254)
  .regex(/^[^\s@<>]+@[^\s@<>]+$/, 'expected an address such as ada@example.com');
/** No line breaks or other control characters: a name stands in lists, mails and logs. */
const personName = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^\P{C}+$/u, 'expected a name without control characters');
const password = z.string().min(1).max(200);

export const signInBody = z.union([
  z.strictObject({ word: z.string().min(1).max(200).describe('Of a sign-in link, or the owner token') }),
  z.strictObject({
    email: z.string().min(1).max(254),
    password,
    code: z
      .string()
      .max(40)
      .optional()
      .describe('Of the authenticator, or a recovery code; needed where one is set up'),
  }),
]);

export const openedSessionBody = z
  .object({
    ok: z.boolean(),
    person: z.string().describe('Id of who is signed in now'),
    way: z.string().describe('link, password, provider, invitation or owner_token'),
  })
  .meta({ id: 'OpenedSession', ...OPEN });

export const signInWays = z
  .object({
    passwords: z.boolean().describe('Whether people sign in by address and password'),
    providers: z.array(
      z.object({
        name: z.string(),
        title: z.string().describe('Label of the button'),
        begin: z.string().describe('Page to open. `?to=/path` sets the page of the portal to open afterwards'),
      }),
    ),
  })
  .meta({ id: 'SignInWays', ...OPEN });

const identity = z
  .object({
    id: open(z.string()),
    provider: nullable(z.string()).describe('Name of the provider. Null if the deployment no longer has it'),
    issuer: open(z.string()),
    bound_at: time,
  })
  .meta({ id: 'ConnectedIdentity' });
export type IdentityShown = z.infer<typeof identity>;
export const identityList = pageOf(identity).meta({ id: 'ConnectedIdentityList' });
export const connectInput = z.strictObject({
  provider: z.string().min(1).max(100).describe('Its name'),
  current_password: password.optional().describe('Needed where there is one'),
  to: z.string().max(500).optional().describe('Page of the portal to open afterwards'),
});
export const connectBody = z
  .object({ location: open(z.string()).describe('Where the browser goes now') })
  .meta({ id: 'BegunConnection' });

export const ownerLinkInput = z.strictObject({
  email: email
    .optional()
    .describe('The owner to sign in. Defaults to the caller, and for the owner token to the first owner'),
});

const session = z
  .object({
    id: z.string(),
    person: z.string(),
    way: z.string(),
    current: z.boolean().describe('The one that asks'),
    created_at: time,
    used_at: time.describe('Last request, within a minute'),
    ends_at: time.describe('Latest end. The session ends earlier if it is not used'),
    address: z.string(),
    agent: z.string().describe('User agent of the browser'),
  })
  .meta({ id: 'PersonSession', ...OPEN });
export const sessionList = pageOf(session).meta({ id: 'PersonSessionList', ...OPEN });
export type SessionShown = z.infer<typeof session>;
export const endedBody = z.object({ ended: z.int() }).meta({ id: 'EndedSessions', ...OPEN });

export const meBody = z
  .object({
    actor,
    person: nullable(
      z.object({
        id: z.string(),
        name: z.string(),
        email: nullable(z.string()),
        unconfirmed_email: nullable(z.object({ address: z.string(), ends_at: time })).describe(
          'A new address that is not confirmed yet: its mailed link has not been opened',
        ),
        has_password: z.boolean(),
        totp: z.boolean(),
        recovery_codes_left: z.int(),
      }),
    ).describe('Null of the owner token and of service tokens'),
    owner: z.boolean().describe('Of the whole deployment'),
    permissions: z.array(z.string()).describe('In what belongs to no workspace'),
    workspaces: z.array(z.object({ workspace: z.string(), permissions: z.array(z.string()) })),
    roles_with: z
      .array(z.object({ permission: z.string(), roles: z.array(z.enum(ROLES)) }))
      .describe('Roles of a workspace per permission, to show whom to ask for an action'),
    session: nullable(session),
  })
  .meta({ id: 'Me', ...OPEN });
export type MeBody = z.infer<typeof meBody>;

export const profileInput = z.strictObject({
  name: personName.optional(),
  email: email.optional(),
  current_password: password.optional().describe('Needed for another address where there is a password'),
});
export const mailedLinkInput = z.strictObject({ word: z.string().min(1).max(200) });
export const openedLinkBody = z
  .object({
    purpose: z
      .enum(['address', 'unlock'])
      .describe('`address`: the address counts from now on. `unlock`: wrong codes of the second factor are forgotten'),
    email: z.string(),
  })
  .meta({ id: 'OpenedLink', ...OPEN });
export const confirmAddressInput = z.strictObject({
  email: email.describe('The `unconfirmed_email` that you mean: a newer one is refused'),
});
export const newPasswordInput = z.strictObject({
  password,
  current_password: password.optional().describe('Needed where there is one'),
});
export const factorProofInput = z.strictObject({
  current_password: password.optional().describe('Needed where there is one'),
});
export const totpBody = z
  .object({
    secret: z.string().describe('In base32, shown this once'),
    uri: z.string().describe('What a QR code holds'),
  })
  .meta({ id: 'NewAuthenticator', ...OPEN });
export const totpCodeInput = z.strictObject({ code: z.string().min(1).max(40) });
export const recoveryCodesBody = z
  .object({
    recovery_codes: z.array(z.string()).describe('Each signs in once without the authenticator; shown this once'),
  })
  .meta({ id: 'RecoveryCodes', ...OPEN });

const person = z
  .object({
    id: z.string(),
    name: z.string(),
    email: nullable(z.string()),
    unconfirmed_email: nullable(z.string()).describe(
      'A new address that is not confirmed yet: its mailed link has not been opened',
    ),
    state: z.enum(['active', 'disabled']),
    owner: z.boolean().describe('Of the whole deployment'),
    memberships: z.array(membership),
    has_password: z.boolean(),
    totp: z.boolean(),
    created_at: time,
  })
  .meta({ id: 'PersonAccount', ...OPEN });
export type PersonShown = z.infer<typeof person>;
export const personShown = person;
export const peopleList = pageOf(person).meta({ id: 'PeopleList', ...OPEN });
export const personInput = z.strictObject({
  name: personName.optional(),
  state: z.enum(['active', 'disabled']).optional(),
  owner: z.boolean().optional().describe('Of the whole deployment'),
});
export const goneBody = z.object({ removed: z.boolean() }).meta({ id: 'Gone', ...OPEN });

const member = z
  .object({
    person: z.string(),
    name: z.string(),
    email: nullable(z.string()),
    unconfirmed_email: nullable(z.string()).describe('A new address that does not count yet'),
    roles: z.array(z.enum(ROLES)),
  })
  .meta({ id: 'Member', ...OPEN });
export const memberShown = member;
export const memberList = pageOf(member).meta({ id: 'MemberList', ...OPEN });
export type MemberShown = z.infer<typeof member>;
export const memberInput = z.strictObject({ roles: z.array(z.enum(ROLES)).min(1).max(4) });

const invitation = z
  .object({
    id: z.string(),
    email: z.string(),
    owner: z.boolean(),
    memberships: z.array(membership),
    by: actor,
    created_at: time,
    ends_at: time,
    used: z.boolean(),
  })
  .meta({ id: 'Invitation', ...OPEN });
export const invitationShown = invitation;
export type InvitationShown = z.infer<typeof invitation>;
export const invitationList = pageOf(invitation).meta({ id: 'InvitationList', ...OPEN });
export const invitationInput = z.strictObject({
  email,
  memberships: z.array(membershipInput).max(200).default([]),
  owner: z.boolean().default(false).describe('Of the whole deployment'),
});
export const newInvitationBody = invitation
  .extend({
    word: z.string().describe('To be opened as <portal>/invitation#<word>, once and within 7 days; shown this once'),
    link: z
      .string()
      .describe(
        'The invitation as a link below `portal_url`, or below the requested address without `portal_url`. Shown once',
      ),
    mailed: z
      .enum(['sent', 'no_account', 'no_portal_url', 'failed'])
      .describe(
        'Whether the deployment’s email account accepted a mail with the link. Without `portal_url` no mail is sent',
      ),
  })
  .meta({ id: 'NewInvitation', ...OPEN });
export const invitationWordInput = z.strictObject({ word: z.string().min(1).max(200) });
export const promisedBody = z
  .object({
    email: z.string(),
    owner: z.boolean(),
    memberships: z.array(membership),
    ends_at: time,
    has_account: z
      .boolean()
      .describe('An account with this address exists. Its owner signs in and accepts without name and password'),
  })
  .meta({ id: 'PromisedByInvitation', ...OPEN });
export const acceptInput = z.strictObject({
  word: z.string().min(1).max(200),
  name: personName.optional().describe('Required if not signed in'),
  password: password.optional().describe('Required if not signed in. Refused if passwords are off'),
});

const token = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    workspaces: nullable(z.array(z.string())).describe('Null: all, and what belongs to none'),
    by: actor,
    created_at: time,
    expires_at: nullable(time),
    used_at: nullable(time).describe('Within a minute; null: never'),
    expired: z.boolean(),
  })
  .meta({ id: 'ServiceToken', ...OPEN });
export type TokenShown = z.infer<typeof token>;
export const tokenList = pageOf(token).meta({ id: 'ServiceTokenList', ...OPEN });
export const tokenInput = z.strictObject({
  name: personName,
  scopes: z.array(z.enum(SCOPES)).min(1).max(4),
  workspaces: z
    .array(z.string().min(1).max(100))
    .min(1)
    .max(200)
    .optional()
    .describe('Defaults to all workspaces and the deployment'),
  expires_in: z.string().max(40).optional().describe('A duration from now, such as 90d. Defaults to no expiry'),
});
export const newTokenBody = token
  .extend({ token: z.string().describe('What programs send as Authorization: Bearer; shown this once') })
  .meta({ id: 'NewServiceToken', ...OPEN });
