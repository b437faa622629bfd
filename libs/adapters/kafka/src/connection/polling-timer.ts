import requestQueueClass from 'kafkajs/src/network/requestQueue/index.js';

type RequestQueue = { readonly pending: readonly unknown[]; scheduleCheckPendingRequests(): void };

let quiet = false;

/**
 * kafkajs 2.2.4 sets a timer of one millisecond after practically every answer, which sets itself again for ever: an idle
 * connection wakes the process 700 times a second and Node 24 warns of negative time-outs. The timer is needed only
 * while a request waits for its turn, so here it is set only then. Done once per process; changes no file.
 */
export function quietenPollingTimer(): void {
  if (quiet) return;
  quiet = true;
  const { prototype } = requestQueueClass as { readonly prototype: RequestQueue };
  // oxlint-disable-next-line typescript/unbound-method -- called below with the queue it was taken from
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function scheduleWhenWaiting(this: RequestQueue): void {
    if (this.pending.length > 0) schedule.call(this);
  };
}
