import requestQueueClass from 'kafkajs/src/network/requestQueue/index.js';

type RequestQueue = { readonly pending: readonly unknown[]; scheduleCheckPendingRequests(): void };

let quiet = false;

/**
 * Replaces a timer of kafkajs 2.2.4 that fires every millisecond forever: an idle connection wakes the process 700
 * times a second, and Node 24 warns of negative timeouts. The timer is only needed while a request is queued, so it is
 * only set then. Patches once per process; changes no file.
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
