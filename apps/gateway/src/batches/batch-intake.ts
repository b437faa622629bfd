import { setImmediate as nextTurn } from 'node:timers/promises';
import { itemProblemOf, type BatchAnswer } from '@carillon/contracts';
import { CarillonError, ERRORS, isCarillonError, type Duration, type EventId } from '@carillon/kernel';
import { formatBytes } from '@carillon/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Admission } from '../admission.ts';
import type { Permit } from '../admission-control.ts';
import type { GatewaySettings } from '../config.ts';
import type { GatewayPorts } from '../ports.ts';
import { EVENTS } from '../events-path.ts';
import { prepareEvent, type ReceivedEvent } from '../prepare-event.ts';
import { receiveBody, type BodyReceiver } from '../request-body.ts';
import type { StreamRates } from '../stream-rates.ts';
import { appendInTime } from '../timed-append.ts';
import { createAppendGroups } from './append-groups.ts';
import type { BatchItem, ItemSplitter } from './batch-items.ts';

export const MAX_BATCH_ITEMS = 1000;
export const MAX_BATCH_BYTES = 5 * 1024 * 1024;
/** Items that are read before other requests get their turn. */
const ITEMS_PER_TURN = 50;

/** How the items of a batch are told apart and read. */
export type BatchForm = {
  readonly splitter: ItemSplitter;
  /** Whether items are lines, so that a problem can name its line. */
  readonly hasLines: boolean;
  /** Returns the event in an item. Throws its problem. */
  readonly read: (bytes: Uint8Array, number: number) => ReceivedEvent;
};

export type Batch = {
  readonly admission: Admission;
  readonly permit: Permit;
  readonly form: BatchForm;
};

type Parts = { readonly settings: GatewaySettings; readonly rates: StreamRates };
type Result = { readonly id: EventId } | { readonly error: CarillonError; readonly number: number };

/**
 * Appends the events of a request while they arrive, and sends a result for each: 202 if all are on the log, else 207. The admission
 * has counted the first event against the rates of the stream.
 */
export async function takeBatch(
  request: FastifyRequest,
  reply: FastifyReply,
  batch: Batch,
  ports: GatewayPorts,
  parts: Parts,
): Promise<FastifyReply> {
  const intake = openBatch(batch, ports, parts);
  const reading = { maxBytes: MAX_BATCH_BYTES, permit: batch.permit, response: reply.raw };
  const { batchDeadline } = parts.settings;
  const late = () => (intake.waitsForLog() ? slowLog(batchDeadline) : lateEvents(batchDeadline));
  const timer = setTimeout(() => intake.endReading(late()), batchDeadline);
  const fault = await receiveBody(request.raw, reading, intake.receiver)
    .finally(() => clearTimeout(timer))
    .then(() => intake.end())
    .then(() => null)
    .catch(faultOf);
  const results = await intake.close(fault);
  if (reply.sent) return reply;
  const failures = results.flatMap((result) => ('error' in result ? [result.error] : []));
  const refusal = failures.length === results.length ? refusalOf(failures, fault) : null;
  if (refusal) throw refusal;
  if (fault?.code === 'internal') throw fault;
  reportFailures(request, failures, ports);
  return sendResults(request, reply, results, batch.form);
}

const faultOf = (error: unknown): CarillonError =>
  isCarillonError(error)
    ? error
    : new CarillonError('internal', 'The server log has details under this request id.', {}, { cause: error });

/**
 * Returns the refusal of a whole batch, if nothing was appended and it may be sent again unchanged, or if it has no
 * items.
 */
const refusalOf = (failures: readonly CarillonError[], fault: CarillonError | null): CarillonError | null =>
  failures.find(isTransient) ?? (failures.length <= 1 ? fault : null);

const isTransient = ({ code }: CarillonError): boolean => ERRORS[code].status >= 500;

/** The server logs refusals of whole requests only. */
function reportFailures(
  { id, method }: FastifyRequest,
  failures: readonly CarillonError[],
  { telemetry, httpLog }: GatewayPorts,
): void {
  for (const { code } of failures) telemetry?.refused(code);
  const passing = failures.find(isTransient);
  if (!passing) return;
  const { code, cause } = passing;
  const facts = { request_id: id, method, route: EVENTS, code, ...(cause !== undefined && { error: cause }) };
  httpLog?.warn(facts, ERRORS[code].title);
}

