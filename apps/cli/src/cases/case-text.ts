import type { RuleTestBody } from '@carillon/contracts';
import { timelineLines } from '../commands/rule-timeline.ts';
import { clean, paint, table } from '../output.ts';
import { wrongFields, type Difference, type TimedMessage } from './compare-messages.ts';
import type { CaseResult } from './run-case.ts';

type Step = RuleTestBody['timeline'][number];

export const isFailed = ({ differences, fault }: CaseResult): boolean => differences.length > 0 || fault !== null;

/** A case for programs. */
export const caseJson = ({ file, ruleCase, differences, fault }: CaseResult) => ({
  file: file.file,
  line: ruleCase.place.line,
  rule: file.rule,
  name: ruleCase.name,
  passed: differences.length === 0 && fault === null,
  differences,
  fault,
});

export const caseTitle = ({ file, ruleCase }: CaseResult): string => `${file.file}: ${ruleCase.name}`;

/** Formats the fault of a case: expected and actual messages side by side, then the decisions behind the difference. */
export function failureText({ file, ruleCase, differences, timeline, fault }: CaseResult): string {
  if (fault !== null) return `${file.file}:${fault.line}:${fault.column}  ${clean(fault.message)}`;
  const place = `${file.file}:${ruleCase.place.line}:${ruleCase.place.column}`;
  return [place, ...differences.flatMap((difference) => differenceLines(difference, timeline))].join('\n');
}

function differenceLines(difference: Difference, timeline: readonly Step[]): readonly string[] {
  const { expected, actual } = difference;
  const isMoved = expected !== null && actual !== null && expected.at !== actual.at;
  const time = cellsOf(isMoved ? '≠ at' : 'at', expected?.at, actual?.at);
  const error = actual?.error === undefined ? [] : [cellsOf('≠ error', null, actual.error)];
  const rows = [time, ...fieldsOf(difference).map((name) => row(name, difference)), ...error];
  const steps = stepsBehind(difference, timeline);
  return [
    '',
    headOf(difference),
    ...table(rows, ['', 'expected', 'actual'])
      .split('\n')
      .map((line) => `  ${line}`),
    ...timelineLines(steps, () => []).map((line) => (line === '' ? line : `  ${line}`)),
  ];
}

function headOf({ expected, actual }: Difference): string {
  if (actual?.error !== undefined) return 'a message could not be rendered';
  if (expected === null) return 'a message that the case does not list';
  return actual === null ? 'a message is missing' : 'a message is not as expected';
}

/** Fields of the expected message. An unexpected message shows its recipient and text. */
const fieldsOf = ({ expected, actual }: Difference): readonly string[] =>
  expected === null
    ? Object.keys(actual?.fields ?? {}).filter((name) => SHOWN.has(name) && actual?.fields[name] !== null)
    : Object.keys(expected.fields);

const SHOWN: ReadonlySet<string> = new Set(['channel', 'email', 'phone', 'token', 'subject', 'title', 'body']);

function row(name: string, { expected, actual }: Difference): readonly string[] {
  const isWrong = expected !== null && actual !== null && wrongFields(expected, actual).includes(name);
  return cellsOf(`${isWrong ? '≠ ' : ''}${name}`, expected?.fields[name], actual?.fields[name]);
}

const NOTHING = '–';
const cellsOf = (name: string, expected: string | null | undefined, actual: string | null | undefined) => [
  name,
  expected ?? NOTHING,
  actual ?? NOTHING,
];

const instantOf = (message: TimedMessage | null): string => message?.at ?? '';

/** The step that made the actual message, or the newest step that decided something up to the expected one; with its event. */
function stepsBehind({ expected, actual }: Difference, timeline: readonly Step[]): readonly Step[] {
  const until = actual === null ? instantOf(expected) : instantOf(actual);
  const before = timeline.filter(({ at }) => at <= until);
  const decided = before.filter(({ decisions, fired, error }) => decisions.length > 0 || fired || error !== null);
  const last = actual === null ? (decided.at(-1) ?? before.at(-1)) : before.findLast(({ fired }) => fired);
  if (!last) return timeline.slice(0, 1);
  const source = last.kind === 'deadline' ? timeline.filter((step) => step !== last && step.event === last.event) : [];
  return [...source, last];
}

/** Returns one line per file whose cases all pass, and the failures. */
export function resultsText(results: readonly CaseResult[], took: string): string {
  const lines: string[] = [];
  for (const file of new Set(results.map((result) => result.file))) {
    const own = results.filter((result) => result.file === file);
    const failed = own.filter(isFailed);
    const count = failed.length === 0 ? caseCount(own.length) : `${failed.length} of ${caseCount(own.length)} failed`;
    lines.push(
      `${failed.length === 0 ? paint('green', 'ok  ') : paint('red', 'FAIL')}  ${file.file}  ${file.rule}  ${count}`,
    );
    for (const result of failed) lines.push('', paint('bold', clean(result.ruleCase.name)), failureText(result), '');
  }
  const failures = results.filter(isFailed).length;
  const summary =
    failures === 0 ? `${caseCount(results.length)} passed` : `${failures} of ${caseCount(results.length)} failed`;
  return [...lines, '', `${summary} in ${took}`].join('\n');
}

const caseCount = (count: number): string => `${count} ${count === 1 ? 'case' : 'cases'}`;
