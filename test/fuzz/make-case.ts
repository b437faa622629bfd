import { createDice, type Dice } from './dice.ts';
import type { FuzzCase, Kind } from './fuzz-case.ts';
import { callbackRequest } from './generators/callbacks.ts';
import { cohortRequest } from './generators/cohorts.ts';
import { credentialRequest } from './generators/credentials.ts';
import { expressionText, PLACES } from './generators/expressions.ts';
import { jsonBytes, mutateJson } from './generators/json-texts.ts';
import { mailConversation } from './generators/mails.ts';
import { managementRequest, type Operation } from './generators/management.ts';
import { eventRequest } from './generators/requests.ts';
import { makeTemplate } from './generators/templates.ts';
import { wireRequest } from './generators/wire.ts';
import { mutateFiles } from './generators/yaml-files.ts';
import { FULL_EVENT, fuzzedFiles } from './shop-files.ts';

/** How many of a hundred cases are of a kind: those without a process between are cheap and have most of them. */
export const SHARES: Readonly<Record<Kind, number>> = {
  json: 16,
  rules: 14,
  templates: 6,
  files: 10,
  events: 16,
  credentials: 10,
  cohorts: 6,
  callbacks: 4,
  mails: 4,
  management: 9,
  wire: 5,
};

/** Case `number` of a run with this seed; the same for the same kinds, whatever else has run. */
export function makeCase(
  seed: number,
  number: number,
  kinds: readonly Kind[],
  operations: readonly Operation[],
): FuzzCase {
  const dice = createDice(seed, number);
  const kind = dice.weighted(kinds.map((one) => [SHARES[one], one] as const));
  return ofKind(kind, dice, operations);
}

const eventText = (dice: Dice): string =>
  dice.chance(0.3) ? JSON.stringify(FULL_EVENT) : mutateJson(dice, FULL_EVENT);

function ofKind(kind: Kind, dice: Dice, operations: readonly Operation[]): FuzzCase {
  switch (kind) {
    case 'json':
      return { kind, body: jsonBytes(dice, FULL_EVENT) };
    case 'rules':
      return { kind, place: dice.pick(PLACES), source: expressionText(dice), event: eventText(dice) };
    case 'templates':
      return { kind, template: makeTemplate(dice), context: eventText(dice) };
    case 'files':
      return { kind, files: mutateFiles(dice, fuzzedFiles()) };
    case 'events':
      return { kind, to: 'gateway', request: eventRequest(dice), client: 'stays' };
    case 'credentials':
      return { kind, ...credentialRequest(dice), client: 'stays' };
    case 'cohorts':
      return { kind, to: 'gateway', request: cohortRequest(dice), client: 'stays' };
    case 'callbacks':
      return { kind, to: 'gateway', request: callbackRequest(dice), client: 'stays' };
    case 'mails':
      return { kind, to: 'bounces', request: mailConversation(dice), client: 'leaves' };
    case 'management':
      return { kind, to: 'control', request: managementRequest(dice, operations), client: 'stays' };
    case 'wire':
      return { kind, to: dice.chance(0.7) ? 'gateway' : 'control', request: wireRequest(dice), client: 'leaves' };
  }
}
