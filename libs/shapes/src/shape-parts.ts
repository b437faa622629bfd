import { parseDuration } from '@carillon/kernel';
import { z } from 'zod';
import { CALENDAR_PERIODS } from './values.ts';

/** Building blocks of the shapes of files. Messages of formats say what is expected. */

type Words = {
  readonly description: string;
  /** The value that counts where the key is left out. */
  readonly default?: unknown;
  /** Default as text, if the default is no fixed value. */
  readonly otherwise?: string;
  readonly example?: unknown;
  /** How the portal's form asks for the key. A key without it is set in files and through the API only. */
  readonly form?: FormField;
};

/** A field of a form in the portal. Its path and kind follow from the shape. */
export type FormField = {
  readonly label: string;
  /** Text below the field. */
  readonly note?: string;
  /** Defaults to the example of the key. */
  readonly placeholder?: string;
  /** Stands below "More settings". */
  readonly isRare?: boolean;
  /** End of the name that a new secret gets, such as `KEY` of `CRM_KEY`. */
  readonly ending?: string;
  /** The value of the secret has several lines. */
  readonly isLong?: boolean;
  /** Carillon makes the value of the secret, and the user pastes it at the other side. */
  readonly isOurs?: boolean;
  /** Labels of the values to choose from. The empty value leaves the key out. */
  readonly options?: Readonly<Record<string, string>>;
};

export const said = <Schema extends z.ZodType>(schema: Schema, { example, ...words }: Words): Schema =>
  schema.meta({ ...words, ...(example !== undefined && { examples: [example] }) });

/** An object that takes these keys and no others; the message carries the known keys for did-you-mean. */
export const keys = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? Object.keys(shape).join(' ') : undefined),
  });

export const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
export const SLUG_WORDS = 'a name of a-z, 0-9 and - (at most 63, no - at the ends)';
export const slug = z.string().regex(SLUG, { error: SLUG_WORDS }).meta({ kind: 'name' });

/** Leaves that hold CEL. They may be written as `true` or `5`; as the body of a resource they are text. */
const expressionLeaves = new WeakSet<object>();
export const expression = () => {
  const leaf = z
    .union([z.string().trim().min(1).max(4096), z.boolean(), z.number()], { error: 'an expression (CEL)' })
    .transform(String)
    .meta({ kind: 'expression' });
  // Stored by definition, because `meta` copies schemas and the copies share it.
  expressionLeaves.add(leaf.def);
  return leaf;
};
export const isExpressionLeaf = (schema: z.core.$ZodType): boolean =>
  schema instanceof z.ZodType && expressionLeaves.has(schema.def);

export const duration = z
  .string()
  .refine((text) => parseDuration(text).ok, { error: 'a duration such as 30s, 30m, 2h, 1d or 1w' })
  .meta({ kind: 'duration' });
export const text = (max: number) =>
  z
    .string()
    .min(1, { error: 'text' })
    .max(max, { error: `at most ${max} characters` });
const SENDER = /^(?:[^<>\r\n]*<[^<>\s@]+@[^<>\s@]+>|[^<>\s@]+@[^<>\s@]+)$/;
export const sender = z
  .string()
  .regex(SENDER, { error: 'an address, or a name and an address: Shop <shop@example.com>' });

export const secret = keys({
  secret: said(z.string().regex(/^[A-Z][A-Z0-9_]{0,127}$/, { error: 'the name of a secret, such as SMTP_PASSWORD' }), {
    description: 'Name of the secret: a variable that the workspace reads, else what `carillon secret set` stored.',
    example: 'SMTP_PASSWORD',
  }),
});

/** An address that we connect to, without a credential in it. */
export const url = z
  .string()
  .max(2000, { error: 'at most 2000 characters' })
  .regex(/^https?:\/\/[^\s#]+$/i, { error: 'an address such as https://crm.example.com/recipients' })
  .refine((address) => URL.canParse(address), { error: 'an address such as https://crm.example.com/recipients' })
  .refine((address) => !/^https?:\/\/[^/?#]*@/i.test(address), {
    error: 'an address without user and password: the key belongs under authorization',
  });

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const isPublic = (address: string): boolean => {
  const { protocol, hostname, username, password, search, hash } = new URL(address);
  const bare = username === '' && password === '' && search === '' && hash === '';
  return bare && !/[?#@]/.test(address) && (protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname)));
};

/**
 * Schema of the deployment's public URL, under which recipients and providers reach Carillon. Providers sign this URL,
 * and messages link to it, so plain http is only allowed on a loopback address.
 */
export const publicUrl = z
  .string()
  .max(500, { error: 'at most 500 characters' })
  .refine((address) => URL.canParse(address) && isPublic(address), {
    error:
      'an https address such as https://notify.example.com, without user, query and fragment (http only on 127.0.0.1)',
  });

/**
 * The public URL of pages, which must be at the root, because the cookies of pages below a path would reach other
 * applications on the host.
 */
export const publicOrigin = publicUrl.refine((address) => !URL.canParse(address) || new URL(address).pathname === '/', {
  error: 'an address without a path, such as https://carillon.example.com',
});

const spanOf = (written: string): number => {
  const read = parseDuration(written);
  return read.ok ? read.value : Number.NaN;
};

export const between = (least: string, most: string) =>
  duration.refine((written) => !(spanOf(written) < spanOf(least) || spanOf(written) > spanOf(most)), {
    error: `a duration from ${least} to ${most}`,
  });

/** A window of time: a duration, or a period of the calendar such as `calendar day`. */
export const windowBetween = (least: string, most: string) =>
  z
    .string()
    .refine(
      (written) =>
        (spanOf(written) >= spanOf(least) && spanOf(written) <= spanOf(most)) ||
        CALENDAR_PERIODS.some((period) => written === `calendar ${period}`),
      { error: `a duration from ${least} to ${most}, or calendar day, calendar week or calendar month` },
    );
