import type { Finding } from '../harness/promises.ts';
import type { EmailTemplate } from '@carillon/domain/configuration';
import type { ExpressionPlace } from '@carillon/domain/rules';

export const KINDS = [
  'json',
  'rules',
  'templates',
  'files',
  'events',
  'credentials',
  'cohorts',
  'callbacks',
  'mails',
  'management',
  'wire',
] as const;
export type Kind = (typeof KINDS)[number];

/**
 * Bytes for a connection, one character for each (latin-1). In the head stand placeholders for what is known only while
 * the product runs: see `fillIn` in running-shop.ts.
 */
export type RequestCase = {
  readonly kind: 'events' | 'credentials' | 'cohorts' | 'callbacks' | 'mails' | 'management' | 'wire';
  /** `bounces`: the listener for mail that comes back. */
  readonly to: 'gateway' | 'control' | 'bounces';
  readonly request: string;
  /** `stays`: one answer has to come. `leaves`: the client ends its side after a while; the server has to end its own. */
  readonly client: 'stays' | 'leaves';
};

/** A body as the readers of events and partner answers get it, one character for each byte. */
export type JsonCase = { readonly kind: 'json'; readonly body: string };
export type RuleCase = {
  readonly kind: 'rules';
  readonly place: ExpressionPlace;
  readonly source: string;
  /** JSON text that the expression is evaluated on. */
  readonly event: string;
};
export type TemplateCase = {
  readonly kind: 'templates';
  readonly template: EmailTemplate;
  readonly context: string;
};
export type FilesCase = { readonly kind: 'files'; readonly files: Readonly<Record<string, string>> };

/** One piece of hostile input. It can be written to a file and done again. */
export type FuzzCase = RequestCase | JsonCase | RuleCase | TemplateCase | FilesCase;

/** A case that went wrong, and how. */
export type Failure = Finding & { readonly number: number | null; readonly input: FuzzCase };
