import { findResource, listResources, type Configuration } from '../configuration/configuration.ts';

/** A category of a workspace: notifications that people opt out of together. */
export type Category = {
  readonly name: string;
  /** For people. */
  readonly title: string;
  readonly description: string | null;
  /** Former names of the category. Opt-outs under these still apply. */
  readonly was: readonly string[];
};

/** `order-updates` as people read it. */
const titleOf = (slug: string): string => {
  const words = slug.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Returns the category with this current or former name. An unknown category gets the name as its title. */
export function categoryOf(configuration: Configuration, workspace: string, name: string): Category {
  const categories = findResource(configuration, 'workspace', workspace, '')?.body.categories ?? {};
  const known = Object.entries(categories);
  const [now, body] = known.find(([own]) => own === name) ??
    known.find(([, { was = [] }]) => was.includes(name)) ?? [name, {}];
  return { name: now, title: body.name ?? titleOf(now), description: body.description ?? null, was: body.was ?? [] };
}

/** All names under which people may have opted out of a category. */
export const namesOfCategory = ({ name, was }: Category): readonly string[] => [name, ...was];

/** Categories that notifications of the workspace name. */
export const categoriesUsed = (configuration: Configuration, workspace: string): readonly string[] => [
  ...new Set(listResources(configuration, 'notification', workspace).flatMap(({ body }) => body.category ?? [])),
];
