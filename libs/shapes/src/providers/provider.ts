import { z } from 'zod';
import type { BodyFinding } from '../body-finding.ts';
import type { Of } from '../body-of.ts';
import { keys, said, slug } from '../shape-parts.ts';
import type { CHANNEL_NAMES } from '../values.ts';

type ChannelName = (typeof CHANNEL_NAMES)[number];
type SecretReference = { readonly secret: string };

/** Who calls `/receipts/<kind>/<workspace>/<account>`. */
export type Reporter = {
  readonly kind: string;
  /** The secret that proves the call. Null if the reader needs none. */
  readonly secret: SecretReference | null;
};

type Definition<Kind extends string, Source extends string, Keys extends z.core.$ZodLooseShape, Account> = {
  readonly kind: Kind;
  /** Name of the kind in the portal. */
  readonly title: string;
  /** One sentence below the name, in the portal. */
  readonly summary: string;
  /** One sentence for the reference. */
  readonly description: string;
  readonly channels: readonly ChannelName[];
  /** All keys of an account but `kind`. A key with `form` is a field of the portal's form. */
  readonly keys: Keys;
  /** Keys of a new account in the portal. */
  readonly initial?: object;
  /** Returns the number of calls at the same time, per process. */
  concurrency(account: Account): number;
  /** Returns the secrets that sending needs. */
  sendingSecrets(account: Account): readonly SecretReference[];
  /** `source` of the receipts that its reporters send. */
  readonly receiptSources?: readonly Source[];
  /** Returns who reports on messages of an account, or null. Left out if the provider reports nothing by HTTP. */
  reporter?(account: Account): Reporter | null;
  /** Returns the mistakes that the shape cannot express. */
  check?(account: Account): readonly BodyFinding[];
};

const name = said(slug, { description: 'Name of the account in traces, alerts and `account check`.', example: 'main' });

type Shape<Kind extends string, Keys extends z.core.$ZodLooseShape> = z.ZodObject<
  { kind: z.ZodLiteral<Kind> } & Keys,
  z.core.$strict
>;

/** Defines a kind of provider account: all of it that needs neither network nor clock. `libs/adapters/providers/<kind>` sends. */
export function defineProvider<
  const Kind extends string,
  Keys extends z.core.$ZodLooseShape,
  const Source extends string = never,
>(definition: Definition<Kind, Source, Keys, Of<Shape<Kind, Keys>>>) {
  const kind = said(z.literal(definition.kind), { description: definition.description });
  return {
    ...definition,
    receiptSources: definition.receiptSources ?? [],
    shape: keys({ kind, ...definition.keys }) as Shape<Kind, Keys>,
    /** The shape of an account in a list, where each has a name. */
    namedShape: keys({ name, kind, ...definition.keys }) as Shape<Kind, Keys & { name: typeof name }>,
  };
}

/** A provider whose functions take an account of any kind. Callers pass accounts of its own kind only. */
export type Provider<Account> = Omit<Definition<string, string, z.core.$ZodLooseShape, Account>, 'receiptSources'> & {
  readonly receiptSources: readonly string[];
};
