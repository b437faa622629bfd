import { checkStep, type Check } from '@carillon/control';
import type { NamedRetention } from '@carillon/domain/configuration';
import { CarillonError, formatInstant, type Duration, type Instant } from '@carillon/kernel';
import type { Clock } from '@carillon/ports';
import { pause } from '@carillon/runtime';
import { createCatchUp, READ_BEFORE_SENDING } from '@carillon/stages';
import type { Backend } from './backend.ts';
import { fingerprintFor, foreignKey, type Keys } from './deployment-keys.ts';
import { lagOf, positionBeyond, READERS } from './log-positions.ts';

/** Records behind which a group is worth a word. */
const MAX_LAG = 10_000;

/**
 * Checks of `doctor` besides the configuration. Each takes seconds at most, and none queries a dependency known to be
 * unavailable.
 */
export async function diagnose(
  backend: Backend,
  keys: Keys,
  clock: Clock,
  retention: NamedRetention = {},
): Promise<Check[]> {
  const checks = await backend.checks(retention);
  const isAway = (step: string): boolean => checks.some((one) => one.step === step && !one.ok);
  const isAnyAway = isAway('database') || isAway('Kafka');
  const [stored, lag, sending] = await Promise.all([
    isAway('database') ? [] : storedChecks(backend, keys, clock),
    isAnyAway ? [] : lagChecks(backend),
    isAnyAway ? [] : sendingChecks(backend),
  ]);
  const time: Check = { step: 'clock', ok: true, detail: `${formatInstant(clock.now())} (compare it with yours)` };
  return [...checks, ...stored, ...lag, ...sending, time];
}

/**
 * Milliseconds after which an open digest window counts as overdue. Windows normally close within a second of their
 * end.
 */
const WINDOWS_OVERDUE: Duration = 60_000;
const WINDOWS_COUNTED = 1_000;

/** Says of digests how many windows should have been sent by now, and since when. */
async function overdueWindows({ digestHeads }: Backend, now: Instant): Promise<string> {
  const next = await digestHeads.nextDueAt(Number.MAX_SAFE_INTEGER);
  if (next === null || next > now - WINDOWS_OVERDUE) return 'no window is overdue';
  let count = 0;
  for (const workspace of await digestHeads.dueWorkspaces(now - WINDOWS_OVERDUE)) {
    if (count >= WINDOWS_COUNTED) break;
    count += (await digestHeads.due(workspace, now - WINDOWS_OVERDUE, WINDOWS_COUNTED)).length;
  }
  const windows = count === 1 ? 'one window' : `${count >= WINDOWS_COUNTED ? 'at least ' : ''}${count} windows`;
  throw new Error(
    `${windows} of digests are overdue, the first since ${formatInstant(next)}: no delivery role runs, or the log of the delivery role has the error`,
  );
}

const storedChecks = (backend: Backend, keys: Keys, clock: Clock): Promise<readonly Check[]> =>
  Promise.all([
    checkStep('keys', async () => {
      const { keyFingerprint } = await backend.configurationStore.identity({
        logId: backend.log.logId,
        keyFingerprint: fingerprintFor(backend, keys),
      });
      const foreign = foreignKey(backend, keys, keyFingerprint);
      if (foreign !== null) throw new CarillonError('wrong_key', foreign);
      return 'are those of the stored data';
    }),
    checkStep('digests', () => overdueWindows(backend, clock.now())),
    checkStep('in doubt', async () => {
      const inDoubt = (await backend.ledger.countByState()).IN_DOUBT ?? 0;
      if (inDoubt === 0) return 'none';
      const waiting = inDoubt === 1 ? '1 delivery waits' : `${inDoubt} deliveries wait`;
      throw new Error(`${waiting} for a decision: npx carillon deliveries --state IN_DOUBT`);
    }),
  ]);

/** Time that unread records may stay at one position before sending starts. */
const STANDS: Duration = 1_000;

/**
 * Checks whether a starting delivery role still reads consents and reports, before which it sends nothing, and whether
 * this reading makes progress.
 */
const sendingChecks = async (backend: Backend): Promise<readonly Check[]> => [
  await checkStep('sending', async () => {
    // Records that arrive during the check do not count, because with a steady inflow some record is always unread.
    const said = await createCatchUp('delivery', READ_BEFORE_SENDING, backend);
    const before = await said.behind();
    if (before === 0) return 'is held back by nothing';
    await pause(STANDS);
    const left = await said.behind();
    if (left === 0) return 'no delivery is stuck';
    const what = `${left} records of ${READ_BEFORE_SENDING.join(' and ')} are unread`;
    if (left >= before)
      throw new Error(
        `${what}: a delivery role that starts now sends nothing until it has read them; its log has the cause`,
      );
    return `${what}, and are being read: a delivery role that started since sends when they are`;
  }),
];

const lagChecks = (backend: Backend): Promise<readonly Check[]> =>
  Promise.all(
    READERS.map(([group, topic]) =>
      checkStep(`${group} on ${topic}`, async () => {
        const beyond = await positionBeyond(backend, group, topic);
        if (beyond !== null) throw new CarillonError('wrong_log', beyond);
        const lag = await lagOf(backend, group, topic);
        if (lag > MAX_LAG) throw new Error(`${lag} records behind`);
        return `${lag} records behind`;
      }),
    ),
  );
