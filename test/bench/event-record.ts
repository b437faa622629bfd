import type { EventStream } from '@carillon/domain/configuration';
import type { Ids, NewRecord } from '@carillon/ports';
import { prepareAppend } from '@carillon/stages';
import type { OrderEvent } from './corpus.ts';

/** An event of the corpus as the gateway puts it on the log. */
export function eventRecord(event: OrderEvent, stream: EventStream, partitions: number, ids: Ids): NewRecord {
  const request = {
    stream,
    bytes: Buffer.from(JSON.stringify(event)),
    // These streams read nothing of it.
    body: {},
    principal: 'api_key:backend',
    identity: ['http', event.id] as const,
    traceparent: null,
  };
  const prepared = prepareAppend(request, { ids, now: Date.now(), partitions });
  if (!prepared.ok) throw prepared.error;
  return prepared.value.record;
}
