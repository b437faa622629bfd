import { untilFound } from '@carillon/testing';
import { expect, it } from 'vitest';
import { onMongo, onSqlite } from '../bench/backing.ts';
import { startSendingDelivery, type SendingOptions } from '../bench/sending-delivery.ts';
import { describeWith } from '../support/requirements.ts';

const ROLES = 4;
const MESSAGES = 1000;
const MOST = 10;
const TAKES = 600_000;
const SAID = `Of ${MESSAGES} messages to one person under a limit of ${MOST}, over ${ROLES} roles at once, exactly ${MOST} are sent`;

async function exactlyTen(backing: NonNullable<SendingOptions['backing']>): Promise<void> {
  const limits = [{ max: MOST, per: '1d', then: 'drop' as const }];
  const options = { cadence: { limits }, people: 1, roles: ROLES, backing };
  const delivery = await startSendingDelivery({ main: async () => undefined }, options);
  try {
    await delivery.intend('main', MESSAGES);
    const ended = async (): Promise<object | undefined> => {
      const states = await delivery.states();
      return (states.SENT ?? 0) + (states.SUPPRESSED ?? 0) === MESSAGES ? states : undefined;
    };
    expect(await untilFound('all are told or left out', ended, TAKES)).toMatchObject({
      SENT: MOST,
      SUPPRESSED: MESSAGES - MOST,
    });
    expect([delivery.accepted('main'), delivery.twice()]).toEqual([MOST, 0]);
  } finally {
    await delivery.close();
  }
}

it(`${SAID}: the embedded stores`, () => exactlyTen(onSqlite), TAKES);
describeWith('mongodb', `${SAID}:`, () => {
  it('stores over the protocol of MongoDB', () => exactlyTen(onMongo), TAKES);
});
