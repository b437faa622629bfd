import { z } from 'zod';
import type { BodyFinding } from '../body-finding.ts';
import type { Of } from '../body-of.ts';
import { keys, said } from '../shape-parts.ts';

type SecretReference = { readonly secret: string };

/**
 * Role of an integration. `partner`: Carillon calls it to look people up. `cohort_webhook`: it sends messages about
 * cohorts. `cohort_api`: Carillon polls it for cohorts. `database`: Carillon reads its tables, and makes events of
 * their changes. `topics`: Carillon reads its topics, and makes events of their records.
 */
export type IntegrationRole = 'partner' | 'cohort_webhook' | 'cohort_api' | 'database' | 'topics';

/**
 * Group of each integration role: partners name recipients, cohort platforms supply cohorts, and streams read sources.
 */
export const INTEGRATION_GROUPS = {
  partner: 'partner',
  cohort_webhook: 'cohorts',
  cohort_api: 'cohorts',
  database: 'source',
  topics: 'source',
} as const satisfies Readonly<Record<IntegrationRole, string>>;

type Definition<
  Kind extends string,
  Role extends IntegrationRole,
  State extends string,
  Keys extends z.core.$ZodLooseShape,
  Body,
> = {
  readonly kind: Kind;
  readonly role: Role;
  /** Name of the kind in the portal. */
  readonly title: string;
  /** One sentence below the name, in the portal. */
  readonly summary: string;
  /** One sentence for the reference. */
  readonly description: string;
  /** Text in the portal: what the user has to enter at the other system. Null if nothing. */
  readonly setup: string | null;
  /** Text in the portal about the check. */
  readonly checkNote: string;
  /** States of its calls. Left out if Carillon calls nothing. */
  readonly states?: readonly State[];
  /** All keys of an integration but `kind`. A key with `form` is a field of the portal's form. */
  readonly keys: Keys;
  /** Returns the secrets of its calls and proofs, in the order in which they are tried. */
  secrets(body: Body): readonly SecretReference[];
  /** True if many messages name nobody by user id, so that this is no mistake. */
  readonly omitsUserIds?: boolean;
  /** Returns the mistakes that the shape cannot express. */
  check?(body: Body): readonly BodyFinding[];
};

type Shape<Kind extends string, Keys extends z.core.$ZodLooseShape> = z.ZodObject<
  { kind: z.ZodLiteral<Kind> } & Keys,
  z.core.$strict
>;

/** Defines a kind of integration: all of it that needs neither network nor clock. */
export function defineIntegration<
  const Kind extends string,
  const Role extends IntegrationRole,
  Keys extends z.core.$ZodLooseShape,
  const State extends string = never,
>(definition: Definition<Kind, Role, State, Keys, Of<Shape<Kind, Keys>>>) {
  const kind = said(z.literal(definition.kind), { description: definition.description });
  return {
    ...definition,
    states: definition.states ?? [],
    shape: keys({ kind, ...definition.keys }) as Shape<Kind, Keys>,
  };
}

/** An integration kind whose functions are typed for a body of any kind. Callers must pass bodies of the same kind. */
export type Integration<Body> = Omit<
  Definition<string, IntegrationRole, string, z.core.$ZodLooseShape, Body>,
  'states'
> & { readonly states: readonly string[] };

type Authorization = { readonly key: SecretReference; readonly second_key?: SecretReference };

/** Returns the keys of an `authorization` in the order in which they are tried. */
export const authorizationKeys = ({
  authorization: { key, second_key: second },
}: {
  readonly authorization: Authorization;
}): readonly SecretReference[] => (second === undefined ? [key] : [key, second]);
