import type { DeliveryBody } from '@carillon/contracts';
import type { AcceptedMail } from '@carillon/testing';
import { describe, expect, it } from 'vitest';
import { endedDeliveries, maxInDoubt, missingOrders, readDeliveries, readReached } from './missing-messages.ts';

const JOB = 'job_1';
const orders = missingOrders(0, 2);
const [first = '', second = ''] = orders.map(({ email }) => email);
const delivery = (to: string, state: string, duplicateOf: string | null = null): DeliveryBody =>
  ({ to, state, duplicate_of: duplicateOf, sent_by: { job: JOB } }) as DeliveryBody;
const mail = (to: string): AcceptedMail => ({ connection: 1, from: '', to: [to], raw: '' });
const reached = (deliveries: readonly DeliveryBody[], mails: readonly string[]) =>
  readReached(orders, endedDeliveries(orders, deliveries) ?? new Map(), mails.map(mail), [JOB]);

describe('endedDeliveries', () => {
  it('waits for a second delivery to an address', () => {
    const deliveries = [delivery(second, 'SENT'), delivery(first, 'WAITING'), delivery(first, 'SENT')];
    expect(endedDeliveries(orders, deliveries)).toBeUndefined();
  });

  it('waits for the delivery that a duplicate names', () => {
    const deliveries = [delivery(second, 'SENT'), delivery(first, 'WAITING'), delivery(first, 'SUPPRESSED', 'dlv_1')];
    expect(endedDeliveries(orders, deliveries)).toBeUndefined();
  });
});

describe('readReached', () => {
  it('finds nothing wrong with one delivery and one message each', () => {
    const deliveries = [delivery(first, 'SENT'), delivery(first, 'SUPPRESSED', 'dlv_1'), delivery(second, 'IN_DOUBT')];
    expect(reached(deliveries, [first])).toEqual({ twice: [], notOne: [], lost: [], inDoubt: 1, notByJobs: [] });
  });

  it('names an address with two deliveries, even if one message came', () => {
    const deliveries = [delivery(first, 'SENT'), delivery(first, 'IN_DOUBT'), delivery(second, 'SENT')];
    expect(reached(deliveries, [first, second])).toMatchObject({ twice: [], notOne: [first] });
  });

  it('names an address whose only delivery reached nobody', () => {
    expect(reached([delivery(first, 'FAILED'), delivery(second, 'SENT')], [second])).toMatchObject({
      notOne: [first],
      lost: [first],
    });
  });
});

describe('readDeliveries', () => {
  it('reads all pages', async () => {
    const paths: string[] = [];
    const found = await readDeliveries(async (path) => {
      paths.push(path);
      return { items: [delivery(first, 'SENT')], next: paths.length < 3 ? 'a b' : null };
    });
    expect([found.length, paths.length, paths.at(-1)]).toEqual([3, 3, expect.stringContaining('cursor=a%20b')]);
  });
});

describe('maxInDoubt', () => {
  it('is less than all messages, however many kills there are', () => {
    expect([maxInDoubt(100, 12), maxInDoubt(1, 100), maxInDoubt(0, 100)]).toEqual([6, 6, 0]);
  });
});
