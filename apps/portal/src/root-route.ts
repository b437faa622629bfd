import { createRootRoute } from '@tanstack/react-router';
import { Frame } from './frame/frame.tsx';
import { Unknown } from './screens/start/unknown.tsx';
import { Failed } from './ui/part.tsx';

/** What stands around every screen. */
export const rootRoute = createRootRoute({ component: Frame, notFoundComponent: Unknown, errorComponent: Failed });

/** For a screen right below it. */
export const under = { getParentRoute: () => rootRoute } as const;

/** Words of the address: text, always; of a word that stands there twice the last one counts. */
export type Words = Readonly<Record<string, unknown>>;

/** Those of these words that stand in the address. */
export function textOf<Name extends string>(
  words: Words,
  ...names: readonly Name[]
): { readonly [Key in Name]?: string } {
  const found = names.flatMap((name) => {
    const word = words[name];
    return typeof word === 'string' && word !== '' ? [[name, word]] : [];
  });
  return Object.fromEntries(found) as { readonly [Key in Name]?: string };
}
