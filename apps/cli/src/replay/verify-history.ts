import { createHash } from 'node:crypto';
import type { RunResult } from '@carillon/control';
import { NO_VERIFY_COUNTS, ROW_BATCH_SIZE, type Finding } from '@carillon/domain/runs';
import type { ChildReports } from './protocol.ts';
import { copyOutputs } from './verify-copy.ts';
import { nameRest, verifyAnswers } from './verify-answers.ts';
import { verifyEvents } from './verify-events.ts';
import type { VerifyParts, VerifyState } from './verify-parts.ts';

const REPORT_EVERY_MS = 1_000;

const PHASES = { copy: copyOutputs, events: verifyEvents, answers: verifyAnswers, rest: nameRest } as const;
const ORDER = ['copy', 'events', 'answers', 'rest'] as const satisfies readonly (keyof typeof PHASES)[];

/**
 * Evaluates each event of a run by the newest marker before it, with all rules, and sends the outputs that differ from those on the
 * log. Continues from the checkpoint of the scratch file.
 */
export async function verifyHistory(parts: VerifyParts, reports: ChildReports<'verify'>): Promise<RunResult<'verify'>> {
  const { run, scratch } = parts;
  let state = scratch.checkpoint === null ? newState(parts) : (JSON.parse(scratch.checkpoint) as VerifyState);
  let reportedAt = performance.now();
  const report = ({ read, copied, counts }: VerifyState): void => {
    reportedAt = performance.now();
    reports.progress({ read, total: run.progress.total }, counts, copied);
  };
  report(state);
  const commit = (page: Omit<Parameters<typeof scratch.commit>[0], 'checkpoint'>, next: VerifyState): VerifyState => {
    scratch.commit({ ...page, checkpoint: JSON.stringify(next) });
    if (performance.now() - reportedAt >= REPORT_EVERY_MS) report(next);
    return next;
  };
  for (const phase of ORDER.slice(ORDER.indexOf(state.phase))) {
    if (phase !== state.phase)
      state = commit({}, { ...state, phase, at: { index: 0, next: null }, mark: null, pass: null });
    state = await PHASES[phase](parts, state, commit);
  }
  report(state);
  await sendFindings(parts, reports);
  return { counts: state.counts, checksum: checksumOf(parts) };
}

const newState = ({ run }: Pick<VerifyParts, 'run'>): VerifyState => ({
  phase: 'copy',
  at: { index: 0, next: null },
  mark: null,
  pass: null,
  gaps: [],
  read: 0,
  copied: 0,
  removedUntil: {},
  counts: { ...NO_VERIFY_COUNTS, notEvaluated: run.notEvaluated },
});

/** Sends the findings. */
async function sendFindings({ scratch }: VerifyParts, reports: ChildReports<'verify'>): Promise<void> {
  let batch: Finding[] = [];
  for (const finding of scratch.findings()) {
    batch.push(finding);
    if (batch.length < ROW_BATCH_SIZE) continue;
    await reports.findings(batch);
    batch = [];
  }
  if (batch.length > 0) await reports.findings(batch);
}

/** Fields of a finding that the checksum covers. Positions are left out, because the same events have others on another backend. */
const CHECKSUM_FIELDS = ['problem', 'output', 'id', 'field', 'eventId'] as const satisfies readonly (keyof Finding)[];

/** The scratch file sorts the findings, because a million of them do not fit into the memory of this process. */
function checksumOf({ scratch }: VerifyParts): string {
  const hash = createHash('sha256');
  for (const finding of scratch.findings(CHECKSUM_FIELDS)) {
    hash.update(`${JSON.stringify(CHECKSUM_FIELDS.map((field) => finding[field]))}\n`);
  }
  return hash.digest('hex');
}
