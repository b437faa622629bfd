import type { CheckBody } from '@carillon/contracts';
import { clean, paint, withTimes } from '../output.ts';

type Step = CheckBody['steps'][number];

export const showChecks = (body: CheckBody): string => body.steps.map(stepText).join('\n');

function stepText({ ok, step, detail, fix }: Step): string {
  const line = `${ok ? paint('green', 'ok  ') : paint('red', 'FAIL')}  ${clean(step)}: ${withTimes(clean(detail))}`;
  return fix ? `${line}\n${fixText(fix)}` : line;
}

/** SQL, a command or a line to copy, on lines of its own. */
export const fixText = (fix: string): string =>
  fix
    .split('\n')
    .map((line) => `        ${clean(line)}`)
    .join('\n');

export const failIfAny = (body: CheckBody): void => {
  if (body.steps.some((one) => !one.ok)) process.exitCode = 1;
};
