import { readReceiptToken } from '@carillon/domain/receipts';
import { CarillonError, messageOf } from '@carillon/kernel';
import type { BounceListener, BounceSettings, MailReading } from '@carillon/ports';
import type { ReadinessCheck } from '@carillon/runtime';
import { receiptRecord } from '@carillon/stages';
import type { GatewaySettings } from './config.ts';
import type { GatewayPorts } from './ports.ts';
import { appendInTime } from './timed-append.ts';

const UNKNOWN =
  'Whether it is on the log is unknown. The mail server brings it again: what is reported twice counts once.';

export type BounceIntake = {
  /** Shown, but it decides nothing: events are taken without it. */
  check(): ReadinessCheck;
  close(): Promise<void>;
};

/**
 * Takes mail that comes back to the addresses of our own attempts (docs/internals/evidence.md). A report is on the log before
 * the mail is answered; mail that is none is counted and dropped, and nothing is ever answered to it.
 */
export async function startBounceIntake(
  where: BounceSettings,
  ports: GatewayPorts,
  { appendDeadline }: GatewaySettings,
): Promise<BounceIntake> {
  const { bounceMail, clock, ids, log, telemetry } = ports;
  const isToken = (localPart: string): boolean =>
    readReceiptToken(localPart, (...parts) => ids.keyed(...parts)) !== null;

  async function take(reading: MailReading): Promise<void> {
    if (reading.kind === 'report') {
      // No account proves the report. The sender only proves to have received or relayed the message.
      const record = receiptRecord(reading.report, null, clock.now(), ports);
      await appendInTime(log, [record], appendDeadline, () => undefined, UNKNOWN);
    }
    telemetry?.returned(reading.kind);
  }

  const refused = (reason: 'recipient' | 'too_large' | 'unavailable'): void => telemetry?.returned(reason);
  const listener: BounceListener = await bounceMail
    .listen({ ...where, isToken, take, refused })
    .catch((error: unknown) => {
      throw notListening(where, error);
    });
  return {
    check: () => ({
      name: 'bounces',
      ok: listener.listening(),
      detail: `${where.protocol.toUpperCase()} on ${where.host}:${listener.port}`,
      decides: false,
    }),
    close: () => listener.close(),
  };
}

function notListening({ host, port }: BounceSettings, error: unknown): CarillonError {
  const { code } = error as NodeJS.ErrnoException;
  const detail = `The bounce listener cannot have ${host}:${port} (bounces.listen or CARILLON_BOUNCES_LISTEN): ${messageOf(error)}`;
  return new CarillonError(code === 'EADDRINUSE' ? 'port_in_use' : 'wrong_usage', detail, {}, { cause: error });
}