function sendResults(
  request: FastifyRequest,
  reply: FastifyReply,
  results: readonly Result[],
  { hasLines }: BatchForm,
): FastifyReply {
  const items = results.map((result) =>
    'id' in result
      ? { id: result.id }
      : { problem: itemProblemOf(result.error, request.id, hasLines ? result.number : null) },
  );
  const waits = items.flatMap(({ problem }) => problem?.retry_after ?? []);
  if (waits.length > 0) reply.header('retry-after', String(waits.reduce((most, wait) => Math.max(most, wait))));
  return reply
    .code(items.some(({ problem }) => problem) ? 207 : 202)
    .header('cache-control', 'no-store')
    .send({ items } satisfies BatchAnswer);
}

/** Reads and appends the items of one batch. */
function openBatch({ admission, permit, form }: Batch, ports: GatewayPorts, { settings, rates }: Parts) {
  const { clock, log, telemetry } = ports;
  const { stream, principal } = admission;
  const results: Result[] = [];
  const unsettled = faultOf(new Error('An event of a batch has no result.'));
  /** Bytes of the body that are counted at the permit and belong to no append. */
  let bytes = 0;
  let users = 1;
  /** Number of the first item that was not read. */
  let next = 1;
  let ended = false;
  let closed = false;
  let endReading: (error: CarillonError) => void = () => undefined;

  function letGo(): void {
    users -= 1;
    if (users === 0) permit.release();
  }

  const groups = createAppendGroups(
    async (events) => {
      const appended = takeBytes();
      users += 1;
      const startedAt = clock.now();
      const settled = (): void => {
        permit.giveBack(appended);
        letGo();
      };
      await appendInTime(
        log,
        events.map(({ record }) => record),
        settings.appendDeadline,
        settled,
      );
      telemetry?.appended(clock.now() - startedAt);
      telemetry?.accepted(stream.path, events.length);
    },
    (error) => endReading(error),
  );

  function takeBytes(): number {
    const taken = bytes - form.splitter.held();
    bytes -= taken;
    return taken;
  }

  function takeItem(item: BatchItem): void {
    const at = results.length;
    next = item.number;
    if (at >= MAX_BATCH_ITEMS) throw tooManyItems();
    next = item.number + 1;
    results.push({ error: unsettled, number: item.number });
    const done = (result: EventId | CarillonError): void => {
      results[at] = typeof result === 'string' ? { id: result } : { error: result, number: item.number };
    };
    try {
      if (at > 0) rates.take(stream, principal, clock.now());
      if (item.bytes === null) throw itemTooLarge(settings.maxBodyBytes);
      groups.add({ ...prepareEvent(form.read(item.bytes, item.number), admission, ports), done });
    } catch (error) {
      if (!isCarillonError(error)) throw error;
      done(error);
    }
  }

  async function takeItems(items: Iterable<BatchItem>): Promise<void> {
    let left = ITEMS_PER_TURN;
    for (const item of items) {
      takeItem(item);
      left -= 1;
      if (left > 0) continue;
      await nextTurn();
      if (closed) return;
      left = ITEMS_PER_TURN;
    }
  }

  const receiver: BodyReceiver<null> = {
    begun(end) {
      endReading = end;
    },
    async take(chunk) {
      bytes += chunk.length;
      await takeItems(form.splitter.push(chunk));
      if (!closed) next = form.splitter.next();
      groups.flush();
      await groups.room();
    },
    whole: () => null,
  };
  return {
    receiver,
    waitsForLog: (): boolean => groups.isFull(),
    endReading: (error: CarillonError): void => endReading(error),
    async end(): Promise<void> {
      await takeItems(form.splitter.end());
      ended = true;
    },
    /**
     * Waits for the appends under way, then returns the results in order. If reading ended early, the last result says
     * why.
     */
    async close(fault: CarillonError | null): Promise<readonly Result[]> {
      closed = true;
      await groups.drain();
      letGo();
      if (fault !== null && !ended) results.push({ error: fault, number: next });
      return results;
    },
  };
}

const tooManyItems = (): CarillonError => {
  const limit = `${MAX_BATCH_ITEMS.toLocaleString('en')} events`;
  const detail = `A batch may have at most ${limit}. The events after that were not read. Send them in another request.`;
  return new CarillonError('body_too_large', detail, { limit });
};

const lateEvents = (span: Duration): CarillonError => {
  const limit = `${span / 1000} s`;
  const detail = `The events after that did not arrive within ${limit}. Send them again in a smaller batch.`;
  return new CarillonError('request_timeout', detail, { limit });
};

const slowLog = (span: Duration): CarillonError =>
  new CarillonError(
    'log_unavailable',
    `The log stored no more events within ${span / 1000} s. The later events were not read: send them again.`,
  );

function itemTooLarge(maxBytes: number): CarillonError {
  const limit = formatBytes(maxBytes);
  return new CarillonError(
    'body_too_large',
    `An event can have at most ${limit}. Send a reference to large content instead.`,
    {
      limit,
    },
  );
}
