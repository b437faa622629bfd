import type { VerifyRun } from '@carillon/domain/runs';
import { CarillonError } from '@carillon/kernel';
import { planVerification } from '@carillon/stages';
import { rangeOf } from './range.ts';
import type { AskedRun, PreparedRun, PrepareRunPorts } from './run-kind.ts';

/** Fields of a request that only comparisons have. */
const OF_COMPARISONS = ['after', 'before', 'drafts', 'folder', 'notifications'] as const;

/** Returns what a verification fixes when it starts. */
export async function prepareVerification(
  { asked, range }: AskedRun,
  { checkpoints, configuration, log }: PrepareRunPorts,
): Promise<PreparedRun<'verify'>> {
  const wrong = OF_COMPARISONS.find((name) => asked[name] !== undefined);
  if (wrong) {
    const detail = `${wrong}: a verification has no edit. Leave the field out, or compare`;
    throw new CarillonError('invalid_request', detail, { pointer: `/${wrong}` });
  }
  if (asked.text !== undefined) {
    throw new CarillonError('invalid_request', 'text: only a search (kind find) takes a text', { pointer: '/text' });
  }
  const whole = await rangeOf(log, range);
  const { offsets, ...own } = await planVerification(whole.offsets, range, { log, checkpoints });
  const records = offsets.reduce((sum, { first, end }) => sum + end - first, 0);
  return {
    range: { ...whole, offsets, records },
    published: (await configuration.refresh()).number,
    own: { ...own, counts: null } satisfies Partial<VerifyRun>,
    edit: [],
  };
}
