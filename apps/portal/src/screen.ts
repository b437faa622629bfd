import { createRootRoute, createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import type { LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';
import type { Permission } from './api/may.ts';
import { EVERY_WORKSPACE } from './frame/last-workspace.ts';

/** Keys that are pressed together or one after the other, and what they do. */
export type KeyLine = { readonly keys: readonly string[]; readonly what: string };
export type KeyGroup = { readonly title: string; readonly lines: readonly KeyLine[] };
export const keyLine = (what: string, ...keys: readonly string[]): KeyLine => ({ keys, what });

/** Groups of the navigation. A phone shows `main` as a bar and the other groups behind *More*. */
export type Place = {
  readonly in: 'main' | 'ask' | 'build' | 'deployment';
  readonly name: string;
  readonly icon: LucideIcon;
  /** Shortcut: the key after `g`. */
  readonly key?: string;
  /** Screens below its path do not mark it as the current one. */
  readonly isExact?: boolean;
};

/** An entry of the settings, in one of the groups of `screens/settings/groups.ts`. */
export type SettingsPlace = {
  readonly group: 'Identity & Authentication' | 'People and access' | 'You' | 'Deployment';
  readonly name: string;
  readonly note: string;
};

/** The permission without which a screen shows who has it, in place of its content (`IfAllowed`). */
export type ScreenPermission = {
  readonly needs: Permission;
  /** `workspace`: in the workspace of the address, or in any if the address names none. */
  readonly of: 'workspace' | 'deployment' | 'anywhere';
  /** Completes the sentence *You do not see …*. */
  readonly what: string;
};

/** A command of the palette that opens the screen. */
export type ScreenAction = {
  readonly name: string;
  readonly search?: Readonly<Record<string, string>>;
  /** Offered only while one workspace is open. */
  readonly isOfOne?: boolean;
};

/** What the portal knows about a screen besides its route. */
export type ScreenFacts = {
  readonly place?: Place;
  readonly settings?: SettingsPlace;
  readonly action?: ScreenAction;
  readonly permission?: ScreenPermission;
  /** Page of the documentation about the screen. Every address that the frame links exists: a test reads the pages. */
  readonly docs?: `/docs/${string}`;
  /** Single-letter keys of the screen, for the help behind `?`. */
  readonly keys?: readonly KeyGroup[];
  /** Shown without the frame, to people who are not signed in. */
  readonly isBare?: boolean;
};

declare module '@tanstack/react-router' {
  // An interface, since it extends one of the library.
  interface StaticDataRouteOption {
    readonly permission?: ScreenPermission | undefined;
  }
}

/** Parameters of the address. Of a repeated parameter the last value counts. */
export type Words = Readonly<Record<string, unknown>>;

/** Returns the named words that the address has. */
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

/** The root of all routes. `routes.tsx` adds the frame. */
export const rootRoute = createRootRoute();
export const under = { getParentRoute: () => rootRoute } as const;

/** A screen in a file of its own, which is loaded when the screen is opened. */
export const lazyScreen = (load: () => Promise<ComponentType>): ReturnType<typeof lazyRouteComponent> =>
  lazyRouteComponent(async () => ({ default: await load() }));

export type ScreenOptions<Path extends string, Search> = {
  readonly path: Path;
  /** Reads filters, tab and open row from the address. */
  readonly search?: (words: Words) => Search;
  readonly load: () => Promise<ComponentType>;
};

/** Declares a screen. `screens/list.ts` lists all of them. */
export function screen<const Path extends string, const Facts extends ScreenFacts, Search extends object = {}>({
  path,
  search,
  load,
  insteadOfAll,
  ...facts
}: ScreenOptions<Path, Search> & {
  /** Where the address of all workspaces leads, if the screen is of one workspace. */
  readonly insteadOfAll?: '/workspaces' | '/workspaces/$w/deliveries';
} & Facts) {
  const route = createRoute({
    ...under,
    path,
    validateSearch: search as (words: Words) => Search,
    beforeLoad: ({ params }): void => {
      const { w } = params as { readonly w?: string };
      if (insteadOfAll === undefined || w !== EVERY_WORKSPACE) return;
      redirect({ to: insteadOfAll, params: { w }, replace: true, throw: true });
    },
    component: lazyScreen(load),
    staticData: { permission: facts.permission },
  });
  return { ...facts, path, route };
}
