import { err } from '@carillon/kernel';
import type { AddressGuard } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { createTopicSources } from '../src/index.ts';

describe('the error about a Kafka broker whose address the guard refuses', () => {
  const check = async (broker: string, reason: 'refused_address' | 'unresolved'): Promise<unknown> => {
    const guard: AddressGuard = { resolve: () => Promise.resolve(err({ reason, detail: '' })) };
    const target = { workspace: 'shop', integration: 'bus', brokers: [broker], tls: null, sasl: null };
    return (await createTopicSources({ guard }).check(target, [])).problems;
  };

  it('names the line of the configuration that allows the address', async () => {
    expect(await check('10.1.2.3:9092', 'refused_address')).toEqual([
      { reason: 'refused_address', detail: '10.1.2.3:9092', fix: 'allowed_private_addresses: ["10.1.2.3"]' },
    ]);
    expect(await check('localhost:9092', 'unresolved')).toEqual([
      { reason: 'refused_address', detail: 'localhost:9092', fix: 'allowed_private_addresses: ["127.0.0.1", "::1"]' },
    ]);
    expect(await check('kafka:9092', 'unresolved')).toEqual([
      {
        reason: 'refused_address',
        detail: expect.stringMatching(/^kafka:9092: the host name has no address, or an address that is not/) as string,
        fix: 'allowed_private_addresses: ["ADDRESS"]',
      },
    ]);
  });
});
