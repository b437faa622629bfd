import type { DeliveryLedger } from '@carillon/ports';
import type { publishOutcomes } from '@carillon/stages';

type Ports = Parameters<typeof publishOutcomes>[1];

/** What telling of moves takes, over a log of lines: `told`, the delivery, the id of the outcome, and a full stop. */
export function tellingOn(ledger: DeliveryLedger, line: (text: string) => void): Ports {
  const ports: Pick<Ports, 'ledger'> & {
    readonly log: Pick<Ports['log'], 'append' | 'partitions'>;
    readonly codecs: { readonly outcome: Pick<Ports['codecs']['outcome'], 'encode'> };
    readonly ids: Pick<Ports['ids'], 'keyed'>;
  } = {
    ledger,
    log: {
      partitions: () => 1,
      async append(records) {
        for (const { value } of records) line(new TextDecoder().decode(value));
        return records.map(() => 0);
      },
    },
    codecs: { outcome: { encode: ({ id, deliveryId }) => new TextEncoder().encode(`told ${deliveryId} ${id} .`) } },
    ids: { keyed: () => 'key' },
  };
  return ports as Ports;
}
