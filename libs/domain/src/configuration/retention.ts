import { parseDuration, type Duration } from '@carillon/kernel';
import { ALWAYS_KEPT, FOREVER, RETAINED, type Retained } from '@carillon/shapes/values';
import { deploymentRef, findResource, type Configuration } from './configuration.ts';

const retentionIn = (configuration: Configuration) =>
  findResource(configuration, 'deployment', deploymentRef.workspace, deploymentRef.name)?.body.retention ?? {};

/** Reads a value of `retention`. Null means forever. */
export function readRetention(text: string): Duration | null {
  const read = parseDuration(text);
  return text === FOREVER || !read.ok ? null : read.value;
}

/** Returns how long the audit is kept. Null: forever. */
export const auditKeptFor = (configuration: Configuration): Duration | null =>
  readRetention(retentionIn(configuration).audit ?? FOREVER);

/** Retention by topic, of the topics that `carillon.yaml` names. Null: forever. */
export type NamedRetention = { readonly [Name in Retained]?: Duration | null };

export function namedRetention(configuration: Configuration): NamedRetention {
  const body = retentionIn(configuration);
  return Object.fromEntries(
    RETAINED.flatMap((name) => {
      const text = body[name];
      return text === undefined ? [] : [[name, readRetention(text)]];
    }),
  );
}

/** Returns whether the topic of a key of `retention` always stays. */
export const isAlwaysKept = (key: string): boolean => ALWAYS_KEPT.some((name) => name === key);
