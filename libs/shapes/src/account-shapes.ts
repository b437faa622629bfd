import { z } from 'zod';
import { PROVIDERS } from './providers/index.ts';

type Shapes<Providers extends readonly Readonly<Record<Name, z.ZodType>>[], Name extends string> = {
  -readonly [Index in keyof Providers]: Providers[Index][Name];
};
type Kinds = typeof PROVIDERS;

export const accountShape = z.discriminatedUnion('kind', PROVIDERS.map(({ shape }) => shape) as Shapes<Kinds, 'shape'>);

export const namedAccountShape = z.discriminatedUnion(
  'kind',
  PROVIDERS.map(({ namedShape }) => namedShape) as Shapes<Kinds, 'namedShape'>,
);

/** One account, or several in order of priority. */
export const accountsShape = z.union([
  accountShape,
  z.array(namedAccountShape).min(1, { error: 'at least one account' }),
]);
