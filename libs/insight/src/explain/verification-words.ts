import { MAX_RUN_ROWS, type VerifyCounts, type VerifyRun } from '@carillon/domain/runs';
import { formatInstant } from '@carillon/kernel';
import { counted, rangeText } from './run-range.ts';

type Described = Pick<VerifyRun, 'from' | 'to' | 'createdAt' | 'counts'>;

const problemsOf = ({ problems }: VerifyCounts): number => problems.missing + problems.no_cause + problems.different;

/** Returns the result of a verification as one text, or null before the first report. */
export function describeVerification(run: Described): string | null {
  const { counts } = run;
  if (!counts) return null;
  const { events, problems, same } = counts;
  const range = `${rangeText(run)}, ${counted(events, 'event')}`;
  const outputs = counted(same, 'output');
  if (events === 0 && problemsOf(counts) === 0) {
    const reasons = leftOutOf(counts);
    return `Nothing could be verified: ${reasons.length === 0 ? 'the time range has no events' : reasons.join('; ')}.`;
  }
  if (problemsOf(counts) === 0)
    return `${range} evaluated again ${events === 1 ? 'gives' : 'give'} what the log has: ${outputs}.`;
  const found = [
    problems.missing > 0
      ? `${counted(problems.missing, 'output')} ${problems.missing === 1 ? 'is' : 'are'} missing`
      : '',
    problems.no_cause > 0 ? `${problems.no_cause} ${problems.no_cause === 1 ? 'has' : 'have'} no cause` : '',
    problems.different > 0 ? `${problems.different} ${problems.different === 1 ? 'differs' : 'differ'}` : '',
  ].filter((text) => text !== '');
  return `${range} evaluated again ${events === 1 ? 'does' : 'do'} not give what the log has: ${found.join(', ')}. ${outputs} ${same === 1 ? 'is' : 'are'} the same.`;
}

/** Returns a text for each reason why events are not evaluated or outputs are not compared. */
function leftOutOf(counts: VerifyCounts): readonly string[] {
  const texts: string[] = [];
  const add = (count: number, noun: string, ...[one, many, rest]: readonly [string, string, string]): void => {
    if (count > 0) texts.push(`${counted(count, noun)} ${count === 1 ? one : many} ${rest}`);
  };
  add(counts.notEvaluated, 'record', 'was', 'were', 'not evaluated by the engine when the run began');
  add(counts.unknownConfiguration, 'event', 'precedes', 'precede', 'the first marker, so the configuration is unknown');
  add(counts.otherSemantics, 'event', 'was', 'were', 'perhaps evaluated by a release with other semantics');
  add(counts.unreadable, 'event', 'is', 'are', 'unreadable or among the dead letters');
  add(counts.pastRetention, 'comparison', 'needs', 'need', 'records that retention has removed');
  add(counts.wouldWait ?? 0, 'wait', 'lasts', 'last', 'beyond the verified records');
  add(counts.cold ?? 0, 'output', 'is', 'are', 'uncertain, because earlier events of the same entity were not read');
  return texts;
}

/** Returns sentences about everything that a verification leaves out. */
export function describeVerificationNotes({
  counts,
  logStartsAt,
}: Pick<VerifyRun, 'counts' | 'logStartsAt'>): readonly string[] {
  const notes =
    logStartsAt === null ? [] : [`The log starts at ${formatInstant(logStartsAt)}. Earlier events are not verified.`];
  if (!counts) return notes;
  notes.push(...leftOutOf(counts).map((text) => `${text}.`));
  const { notFromEvents } = counts;
  if (notFromEvents > 0) {
    const verb = notFromEvents === 1 ? 'comes' : 'come';
    notes.push(`${counted(notFromEvents, 'output')} ${verb} from test sends or sending jobs.`);
  }
  const problems = problemsOf(counts);
  if (problems > MAX_RUN_ROWS)
    notes.push(
      `The list has the first ${MAX_RUN_ROWS} of ${problems} findings. Verify a shorter time to see the rest.`,
    );
  return notes;
}
