import type { CheckBody } from '@carillon/contracts';
import { clean, paint } from '../output.ts';

export const showChecks = (body: CheckBody): string =>
  body.steps
    .map((one) => `${one.ok ? paint('green', 'ok  ') : paint('red', 'FAIL')}  ${clean(one.step)}: ${clean(one.detail)}`)
    .join('\n');

export const failIfAny = (body: CheckBody): void => {
  if (body.steps.some((one) => !one.ok)) process.exitCode = 1;
};
