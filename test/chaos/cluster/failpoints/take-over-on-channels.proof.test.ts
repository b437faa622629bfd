import { startClusterServices } from '@carillon/testing/cluster';
import { expect, it } from 'vitest';
import { describeWith } from '../../../support/requirements.ts';
import type { FailpointCase } from '../../failpoints/cases.ts';
import type { LabOptions, LabReport } from '../../failpoints/laboratory.ts';
import { runFailpoints } from '../../failpoints/run.ts';
import { CRASH_BUGS } from '../../../harness/planted-bugs/crash-bugs.ts';
import { plantedLine } from '../../../harness/planting.ts';
import { openClusterPatient } from './patient.ts';

const TAKES = 900_000;
/** Longer than the lease of a message (30 s) and the session of a consumer (10 s). */
const HELD = 35_000;

/** With the lease in hand and before it looks at the time; then the request would go out. */
const WITH_ITS_LEASE: readonly FailpointCase[] = [
  { at: 'delivery.sending.after', action: 'stop', channel: 'sms' },
  { at: 'delivery.sending.after', action: 'stop', channel: 'push' },
];
/** Right before the request, and with the provider's answer in hand: nobody else can say what came of it. */
const NEAR_THE_REQUEST: readonly FailpointCase[] = [
  { at: 'provider.send.before', action: 'stop', channel: 'sms' },
  { at: 'delivery.sent.before', action: 'stop', channel: 'push' },
];

/** Each run has a broker of its own: a log holds the life of one product. */
async function held(
  cases: readonly FailpointCase[],
  options: Pick<LabOptions, 'inDoubt' | 'bugs'>,
): Promise<LabReport> {
  const services = await startClusterServices();
  try {
    return await runFailpoints({
      open: openClusterPatient({ services, database: 'take-over', twins: true }),
      cases,
      lanes: 1,
      held: HELD,
      waitsForLeases: true,
      ...options,
    });
  } finally {
    await services.stop();
  }
}

const told = ({ ends }: LabReport): readonly (readonly [boolean, string, number])[] =>
  ends.map(({ reached, state, messages }) => [reached, state, messages]);

describeWith(
  ['kafka', 'mongodb', 'registry'],
  'Of two that deliver SMS and push messages one is held past its lease:',
  () => {
    it(
      'the other process sends the begun message, and the paused one sends nothing when it resumes',
      async () => {
        const report = await held(WITH_ITS_LEASE, { inDoubt: 'resend' });
        expect(report.findings, report.stderr).toEqual([]);
        expect(told(report)).toEqual([
          [true, 'SENT accepted', 1],
          [true, 'SENT accepted', 1],
        ]);
      },
      TAKES,
    );

    it(
      'the same test finds a process that does not check the time when it resumes',
      async () => {
        const report = await held(WITH_ITS_LEASE.slice(0, 1), {
          inDoubt: 'resend',
          bugs: CRASH_BUGS.sentAfterItsLease.changes,
        });
        expect(report.stderr).toContain(plantedLine(CRASH_BUGS.sentAfterItsLease.changes[0]));
        expect(report.findings.map(({ kind }) => kind)).toContain('twice');
      },
      TAKES,
    );

    it(
      'with in_doubt hold the other process leaves the message in doubt, and the resumed one reports the answer it had',
      async () => {
        const report = await held(NEAR_THE_REQUEST, {});
        expect(report.findings, report.stderr).toEqual([]);
        expect(told(report)).toEqual([
          [true, 'SENT accepted', 1],
          [true, 'SENT accepted', 1],
        ]);
      },
      TAKES,
    );
  },
);
