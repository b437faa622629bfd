import { DEFAULT_RUN_RANGE, MAX_RUN_ROWS, type VerifyRun } from '@carillon/domain/runs';
import { describeVerification, describeVerificationNotes } from '@carillon/insight';
import { prepareVerification } from '../../runs/prepare-verification.ts';
import { runKind, type ShownRun } from '../../runs/run-kind.ts';
import { writeRun } from '../../runs/write-run.ts';
import type { JobKindPorts } from '../kind.ts';

/** Evaluates past events again and compares the outputs with those on the log. */
export const verifyHistory = runKind({
  kind: 'verify',
  action: 'verify_history',
  noun: 'verification',
  defaultRange: DEFAULT_RUN_RANGE,
  prepare: prepareVerification,
  execute: verify,
  show: showVerification,
});

async function verify(run: VerifyRun, { runChild, runs }: JobKindPorts, stop: AbortSignal): Promise<void> {
  let number = 0;
  const result = await runChild?.execute<'verify'>(
    run,
    null,
    {
      async begin() {
        number = 0;
        await runs.removeRows(run.id);
      },
      progress: (progress, counts) => writeRun(run, runs, { progress, counts }),
      async findings(findings) {
        const fitting = findings.slice(0, Math.max(0, MAX_RUN_ROWS - number));
        await runs.addFindings(fitting.map((finding, index) => ({ ...finding, run: run.id, number: number + index })));
        number += findings.length;
      },
    },
    stop,
  );
  if (!result) throw new Error(`the verification ${run.id} ended without a result`);
  const { total } = run.progress;
  await writeRun(run, runs, { ...result, progress: { read: total, total } });
}

function showVerification(run: VerifyRun, isDone: boolean): ShownRun {
  const { counts } = run;
  return {
    verified: counts && {
      events: counts.events,
      same: counts.same,
      ...counts.problems,
      unknown_configuration: counts.unknownConfiguration,
      other_semantics: counts.otherSemantics,
      not_evaluated: counts.notEvaluated,
      unreadable: counts.unreadable,
      past_retention: counts.pastRetention,
      not_from_events: counts.notFromEvents,
      would_wait: counts.wouldWait ?? 0,
      cold: counts.cold ?? 0,
    },
    sentence: isDone ? describeVerification(run) : null,
    notes: [...describeVerificationNotes(run)],
  };
}
