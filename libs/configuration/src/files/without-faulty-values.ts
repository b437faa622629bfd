import type { z } from 'zod';
import { isGroup, type ValuePath } from '../value-path.ts';
import { parseAsWritten } from './read-file.ts';
import type { YamlSource } from './yaml-source.ts';

/** Stands for what is missing or wrong, where the rest cannot be looked at without it. */
const STAND_INS: Readonly<Record<string, unknown>> = {
  channels: {},
  rules: {},
  recipients: { from: 'event', to: {} },
  to: {},
  security: {},
  subject: 'any',
};

/**
 * Maximum rounds. Each round repairs what the previous round revealed, and mistakes are seldom nested deeper than a few
 * levels.
 */
const MAX_ROUNDS = 12;

/**
 * Returns the value of a file without its mistakes of shape, so that the rest can be checked and all mistakes are
 * reported at once. Undefined if nothing useful remains.
 */
export function withoutFaultyValues<Body>(
  shape: z.ZodType<Body>,
  value: unknown,
  source: Pick<YamlSource, 'plainText'>,
): Body | undefined {
  if (!isGroup(value)) return undefined;
  const rest = structuredClone(value);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const parsed = parseAsWritten(shape, rest, source);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) mend(rest, issue);
  }
  return undefined;
}

function mend(rest: Record<string, unknown>, issue: z.core.$ZodIssue): void {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) takeOut(rest, [...path, key]);
  } else if (path.length > 0) takeOut(rest, path);
}

/** Takes out what is at the path, of a list all of it; where nothing is, something else is put there, or its parent goes. */
function takeOut(rest: Record<string, unknown>, path: ValuePath): void {
  let at = rest;
  for (const [depth, step] of path.entries()) {
    const name = String(step);
    const item = at[name];
    if (depth < path.length - 1 && isGroup(item)) {
      at = item;
      continue;
    }
    if (Object.hasOwn(at, name)) delete at[name];
    else if (Object.hasOwn(STAND_INS, name)) at[name] = structuredClone(STAND_INS[name]);
    else if (depth > 0) takeOut(rest, path.slice(0, depth));
    return;
  }
}
