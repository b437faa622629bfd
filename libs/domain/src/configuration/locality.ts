import { DEFAULT_LOCALITY, isLocale, isTimeZone, type Json, type JsonObject, type Locality } from '@carillon/kernel';
import { findResource, type Configuration } from './configuration.ts';

/** The reserved variables: those of the recipient, by which templates and quiet hours read times. */
export const LOCALITY_VARIABLES = ['time_zone', 'locale'] as const;
export type LocalityVariable = (typeof LOCALITY_VARIABLES)[number];

/** A reserved variable that names nothing that exists, so that the workspace's counts. */
export type WrongLocality = {
  readonly variable: LocalityVariable;
  /** Value in the data, truncated because data may contain anything. */
  readonly value: string;
  readonly used: string;
};

export type FoundLocality = { readonly locality: Locality; readonly wrong: readonly WrongLocality[] };

const SHOWN = 40;

/** Returns the locale and time zone of a recipient: their own if valid, else those of the workspace. */
export function localityOf(configuration: Configuration, workspace: string, variables: JsonObject): FoundLocality {
  const body = findResource(configuration, 'workspace', workspace, '')?.body;
  const zone = choose('time_zone', variables, isTimeZone, body?.time_zone ?? DEFAULT_LOCALITY.timeZone);
  const tag = choose('locale', variables, isLocale, body?.locale ?? DEFAULT_LOCALITY.locale);
  return {
    locality: { timeZone: zone.used, locale: tag.used },
    wrong: [zone.wrong, tag.wrong].filter((one) => one !== null),
  };
}

function choose(
  variable: LocalityVariable,
  variables: JsonObject,
  exists: (name: string) => boolean,
  otherwise: string,
): { readonly used: string; readonly wrong: WrongLocality | null } {
  const own: Json | undefined = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
  if (own === undefined || own === null) return { used: otherwise, wrong: null };
  if (typeof own === 'string' && exists(own)) return { used: own, wrong: null };
  const value = typeof own === 'string' ? own : `a ${Array.isArray(own) ? 'list' : typeof own}`;
  return { used: otherwise, wrong: { variable, value: value.slice(0, SHOWN), used: otherwise } };
}

/** `time_zone "Mars/Base" of the recipient names none: Europe/Berlin counts`. */
export const wrongLocalityText = ({ variable, value, used }: WrongLocality): string =>
  `${variable} ${JSON.stringify(value)} of the recipient names none that exists: ${used} counts instead`;
