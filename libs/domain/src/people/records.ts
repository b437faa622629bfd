import type { Instant } from '@carillon/kernel';
import { canonicalEmail } from '../channels/email.ts';
import type { Actor } from './actor.ts';

/** Roles in a workspace. The management API defines their permissions. */
export const ROLES = ['owner', 'editor', 'operator', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/** A role of a person in a workspace. Several roles of a person add up. */
export type Membership = { readonly workspace: string; readonly role: Role };

/** Somebody who may sign in. */
export type Person = {
  readonly name: string;
  /** Address as the person wrote it. Null for a person who came by an owner link and has set none. */
  readonly email: string | null;
  /** A disabled person stays in records and lists, and cannot sign in. */
  readonly state: 'active' | 'disabled';
  readonly memberships: readonly Membership[];
  /** In PHC form: algorithm, costs, salt and hash. Null: signs in by links or an identity provider alone. */
  readonly password: { readonly hash: string; readonly setAt: Instant } | null;
  /** Codes by time (RFC 6238). Its secret is sealed; it counts once a first code confirmed it. */
  readonly totp: {
    readonly sealed: string;
    readonly confirmedAt: Instant | null;
    /** Number of the newest interval whose code was used: no code counts twice. */
    readonly lastStep: number;
  } | null;
  /** Digests of recovery codes that nobody used yet. */
  readonly recoveryCodes: readonly string[];
  /** Sessions of another epoch have ended: a new password begins the next one. */
  readonly epoch: number;
  readonly createdAt: Instant;
  /**
   * Keyed hashes of the networks from which the person signed in before, newest last. Undefined if no network is known.
   */
  readonly places?: readonly string[];
  /** Steps of the guide that the person reached, each once. Undefined before the first. */
  readonly guide?: readonly GuideStepReached[];
};

/** A step of the guide, with the seconds and clicks that the person needed to reach it. */
export type GuideStepReached = { readonly step: string; readonly seconds: number; readonly clicks: number };

/** The name of a person at an identity provider. Its id is made of issuer and subject, so that it belongs to one person. */
export type Identity = {
  readonly issuer: string;
  readonly subject: string;
  readonly personId: string;
  readonly boundAt: Instant;
  /** Roles that groups of the provider gave, and the person had not before: they go when the group goes. */
  readonly granted: readonly Membership[];
  /** Whether a group made the person an owner of the deployment. */
  readonly grantedOwner: boolean;
};

/** Ways in which a person was verified when a session was opened. */
export const SIGN_IN_WAYS = ['link', 'password', 'provider', 'invitation', 'owner_token'] as const;
export type SignInWay = (typeof SIGN_IN_WAYS)[number];

/** A signed-in browser. Its word is kept as a digest alone. */
export type Session = {
  readonly personId: string;
  /** The epoch of the person in which it was opened. */
  readonly epoch: number;
  readonly way: SignInWay;
  readonly createdAt: Instant;
  /** Last request, within a minute. */
  readonly usedAt: Instant;
  /** Address and browser at the opening of the session, if known. */
  readonly from: { readonly address: string; readonly agent: string };
};

/** Grants of an invitation link, for the first person who opens it. */
export type Invitation = {
  readonly email: string;
  readonly memberships: readonly Membership[];
  /** Whether it makes an owner of the deployment. */
  readonly owner: boolean;
  readonly by: Actor;
  readonly createdAt: Instant;
  /** Person who used the invitation. Null while it is unused. */
  readonly usedBy: string | null;
};

/** Scopes of a service token, named like the permissions. */
export const TOKEN_SCOPES = ['read', 'configure', 'operate', 'people'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** A credential of a program. Its word is kept as a digest alone. */
export type ServiceToken = {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /** Null: everywhere, and what belongs to no workspace too. */
  readonly workspaces: readonly string[] | null;
  readonly by: Actor;
  readonly createdAt: Instant;
  readonly expiresAt: Instant | null;
  /** Within a minute; null: never used. */
  readonly usedAt: Instant | null;
};

/** Owners of the deployment in one record, so that two owners who leave at once cannot both succeed. */
export type Roster = {
  readonly owners: readonly string[];
  /** The link that signs in as an owner: one at a time. */
  readonly link: {
    /** Digest of its word. */
    readonly digest: string;
    readonly endsAt: Instant;
    /** Person whom the link signs in. Null: the first owner, who is created if there is none. */
    readonly personId: string | null;
  } | null;
};

/** Wrong words at the sign-in that count together. */
export type Guesses = { readonly count: number; readonly since: Instant };

/** A link that was mailed to a person. It proves that they read the mail of an address. Its word is kept as a digest alone. */
export type MailedLink = {
  /** `address`: makes `email` the address of the person. `unlock`: forgets wrong codes of the second factor. */
  readonly purpose: 'address' | 'unlock';
  readonly personId: string;
  /** The address it was mailed to. */
  readonly email: string;
  readonly createdAt: Instant;
};

/** Stored records about people, by kind. */
export type PeopleBodies = {
  readonly person: Person;
  readonly identity: Identity;
  readonly session: Session;
  readonly invitation: Invitation;
  readonly token: ServiceToken;
  readonly roster: Roster;
  readonly guesses: Guesses;
  readonly mailed_link: MailedLink;
};
export const PEOPLE_KINDS = [
  'person',
  'identity',
  'session',
  'invitation',
  'token',
  'roster',
  'guesses',
  'mailed_link',
] as const satisfies readonly (keyof PeopleBodies)[];
export type PeopleKind = (typeof PEOPLE_KINDS)[number];

/** One record about people, always written as a whole document. */
export type PeopleRecord<Kind extends PeopleKind = PeopleKind> = {
  readonly kind: Kind;
  readonly id: string;
  /** 1 for a new one; one more with each write. */
  readonly version: number;
  /** Unique key besides the id, within its kind: an address, or the digest of a token. */
  readonly key: string | null;
  /** The person to whom it belongs: it goes when the person goes. */
  readonly of: string | null;
  /** Time after which anyone may remove the record. Null: never. */
  readonly endsAt: Instant | null;
  readonly body: PeopleBodies[Kind];
};

/** Id of the only roster. */
export const ROSTER_ID = 'roster';
/** Normalizes text for comparison: case, surrounding spaces and other forms of a letter make no difference. */
export const asRead = (text: string): string => text.trim().normalize('NFKC').toLowerCase();

/** Returns the key by which the address of a person is found: its canonical form, or the text if it is no address. */
export const emailKey = (email: string): string => canonicalEmail(email) ?? asRead(email);
