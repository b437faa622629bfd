import type { Json } from '@carillon/kernel';
import { amplitudePayload, mixpanelPayload, segmentIdentify, segmentTrack } from '@carillon/testing/given';
import type { Dice } from '../dice.ts';
import { COHORT_SECRET } from '../shop-files.ts';
import { jsonBytes } from './json-texts.ts';
import { mediaType, mostly, oddHeaders, oddMethod, pathPart, requestText, type Header } from './requests.ts';
import { hostileText } from './texts.ts';

const people = (dice: Dice): string[] =>
  Array.from({ length: dice.pick([0, 1, 3, 30]) }, () =>
    dice.chance(0.1) ? hostileText(dice).slice(0, 500) : `user-${dice.between(1, 200)}`,
  );

type Sent = { readonly name: string; readonly payload: object };

function payloadOf(dice: Dice): Sent {
  const ids = people(dice);
  const inside = dice.chance(0.5);
  switch (dice.between(0, 3)) {
    case 0: {
      const action = dice.pick(['members', 'add_members', 'remove_members'] as const);
      const paging = { page: dice.between(-1, 3), of: dice.between(0, 3), session: `s-${dice.between(1, 5)}` };
      return { name: 'mixpanel', payload: mixpanelPayload(action, ids, paging) };
    }
    case 1:
      return { name: 'amplitude', payload: amplitudePayload(inside, ids) };
    case 2: {
      const calls = ids.map((id) => (dice.chance(0.5) ? segmentTrack(inside, id) : segmentIdentify(inside, id)));
      return { name: 'segment', payload: calls.length === 1 ? (calls[0] ?? {}) : calls };
    }
    default:
      return {
        name: 'feed',
        payload: {
          cohort: dice.pick(['vip', 'beta']),
          action: dice.pick(['add', 'remove', 'replace']),
          user_ids: ids,
          ...(dice.chance(0.4) && { page: dice.between(0, 3), pages: dice.between(1, 3), session: 'x' }),
        },
      };
  }
}

/** What analytics platforms send about cohorts, with slips. `{hmac}` becomes the signature of the body. */
export function cohortRequest(dice: Dice): string {
  const { name, payload } = payloadOf(dice);
  const asJson = payload as Json;
  const body = dice.chance(0.15) ? JSON.stringify(payload) : jsonBytes(dice, asJson);
  const ascii = body.replaceAll(/[\ud800-\udfff\u0100-\uffff]/g, '?');
  const basic = Buffer.from(`carillon:${COHORT_SECRET}`).toString('base64');
  const shown: Header =
    name === 'segment'
      ? ['x-signature', mostly(dice, '{hmac}', ['', 'x', 'A'.repeat(40), '{hmac}00'])]
      : ['authorization', mostly(dice, `Basic ${basic}`, ['{cohort}', 'Basic', 'Basic ====', 'Basic Og=='])];
  const target = mostly(
    dice,
    `/cohorts/shop/${name}`,
    ['/cohorts/shop/crm', '/cohorts/lab/feed', `/cohorts/shop/${pathPart(dice)}`, '/cohorts/shop', '/cohorts//feed'],
    0.08,
  );
  return requestText(oddMethod(dice, 'POST'), target, [shown, mediaType(dice), ...oddHeaders(dice)], ascii);
}
